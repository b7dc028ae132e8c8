"""One thread for the ORM: every query of pages, API, sockets and turns runs here, in order.

SQLite has one writer anyway; one thread with one warm connection beats a thread (and a connection) per
request, and no caller ever meets "database is locked" from its own process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from django.db import connection, connections

from sessions.core.fence import current, guarded

P = ParamSpec("P")
T = TypeVar("T")

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="orm")


async def in_db(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the ORM; works from any event loop. Its exceptions come through.

    Under a lease (`sessions.core.fence`) it raises LeaseLost rather than write for another worker.
    """
    lease = current()
    loop = asyncio.get_running_loop()
    if lease is None:
        return await loop.run_in_executor(_thread, lambda: function(*args, **kwargs))
    return await loop.run_in_executor(_thread, lambda: guarded(lease, lambda: function(*args, **kwargs)))


def in_db_sync(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a caller without an event loop (command line, tests)."""
    return _thread.submit(lambda: function(*args, **kwargs)).result()


@contextmanager
def durable() -> Iterator[None]:
    """What is committed meanwhile outlives a power cut; call it on the ORM's thread, outside of `atomic`.

    With the setting of SQLite here (`synchronous=NORMAL`) only its next checkpoint makes sure of that; other
    databases do at once.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=FULL")
        try:
            yield
        finally:
            cursor.execute("PRAGMA synchronous=NORMAL")


def close() -> None:
    """Close the thread's connection; the next call opens a new one."""
    _thread.submit(connections.close_all).result()
