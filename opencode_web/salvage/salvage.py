"""The salvage: read what can be read, take what is lacking from the daily copies, make the rest consistent.

SQLite's own reader is used, on a working copy.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from .consistency import make_consistent
from .report import Salvaged, Table
from .source import readable
from .tables import Reading, Row, columns_of, insert, open_file, tables_of


def salvage(damaged: Path, target: Path, copies: Sequence[Path]) -> Salvaged:
    """Write what `damaged` holds to the new file `target`, whole or not at all; `damaged` is only read.
    `copies` of it from before, the newest first, give what it lacks. Raises OSError and sqlite3.Error when
    `target` cannot be written."""
    done = Salvaged()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".salvage-") as folder:
        new = Path(folder, target.name)
        with closing(sqlite3.connect(new, isolation_level=None)) as to:
            to.execute("PRAGMA synchronous=OFF")
            with readable(damaged, copies, Path(folder)) as found:
                if found is not None:
                    source, done.copy = found
                    _take(source, copies, to, done)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.chmod(0o600)
        new.replace(target)
    return done


def _take(source: sqlite3.Connection, copies: Sequence[Path], to: sqlite3.Connection, done: Salvaged) -> None:
    schema = source.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    to.execute("BEGIN")
    for kind, name, sql in schema:
        if kind == "table" and not name.startswith("sqlite_"):
            to.execute(sql)
    only_a_copy = bool(done.copy)
    for name in tables_of(source):
        table = _take_table(source, copies, to, name, done)
        if only_a_copy:
            table.copied, table.saved, table.unknown = table.copied + table.saved, 0, True
        done.tables.append(table)
    _take_counters(source, to)
    for kind, _, sql in schema:
        if kind == "index":
            to.execute(sql)
    make_consistent(to, done)
    to.execute("COMMIT")


def _take_table(
    source: sqlite3.Connection, copies: Sequence[Path], to: sqlite3.Connection, name: str, done: Salvaged
) -> Table:
    table = Table(name)
    columns = columns_of(source, name)

    def take(number: int, row: Row) -> bool:
        return insert(to, name, ("rowid", *columns), (number, *row))

    reading = Reading(source, name, columns, take)
    table.saved = len(reading.taken)
    if reading.gaps or reading.missing:
        for copy in copies:
            with suppress(sqlite3.Error), closing(open_file(copy)) as older:
                if columns_of(older, name) == columns:
                    found = Reading(
                        older, name, columns, lambda number, row: reading.lacks(number) and take(number, row)
                    )
                    reading.missing -= found.taken
                    reading.taken |= found.taken
                    table.copied += len(found.taken)
                    done.copy = done.copy or (copy.name if found.taken else "")
    table.lost = len(reading.missing)
    table.unknown = bool(reading.gaps) and not reading.indexed
    return table


def _take_counters(source: sqlite3.Connection, to: sqlite3.Connection) -> None:
    """No number of a row that is gone is given again: clients keep them as cursors."""
    with suppress(sqlite3.Error):
        for name, last in source.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
            changed = to.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name))
            if not changed.rowcount:
                to.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))
