"""What the rows of a table look like by its declaration: of which table is a page that no other names?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from opencode_web.site.pages import Row

_PREFIXES = {
    "opencode_sessions_session": "ses",
    "opencode_sessions_message": "msg",
    "opencode_sessions_part": "prt",
}
"""What ids begin with, by their table; clients that make their own may leave out the underscore."""
_UNDECLARED = {"name": "text", "seq": "integer"}
"""The columns of `sqlite_sequence`, which declares no types."""


class Shape:
    """The columns of a table, and what each can hold. A row may be shorter than its table: it was written
    before the last columns were added."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        declared = db.execute(f'PRAGMA table_info("{table}")').fetchall()
        (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        keys = db.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
        prefixes = {row[3]: _PREFIXES.get(row[2], "") for row in keys}
        self.columns = [str(row[1]) for row in declared]
        self._needed = max((n + 1 for n, row in enumerate(declared) if row[3] and row[4] is None), default=0)
        self._number: int | None = None
        self._tests: list[Callable[[Any], bool]] = []
        for place, (_, column, kind, required, _, key) in enumerate(declared):
            kind = kind.lower() or _UNDECLARED.get(column, "")
            if key and kind == "integer":
                self._number = place
                self._tests.append(lambda value: value is None)
                continue
            prefix = _PREFIXES.get(table, "") if key else prefixes.get(column, "")
            is_json = f'JSON_VALID("{column}")' in sql
            self._tests.append(_test(kind, bool(required), prefix, is_json))

    def complete(self, number: int, row: Row) -> Row:
        """With the row's number (rowid) in the column that stands for it, which is stored as NULL."""
        at = self._number
        return row if at is None or at >= len(row) else (*row[:at], number, *row[at + 1 :])

    def fits(self, row: Row) -> bool:
        """Whether a row, as it is stored, can be one of this table."""
        if not self._needed <= len(row) <= len(self.columns):
            return False
        return all(test(value) for test, value in zip(self._tests, row, strict=False))


def table_of(shapes: Mapping[str, Shape], rows: Iterable[Row]) -> str:
    """The only table that the rows of a page can be of; empty if there is none, or several. Rows that fit no
    table say nothing."""
    left = set(shapes)
    for row in rows:
        if fits := {name for name, shape in shapes.items() if shape.fits(row)}:
            left &= fits
    return left.pop() if len(left) == 1 else ""


def _test(kind: str, required: bool, prefix: str, is_json: bool) -> Callable[[Any], bool]:
    """Whether a value can stand in a column, by its declared type."""
    types: tuple[type, ...] = (int, float, str, bytes)
    if "int" in kind or kind == "bool":
        types = (int,)
    elif "char" in kind or kind in ("text", "date", "datetime", "time"):
        types = (str,)
    elif kind == "real":
        types = (int, float)

    def test(value: Any) -> bool:
        if value is None:
            return not required
        if not isinstance(value, types) or (kind == "bool" and value not in (0, 1)):
            return False
        if isinstance(value, str):
            return value.startswith(prefix) and (not is_json or _is_json(value))
        return True

    return test


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
