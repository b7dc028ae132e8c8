"""The index as a table of SQLite's FTS5. What it raises for a fault of the index, `is_fault` knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache

from django.db import DatabaseError, connection
from django.db.backends.utils import CursorWrapper

from .words import Lookup

PREFIX = "opencode_sessions_index"
"""With it the names of the index begin, and of no other table."""
_NAMES = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '{PREFIX}*'"  # noqa: S608
_FAULTS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)


def is_fault(error: DatabaseError) -> bool:
    """Not that of a disk that is full, or of a database that another process holds."""
    code: int = getattr(error.__cause__, "sqlite_errorcode", 0)
    return code & 0xFF in _FAULTS


@cache
def is_possible() -> bool:
    """Whether this SQLite has FTS5."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
        return cursor.fetchone() is not None


def exists(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"{_NAMES} AND name = %s", [table])
        return cursor.fetchone() is not None


def create(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"{_NAMES} AND sql LIKE 'CREATE VIRTUAL%%'", [])
        for (name,) in cursor.fetchall():
            try:
                cursor.execute(f'DROP TABLE "{name}"')
            except DatabaseError as error:
                if not is_fault(error):
                    raise
                _forget(cursor, name)
        cursor.execute(
            f"CREATE VIRTUAL TABLE {table} USING fts5(words, content='', detail=none, columnsize=0, "
            "tokenize=\"ascii tokenchars '_:'\")"
        )


def _forget(cursor: CursorWrapper, name: str) -> None:
    """Without the parts that it is made of SQLite cannot open it, and so not drop it."""
    cursor.execute("PRAGMA writable_schema=ON")
    cursor.execute("DELETE FROM sqlite_master WHERE name = %s", [name])
    cursor.execute("PRAGMA writable_schema=RESET")
    cursor.execute(f"{_NAMES} AND name GLOB %s", [f"{name}_*"])
    for (part,) in cursor.fetchall():
        cursor.execute(f'DROP TABLE "{part}"')


def add(table: str, documents: Iterable[tuple[int, set[str]]]) -> None:
    rows = [(number, " ".join(sorted(words))) for number, words in documents]
    # FTS5 writes at the end of a savepoint; without one only the commit would find a fault, and fail. One of
    # Django's that ends with an error gives the whole transaction up.
    with connection.cursor() as cursor:
        cursor.execute(f"SAVEPOINT {PREFIX}")
        try:
            cursor.executemany(f"INSERT INTO {table} (rowid, words) VALUES (%s, %s)", rows)  # noqa: S608
        finally:
            cursor.execute(f"RELEASE {PREFIX}")


def messages(
    table: str, wanted: Sequence[Sequence[Lookup]], bounds: Sequence[tuple[str, int]], below: int, limit: int
) -> list[tuple[int, str]]:
    # CROSS JOIN: SQLite begins with the first table, and looks the messages up in `message_by_document`.
    query = (
        f"SELECT document, session_id FROM {table} CROSS JOIN opencode_sessions_message "  # noqa: S608
        f"ON document = {table}.rowid WHERE {table} MATCH %s AND {table}.rowid < %s "
        f"{''.join(f'AND {bound} ' for bound, _ in bounds)}ORDER BY {table}.rowid DESC LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [_match(wanted), below, *(value for _, value in bounds), limit])
        return list(cursor.fetchall())


def _match(wanted: Sequence[Sequence[Lookup]]) -> str:
    return " AND ".join(f"({_any(group)})" for group in wanted)


def _any(lookups: Iterable[Lookup]) -> str:
    return " OR ".join(f'"{lookup.word}"{"*" if lookup.begins else ""}' for lookup in lookups)
