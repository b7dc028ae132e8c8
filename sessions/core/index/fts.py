"""The index as a table of SQLite's FTS5 (docs/decisions/0039). All that is special to SQLite is here.

The table has no texts and no places of words: only which words each document has, by its number. What was put
in stays in, so whoever asks has to know which of the numbers still stand for something.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from django.db import DatabaseError, connection
from django.db.backends.utils import CursorWrapper

from .words import Lookup

PREFIX = "opencode_sessions_index"
"""With it the names of the index begin, and of no other table."""
TABLE = f"{PREFIX}_1"
"""The number is raised when other words are put in than before: what was indexed is indexed anew then."""
_NAMES = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '{PREFIX}*'"  # noqa: S608
_FAULTS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)


class Fault(Exception):
    """The index is missing or damaged, so nothing was put in, or nothing can be found."""


@cache
def is_possible() -> bool:
    """Whether this database can have such an index."""
    if connection.vendor != "sqlite":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
        return cursor.fetchone() is not None


def exists() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"{_NAMES} AND name = %s", [TABLE])
        return cursor.fetchone() is not None


def create() -> None:
    """An empty one in place of what there is, in whatever state that is. Call it inside `atomic`."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_NAMES} AND sql LIKE 'CREATE VIRTUAL%%'", [])
        for (name,) in cursor.fetchall():
            try:
                with _faults():
                    cursor.execute(f'DROP TABLE "{name}"')
            except Fault:
                _forget(cursor, name)
        cursor.execute(
            f"CREATE VIRTUAL TABLE {TABLE} USING fts5(words, content='', detail=none, columnsize=0, "
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


def add(documents: Iterable[tuple[int, set[str]]]) -> None:
    """Put in the words of documents, by their numbers. Raises Fault."""
    rows = [(number, " ".join(sorted(words))) for number, words in documents]
    # FTS5 writes at the end of a savepoint; without one only the commit would find a fault, and fail. One of
    # Django's that ends with an error gives the whole transaction up.
    with _faults(), connection.cursor() as cursor:
        cursor.execute(f"SAVEPOINT {PREFIX}")
        try:
            cursor.executemany(f"INSERT INTO {TABLE} (rowid, words) VALUES (%s, %s)", rows)  # noqa: S608
        finally:
            cursor.execute(f"RELEASE {PREFIX}")


def messages(
    wanted: Sequence[Sequence[Lookup]],
    *,
    below: int,
    limit: int,
    after: int | None = None,
    before: int | None = None,
) -> list[tuple[int, str]]:
    """`(document, session)` of the messages with the highest numbers below one whose documents have a word of
    each group in `wanted`, the highest first; `after` and `before` bound their times. Raises Fault.

    Nobody can ask for documents without a word: one that stands for nothing any more may have its number.
    """
    where = [f"{TABLE} MATCH %s", f"{TABLE}.rowid < %s"]
    values: list[str | int] = [_match(wanted), below]
    for bound, value in (("time_created >= %s", after), ("time_created < %s", before)):
        if value is not None:
            where.append(bound)
            values.append(value)
    # CROSS JOIN: SQLite begins with the first table, and looks the messages up in `message_by_document`.
    query = (
        f"SELECT document, session_id FROM {TABLE} CROSS JOIN opencode_sessions_message "  # noqa: S608
        f"ON document = {TABLE}.rowid WHERE {' AND '.join(where)} ORDER BY {TABLE}.rowid DESC LIMIT %s"
    )
    with connection.cursor() as cursor, _faults():
        cursor.execute(query, [*values, limit])
        return [(int(number), str(session)) for number, session in cursor.fetchall()]


def _match(wanted: Sequence[Sequence[Lookup]]) -> str:
    return " AND ".join(f"({_any(group)})" for group in wanted)


def _any(lookups: Iterable[Lookup]) -> str:
    return " OR ".join(f'"{lookup.word}"{"*" if lookup.begins else ""}' for lookup in lookups)


@contextmanager
def _faults() -> Iterator[None]:
    """Not those of a disk that is full, or of a database that another process holds."""
    try:
        yield
    except DatabaseError as error:
        code: int = getattr(error.__cause__, "sqlite_errorcode", 0)
        if code & 0xFF not in _FAULTS:
            raise
        raise Fault(str(error)) from error
