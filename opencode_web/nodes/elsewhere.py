"""Rows of a node, read and written by another process of the team: those of one that went away are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from opencode_web.team import schema_of
from sessions.core.db import in_db

P = ParamSpec("P")
T = TypeVar("T")


async def in_rows_of(node: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `in_db`, with the tables of a node in place of one's own. What writes there takes its turn among the
    node's own writers, by a transaction of its own."""

    def work() -> T:
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {schema_of(node)}")
        try:
            return function(*args, **kwargs)
        finally:
            _return()

    return await in_db(work)


def _return() -> None:
    """To one's own tables; on a new connection where this one is gone."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("RESET search_path")
    except (DatabaseError, InterfaceError):
        connection.close()
