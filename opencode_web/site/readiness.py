"""`/ready`: whether this process can serve, for whoever sends it requests. Its answer says nothing else.

It asks for no login, so it is no way to keep the database busy: the database is asked once a second at most.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions.core.db import in_db

PATIENCE = 2.0
"""Seconds for the database."""
SECONDS = 1.0
"""How long what the database said counts."""
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
    return HttpResponse(status=204 if _runs is not None and _runs() and await _database.answers() else 503)


class _Database:
    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._until = 0.0
        self._answered = False

    async def answers(self) -> bool:
        async with self._lock:
            if time.monotonic() >= self._until:
                self._answered = await self._ask()
                self._until = time.monotonic() + SECONDS
            return self._answered

    async def _ask(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                await in_db(_look)
        except (TimeoutError, DatabaseError):
            return False
        return True


_database = _Database()


def _look() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
