"""The salvage: read what can be read, take what is lacking from the daily copies, make the rest consistent.

SQLite's own reader is used, on a working copy. Of the format: https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

_APP = "opencode_sessions_"


def make_consistent(to: sqlite3.Connection, done: Salvaged) -> None:
    """Each row that names a lost one loses the name, or goes with it; a session or project that others belong
    to is made anew where its place is known."""
    tables = {table.name: table for table in done.tables}
    _make_parents(to, done)
    while broken := to.execute("PRAGMA foreign_key_check").fetchall():
        for name, number, _, key in broken:
            column = next(row[3] for row in to.execute(f'PRAGMA foreign_key_list("{name}")') if row[0] == key)
            required = next(row[3] for row in to.execute(f'PRAGMA table_info("{name}")') if row[1] == column)
            if not required:
                to.execute(f'UPDATE "{name}" SET "{column}" = NULL WHERE rowid = ?', (number,))  # noqa: S608
            elif to.execute(f'DELETE FROM "{name}" WHERE rowid = ?', (number,)).rowcount:  # noqa: S608
                tables[name].saved -= 1
                tables[name].lost += 1


def _make_parents(to: sqlite3.Connection, done: Salvaged) -> None:
    sessions, projects, events = (f"{_APP}{name}" for name in ("session", "project", "event"))
    if not {sessions, projects, events} <= {table.name for table in done.tables}:
        return
    for session in _orphans(to, sessions):
        found = to.execute(
            f"SELECT project_id, min(time_created), max(time_created) FROM {events} "  # noqa: S608
            "WHERE session_id = ? AND project_id != '' GROUP BY project_id ORDER BY count(*) DESC",
            (session,),
        ).fetchone()
        place = found and to.execute(f"SELECT worktree FROM {projects} WHERE id = ?", found[:1]).fetchone()  # noqa: S608
        if place:
            values = {"id": session, "project_id": found[0], "directory": place[0], "slug": "recovered"}
            times = {"time_created": found[1], "time_updated": found[2]}
            named = {"title": "Recovered conversation", "titled": 1, "permission": "[]"}
            done.made += _fill(to, sessions, values | times | named)
    for project in _orphans(to, projects):
        found = to.execute(
            f"SELECT min(directory), min(time_created), max(time_updated) FROM {sessions} "  # noqa: S608
            "WHERE project_id = ? AND directory != ''",
            (project,),
        ).fetchone()
        if found[0]:
            values = {"id": project, "worktree": found[0], "name": Path(found[0]).name}
            done.made += _fill(to, projects, values | {"time_created": found[1], "time_updated": found[2]})


def _orphans(to: sqlite3.Connection, parent: str) -> list[Any]:
    """The ids of lost rows of a table that others name and need."""
    found = set()
    for name, number, _, key in to.execute("PRAGMA foreign_key_check").fetchall():
        keys = to.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
        column = next((row[3] for row in keys if row[0] == key and row[2] == parent), "")
        if column and name != parent:
            query = f'SELECT "{column}" FROM "{name}" WHERE rowid = ?'  # noqa: S608
            found.add(to.execute(query, (number,)).fetchone()[0])
    return sorted(found)


def _fill(to: sqlite3.Connection, table: str, values: dict[str, Any]) -> bool:
    """Add a row; a required column that is not given is empty: an object, a text or nought."""
    row: dict[str, Any] = dict(values)
    (sql,) = to.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    for _, column, kind, required, default, _ in to.execute(f'PRAGMA table_info("{table}")').fetchall():
        if required and default is None and column not in row:
            empty = json.dumps({}) if f'JSON_VALID("{column}")' in sql else ""
            row[column] = empty if kind.lower().startswith(("text", "varchar", "char")) else 0
    return insert(to, table, list(row), list(row.values()))


_HEADER = 100
_INTERIOR = 0x05
_MIGRATIONS = "django_migrations"


@contextmanager
def readable(
    damaged: Path, copies: Sequence[Path], folder: Path
) -> Iterator[tuple[sqlite3.Connection, str] | None]:
    """A working copy whose list of tables can be read, if need be with the pages of that list from a daily
    copy. Where there is no way to read it, the newest copy that can be read, with its
    name, or None."""
    work = folder / "work.sqlite3"
    ways = [(damaged, None), *((damaged, copy) for copy in copies), *((copy, None) for copy in copies)]
    for file, graft in ways:
        for suffix in ("", "-wal"):
            work.with_name(work.name + suffix).unlink(missing_ok=True)
            if (part := file.with_name(file.name + suffix)).exists():
                shutil.copyfile(part, work.with_name(work.name + suffix))
        try:
            _mend_head(work, graft)
        except (struct.error, IndexError, ValueError, ZeroDivisionError, RecursionError):
            continue  # the copy is damaged as well
        with closing(open_file(work)) as source:
            if _usable(source, graft):
                yield source, file.name if file in copies else ""
                return
    yield None


def _mend_head(work: Path, graft: Path | None) -> None:
    """A file that was cut off is filled up with nothing, so that SQLite reads the part that is there."""
    with work.open("r+b") as file:
        if graft is not None:
            _write_schema(file, graft)
        file.seek(0)
        head = file.read(_HEADER)
        if len(head) == _HEADER and (size := _page_size(head)):
            (pages,) = struct.unpack_from(">I", head, 28)
            whole = -(-os.fstat(file.fileno()).st_size // size)
            file.truncate(max(whole, min(pages, 4 * whole)) * size)


def _write_schema(file: BinaryIO, graft: Path) -> None:
    """Put the first page and the list of tables of another database in place of its own."""
    with graft.open("rb") as whole, mmap.mmap(whole.fileno(), 0, access=mmap.ACCESS_READ) as other:
        size = _page_size(other[:_HEADER])
        pages = -(-os.fstat(file.fileno()).st_size // size)
        for page in _schema_pages(other, size):
            file.seek((page - 1) * size)
            file.write(other[(page - 1) * size : page * size])
        # As many pages as the file has, and a write-ahead log, as it had one.
        for at, value in ((18, b"\x02\x02"), (28, struct.pack(">I", pages)), (92, other[24:28])):
            file.seek(at)
            file.write(value)


def _schema_pages(data: mmap.mmap, size: int, page: int = 1) -> list[int]:
    """The pages that hold the list of tables, in a sound file; section 1.6 of the format."""
    at = (page - 1) * size
    head = at + _HEADER if page == 1 else at
    if data[head] != _INTERIOR:
        return [page]
    (cells,) = struct.unpack_from(">H", data, head + 3)
    places = struct.unpack_from(f">{cells}H", data, head + 12)
    below = [struct.unpack_from(">I", data, at + place)[0] for place in places]
    below += struct.unpack_from(">I", data, head + 8)
    return [page, *(found for child in below for found in _schema_pages(data, size, child))]


def _page_size(head: bytes) -> int:
    (size,) = struct.unpack_from(">H", head, 16)
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 0


def _usable(source: sqlite3.Connection, graft: Path | None) -> bool:
    """The tables are known, and, with a first page from elsewhere, they are those of that time."""
    try:
        source.execute("SELECT name, sql FROM sqlite_master").fetchall()
        applied = _migrations(source)
        if graft is None:
            return bool(tables_of(source))
        with closing(open_file(graft)) as other:
            return bool(applied) and applied == _migrations(other)
    except sqlite3.Error:
        return False


def _migrations(db: sqlite3.Connection) -> set[Row]:
    """Empty when they cannot be read: the newest copy has them, too."""
    try:
        return set(db.execute(f"SELECT app, name FROM {_MIGRATIONS}"))  # noqa: S608
    except sqlite3.Error:
        return set()


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


@dataclass(slots=True)
class Table:
    """What came of one table, in rows: `saved` from the damaged file, `copied` from a daily copy, `lost` as
    far as is known; `unknown` says that more may be lost than could be counted."""

    name: str
    saved: int = 0
    copied: int = 0
    lost: int = 0
    unknown: bool = False


@dataclass(slots=True)
class Salvaged:
    """`tables` in the order of the file; `copy` is the newest daily copy that was used; `made` counts
    sessions and projects whose own row was lost and which were made anew, for what belongs to them."""

    tables: list[Table] = field(default_factory=list)
    copy: str = ""
    made: int = 0


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
