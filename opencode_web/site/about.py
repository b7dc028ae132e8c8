"""The page about this program: what it is made of under which licences, its places, log and health."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_POST

import opencode_web
from opencode_web.itself import ITSELF
from opencode_web.site.logs import FILE_NAME
from sessions.core import paths
from sessions.core.platform.limits import limits
from sessions.web.respond import fragment, page

LOG_BYTES = 64 * 1024
EXAMINATION_SECONDS = 300.0
_PROGRAM = "opencode-web"
_UNKNOWN = "not said"
_WORDS = 60
"""A longer text is a licence, not the name of one."""


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    licence: str


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    packages = await asyncio.to_thread(_packages)
    return await page(
        request,
        "about/page.html",
        version=opencode_web.__version__,
        python=sys.version.split()[0],
        system=platform.platform(),
        places=_places(),
        limits=await asyncio.to_thread(limits),
        packages=packages,
    )


@require_GET
async def log(request: HttpRequest) -> HttpResponse:
    """The last lines of the log, the newest last; with `?problems` only warnings and errors."""
    lines = await asyncio.to_thread(_lines)
    if "problems" in request.GET:
        lines = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL)\b", line)]
    return fragment("about/log.html", lines=lines, every="problems" not in request.GET)


@require_POST
async def examine(request: HttpRequest) -> HttpResponse:
    """What `opencode-web doctor` says, by a process of its own: pages are not kept waiting by it."""
    process = await asyncio.create_subprocess_exec(
        *(*ITSELF, "doctor"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(EXAMINATION_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        return fragment("fragments/refused.html", message="It took longer than five minutes and was ended.")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    return fragment("about/examined.html", said=said.decode(errors="replace"), well=process.returncode == 0)


def _places() -> dict[str, Path]:
    return {
        "Data": paths.data_directory(),
        "Configuration": paths.config_directory(),
        "Keys of providers": paths.auth_files()[0],
        "Kept for undo": paths.snapshots(),
        "Worktrees": paths.worktrees(),
        "Log": paths.logs() / FILE_NAME,
    }


def _packages() -> list[Package]:
    found = {str(one.metadata["Name"]): one for one in distributions()}
    found.pop(_PROGRAM, None)
    names = sorted(found, key=str.lower)
    return [Package(name, found[name].version, _licence(found[name])) for name in names]


def _licence(package: Distribution) -> str:
    """Its name, as the package says it (Core Metadata 2.4, and before)."""
    said = package.metadata
    classified = [
        line.rpartition(" :: ")[2] for line in said.get_all("Classifier", []) if line.startswith("License ::")
    ]
    expressed = (*said.get_all("License-Expression", []), *said.get_all("License", []))
    names = (*expressed, ", ".join(classified))
    return next((name for name in names if name and len(name) < _WORDS and "\n" not in name), _UNKNOWN)


def _lines() -> list[str]:
    """Whole lines of the end of the log."""
    try:
        with (paths.logs() / FILE_NAME).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return list(_whole(text, cut=size > LOG_BYTES))


def _whole(text: str, *, cut: bool) -> Iterator[str]:
    lines = text.splitlines()
    yield from lines[1:] if cut else lines
