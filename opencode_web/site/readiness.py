"""`/ready`: whether this process can serve, for whoever sends it requests. Its answer says nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions.core.db import in_db

PATIENCE = 2.0
"""Seconds for the database."""
_runs: Callable[[], bool] | None = None


def begin(runs: Callable[[], bool]) -> None:
    """What runs beside the pages has begun; `runs` tells whether it still does."""
    global _runs
    _runs = runs


def end() -> None:
    global _runs
    _runs = None


@require_safe
async def show(request: HttpRequest) -> HttpResponse:
    """204 when the database answers and the work beside the pages runs, else 503."""
    return HttpResponse(status=204 if _runs is not None and _runs() and await _answers() else 503)


async def _answers() -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            await in_db(_ask)
    except (TimeoutError, DatabaseError):
        return False
    return True


def _ask() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
