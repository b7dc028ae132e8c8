"""What is looked up when it is asked for, and the page of it all."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

import opencode_web
from opencode_web.site.metrics.counts import FAMILIES
from opencode_web.site.metrics.exposition import MEDIA_TYPE, Family, exposition
from sessions.changes.upkeep.usage import measure, stores
from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, PermissionRequest, QuestionRequest, Session

TURNS = Family(
    "opencode_web_turns", "gauge", "Sessions with a turn that runs, requests and prompts that wait."
)
DATABASE = Family(
    "opencode_web_database_round_trip_seconds", "gauge", "From asking the database to its answer."
)
DISK = Family(
    "opencode_web_disk_bytes", "gauge", "What is kept: the stores of undo, copies, a database file."
)
FREE = Family("opencode_web_disk_free_bytes", "gauge", "Room on the disk of the data folder.")
INFO = Family("opencode_web_info", "gauge", "The version, as a label.")
MEMORY = Family("process_resident_memory_bytes", "gauge", "Resident memory of this process.")
PROCESSOR = Family("process_cpu_seconds_total", "counter", "Processor time of this process.")
FILES = Family("process_open_fds", "gauge", "Files and connections that it has open.")
STARTED = Family("process_start_time_seconds", "gauge", "When it began, in Unix time.")
LOOKED_UP = (TURNS, DATABASE, DISK, FREE, INFO, MEMORY, PROCESSOR, FILES, STARTED)

DISK_SECONDS = 60.0
"""How long what the disk was found to hold is not looked up anew: it is walked over."""
_measured = -DISK_SECONDS


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """Raises Http404 where metrics are not wanted."""
    if not settings.METRICS:
        raise Http404(gettext("OPENCODE_WEB_METRICS is not set."))
    began = time.perf_counter()
    await in_db(_ask)
    DATABASE.put(time.perf_counter() - began)
    await in_db(_look_at_rows)
    await asyncio.to_thread(_look_at_machine)
    return HttpResponse(exposition([*FAMILIES, *LOOKED_UP]), content_type=MEDIA_TYPE)


def _ask() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _look_at_rows() -> None:
    waiting = {
        "permission": PermissionRequest.objects.filter(state="pending"),
        "question": QuestionRequest.objects.filter(state="pending"),
        "prompt": AdmittedPrompt.objects.all(),
    }
    TURNS.put(Session.objects.filter(lease_owner__gt="").count(), state="running")
    for kind, rows in waiting.items():
        TURNS.put(rows.count(), state=f"waiting_{kind}")


def _look_at_machine() -> None:
    import psutil  # 20 ms of every start, which most servers never need

    global _measured
    if time.monotonic() - _measured > DISK_SECONDS:
        _measured = time.monotonic()
        DISK.put(sum(measure(store).size for store in stores()), kind="stores")
        DISK.put(_size(Path(settings.COPY_DIR).rglob("*")), kind="copies")
        if connection.vendor == "sqlite":
            DISK.put(_size(Path(settings.DATA_DIR).glob("db.sqlite3*")), kind="database")
    FREE.put(shutil.disk_usage(settings.DATA_DIR).free)
    INFO.put(1, version=opencode_web.__version__)
    process = psutil.Process()
    with process.oneshot():
        times = process.cpu_times()
        MEMORY.put(process.memory_info().rss)
        PROCESSOR.put(times.user + times.system)
        STARTED.put(process.create_time())
    FILES.put(process.num_fds())


def _size(files: Iterable[Path]) -> int:
    """Bytes of those that are still there."""
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.stat().st_size
    return size
