"""One thread for the ORM: every query of pages, API, sockets and turns runs here, in order.

SQLite has one writer anyway; one thread with one warm connection beats a thread (and a connection) per
request, and no caller ever meets "database is locked" from its own process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import connection, connections
from django.utils.translation import get_language, override

from sessions.core.fence import current, guarded

P = ParamSpec("P")
T = TypeVar("T")

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="orm")


async def in_db(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the ORM; works from any event loop. Its exceptions come through.

    Under a lease (`sessions.core.fence`) it raises LeaseLost rather than write for another worker. Of the
    caller's context the lease and the language go along: other things of it, like the URLs of an API, are not
    for what is rendered there.
    """
    work = _accompanied(partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_thread, _do, work)


def in_db_sync(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a caller without an event loop (a worker thread, command line, tests)."""
    return _thread.submit(_do, _accompanied(partial(function, *args, **kwargs))).result()


def _accompanied(work: Callable[[], T]) -> Callable[[], T]:
    """With the lease and the language of who asks."""
    lease, language = current(), get_language()
    if lease is not None:
        work = partial(guarded, lease, work)
    if language != settings.LANGUAGE_CODE:
        work = partial(_spoken, language, work)
    return work


def _spoken(language: str | None, work: Callable[[], T]) -> T:
    with override(language, deactivate=True):
        return work()


def _do(work: Callable[[], T]) -> T:
    """A file does not go away; a server may, and come back."""
    if _is_file():
        return work()
    return connection.steadily(work)  # type: ignore[attr-defined, no-any-return]  # our own backend's


@cache
def _is_file() -> bool:
    return connection.vendor == "sqlite"


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
