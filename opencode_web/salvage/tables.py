"""Opening a SQLite file, its tables, and the rows of one as far as they can be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]
Take = Callable[[int, Row], bool]
"""Is given a row and its number; whether it was one that could be taken."""


def open_file(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, isolation_level=None)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    with suppress(sqlite3.Error):
        db.execute("PRAGMA cell_size_check=ON")
    return db


def tables_of(db: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    return [name for (name,) in db.execute(query)]


def columns_of(db: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f'PRAGMA table_info("{table}")')]


def insert(to: sqlite3.Connection, table: str, columns: Sequence[str], values: Sequence[Any]) -> bool:
    """False for a row that breaks a constraint: what was read is not what was written once."""
    named = ", ".join(f'"{column}"' for column in columns)
    marks = ", ".join("?" * len(values))
    query = f'INSERT OR IGNORE INTO "{table}" ({named}) VALUES ({marks})'  # noqa: S608
    try:
        return to.execute(query, tuple(values)).rowcount == 1
    except sqlite3.IntegrityError:
        return False


class Reading:
    """All rows of a table that can be read, handed to `take` as they are found: from both ends, then, between
    the pages that cannot be read, row by row by the numbers that its indexes know.

    `taken` are the numbers (`rowid`) of those it took. `gaps` are ranges (without their ends) in which
    reading failed, `missing` the rows that an index knows and that are not readable, or not what was written
    once, `indexed` whether an index could be read from end to end.
    """

    def __init__(self, db: sqlite3.Connection, table: str, columns: Sequence[str], take: Take) -> None:
        self._db = db
        self._take = take
        self._from = f'FROM "{table}" NOT INDEXED'
        self._columns = ", ".join(f'"{column}"' for column in columns)
        self.taken: set[int] = set()
        self.gaps: list[tuple[int, int]] = []
        self.missing: set[int] = set()
        self.indexed = False
        first, whole = self._read("ASC", -(2**63))
        if not whole:
            last, _ = self._read("DESC", 2**63 - 1)
            self.gaps.append((first, last))
            self._read_between(table, first, last)

    def lacks(self, number: int) -> bool:
        """Whether a row of this number was not read, and was there or, if no index tells, may have been."""
        if number in self.missing:
            return True
        may = not self.indexed and any(a < number < b for a, b in self.gaps)
        return may and number not in self.taken

    def _read(self, order: str, number: int) -> tuple[int, bool]:
        """The last number that was read, and whether the other end was reached."""
        try:
            for number, *row in self._db.execute(
                f"SELECT rowid, {self._columns} {self._from} ORDER BY rowid {order}"
            ):
                if number in self.taken or number in self.missing:
                    break
                self._hand(number, tuple(row))
        except sqlite3.Error:
            return number, False
        return number, True

    def _hand(self, number: int, row: Row) -> None:
        (self.taken if self._take(number, row) else self.missing).add(number)

    def _read_between(self, table: str, first: int, last: int) -> None:
        """Row by row, by the numbers that indexes know, else by all that there may be."""
        known = self._numbers(table)
        if not self.indexed and first > -(2**63) and last < 2**63 - 1:
            known |= set(range(first + 1, last))
        query = f"SELECT {self._columns} {self._from} WHERE rowid = ?"
        for number in sorted(known - self.taken - self.missing):
            try:
                row = self._db.execute(query, (number,)).fetchone()
            except sqlite3.Error:
                row = None
            if row is not None:
                self._hand(number, row)
            elif self.indexed:
                self.missing.add(number)

    def _numbers(self, table: str) -> set[int]:
        """The numbers of all rows, as the table's indexes have them."""
        found: set[int] = set()
        query = "SELECT name FROM sqlite_master WHERE type='index' AND tbl_name=?"
        for (index,) in self._db.execute(query, (table,)).fetchall():
            for order in ("ASC", "DESC"):
                with suppress(sqlite3.Error):
                    column = self._db.execute(f'PRAGMA index_info("{index}")').fetchone()[2]
                    for (number,) in self._db.execute(
                        f'SELECT rowid FROM "{table}" INDEXED BY "{index}" ORDER BY "{column}" {order}'  # noqa: S608
                    ):
                        found.add(number)
                    self.indexed = True
                    break
        return found
