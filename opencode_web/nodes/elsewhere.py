"""Rows of a node, read and written by another process of the team: those of one that went away are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import connection, transaction

from opencode_web.team import schema_of
from sessions.core.db import in_db

P = ParamSpec("P")
T = TypeVar("T")


async def in_rows_of(node: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `in_db`, with the tables of a node in place of one's own, in one transaction."""

    def work() -> T:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL search_path TO {schema_of(node)}")
            return function(*args, **kwargs)

    return await in_db(work)
