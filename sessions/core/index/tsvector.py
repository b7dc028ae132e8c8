"""The index as a table of PostgreSQL, with a GIN index over its words. What it raises for a fault of the
index, `is_fault` knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import DatabaseError, connection, transaction

from .fts5 import PREFIX
from .words import Lookup

_FAULTS = ("42703", "42P01", "54000", "XX001", "XX002")
"""Of PostgreSQL's appendix A: no such column or table, more than fits, damage."""
_MOST = 1_000_000
"""Bytes of words that a tsvector takes, at least."""


def is_fault(error: DatabaseError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) in _FAULTS


def is_possible() -> bool:
    return True


def exists(table: str) -> bool:
    return table in _tables()


def create(table: str) -> None:
    with connection.cursor() as cursor:
        for name in _tables():
            cursor.execute(f'DROP TABLE "{name}"')
        cursor.execute(f"CREATE TABLE {table} (document bigint PRIMARY KEY, words tsvector NOT NULL)")
        cursor.execute(f"CREATE INDEX ON {table} USING gin (words)")


def add(table: str, documents: Iterable[tuple[int, set[str]]]) -> None:
    rows = [(number, _fitting(words)) for number, words in documents]
    with transaction.atomic(), connection.cursor() as cursor:  # a savepoint: a fault takes only this back
        cursor.executemany(
            f"INSERT INTO {table} VALUES (%s, array_to_tsvector(%s::text[])) "  # noqa: S608
            "ON CONFLICT (document) DO UPDATE SET words = EXCLUDED.words",
            rows,
        )


def messages(
    table: str, wanted: Sequence[Sequence[Lookup]], bounds: Sequence[tuple[str, int]], below: int, limit: int
) -> list[tuple[int, str]]:
    query = (
        "SELECT document, session_id FROM opencode_sessions_message "  # noqa: S608
        f"JOIN {table} USING (document) WHERE words @@ %s::tsquery AND document < %s "
        f"{''.join(f'AND {bound} ' for bound, _ in bounds)}ORDER BY document DESC LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [_match(wanted), below, *(value for _, value in bounds), limit])
        return list(cursor.fetchall())


def _match(wanted: Sequence[Sequence[Lookup]]) -> str:
    return " & ".join(f"({' | '.join(map(_lexeme, group))})" for group in wanted)


def _lexeme(lookup: Lookup) -> str:
    word = lookup.word.replace("\\", "\\\\").replace("'", "''")
    return f"'{word}'{':*' if lookup.begins else ''}"


def _fitting(words: set[str]) -> list[str]:
    """Those of facets first, which have a colon."""
    found, size = [], 0
    for word in sorted(words, key=lambda word: ":" not in word):
        size += len(word.encode())
        if size > _MOST:
            break
        found.append(word)
    return found


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE %s",
            [f"{PREFIX}%"],
        )
        return [name for (name,) in cursor.fetchall()]
