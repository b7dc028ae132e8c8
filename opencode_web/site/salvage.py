"""The salvage: read what can be read, take what is lacking from the copies, make the rest consistent.

SQLite's own reader comes first, on a working copy; what it gives up on is read page by page.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from opencode_web.site.pages import Row
from opencode_web.site.shapes import Shape, table_of
from opencode_web.site.source import (
    MIGRATIONS,
    MakeTables,
    Source,
    columns_of,
    no_tables,
    open_file,
    readable,
    tables_of,
)
from sessions.core.ids import of_folder

_SESSION, _PROJECT, _MESSAGE, _PART, _EVENT = (
    f"opencode_sessions_{name}" for name in ("session", "project", "message", "part", "event")
)


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
    if not {_SESSION, _PROJECT, _MESSAGE, _EVENT} <= {table.name for table in done.tables}:
        return
    for project in _orphans(to, _SESSION, _PROJECT):
        found = to.execute(
            f"SELECT min(directory), min(time_created), max(time_updated) FROM {_SESSION} "  # noqa: S608
            "WHERE project_id = ? AND directory != ''",
            (project,),
        ).fetchone()
        if found[0]:
            done.made += _make_project(to, project, *found)
    for session in _orphans(to, _MESSAGE, _SESSION):  # parts without their messages make no conversation
        project, folder = _place(to, session)
        if folder:
            times = "SELECT session_id, time_created FROM"
            created, updated = to.execute(
                "SELECT coalesce(min(time_created), 0), coalesce(max(time_created), 0) "  # noqa: S608
                f"FROM ({times} {_EVENT} UNION ALL {times} {_MESSAGE}) WHERE session_id = ?",
                (session,),
            ).fetchone()
            done.made += _make_project(to, project, folder, created, updated)
            values = {"id": session, "project_id": project, "directory": folder, "slug": "recovered"}
            values |= {"time_created": created, "time_updated": updated, "used": updated}
            named = {"title": "Recovered conversation", "titled": 1, "permission": "[]"}
            done.made += _fill(to, _SESSION, values | named)


def _make_project(to: sqlite3.Connection, project: str, folder: str, created: int, updated: int) -> bool:
    """False where there is one already."""
    values = {"id": project, "worktree": folder, "name": Path(folder).name}
    return _fill(to, _PROJECT, values | {"time_created": created, "time_updated": updated})


def _place(to: sqlite3.Connection, session: str) -> tuple[str, str]:
    """The project and the folder of a session whose row is lost: as its events and the paths in its answers
    tell, else the only project that there is. Empty where nothing tells."""
    told = to.execute(
        f"SELECT project_id FROM {_EVENT} WHERE session_id = ? AND project_id != '' "  # noqa: S608
        "GROUP BY project_id ORDER BY count(*) DESC",
        (session,),
    ).fetchone()
    path = to.execute(
        f"SELECT json_extract(data, '$.path.root') FROM {_MESSAGE} "  # noqa: S608
        "WHERE session_id = ? AND json_type(data, '$.path.root') = 'text' ORDER BY id DESC",
        (session,),
    ).fetchone()
    folders = dict(to.execute(f"SELECT id, worktree FROM {_PROJECT}").fetchall())  # noqa: S608
    if told and told[0] in folders:
        return told[0], folders[told[0]]
    if path:
        ids = [project for project, folder in folders.items() if folder == path[0]]
        new = next(id_ for number in count() if (id_ := of_folder(path[0], number)) not in folders)
        return (*ids, *(told or ()), new)[0], path[0]
    return next(iter(folders.items())) if len(folders) == 1 else ("", "")


def _orphans(to: sqlite3.Connection, name: str, parent: str) -> list[Any]:
    """The ids of lost rows of the table `parent` that rows of the table `name` need."""
    found = set()
    keys = to.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
    for _, number, _, key in to.execute(f'PRAGMA foreign_key_check("{name}")').fetchall():
        if column := next((row[3] for row in keys if row[0] == key and row[2] == parent), ""):
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


_COUNTERS = "sqlite_sequence"
_CONTENT = {_SESSION, _PROJECT, _MESSAGE, _PART, _EVENT}
"""Of these, a row that was deleted does no harm if it is back; a permission would, or a prompt that waits."""
_ALL = (-(2**63), 2**63 - 1)
Take = Callable[[int, Row], bool]
"""Is given a row and its number; whether it was one that could be taken."""


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
    """What can be read of a table, handed to `take`.

    `taken` are the numbers (`rowid`) of the rows it took. `gaps` are ranges (without their ends) in which
    reading failed, at first all; `missing` the rows that are known to be there and are not readable, or not
    what was written once, `indexed` whether an index could be read from end to end.
    """

    def __init__(self, db: sqlite3.Connection, table: str, columns: Sequence[str], take: Take) -> None:
        self._db = db
        self._take = take
        self._table = table
        self.columns = list(columns)
        self._from = f'FROM "{table}" NOT INDEXED'
        self._named = ", ".join(f'"{column}"' for column in columns)
        self.taken: set[int] = set()
        self.gaps = [_ALL]
        self.missing: set[int] = set()
        self.indexed = False

    def read(self) -> None:
        """By SQLite: from both ends, then, between the pages that cannot be read, row by row by the numbers
        that the table's indexes know."""
        self.gaps = []
        first, whole = self._read("ASC", _ALL[0])
        if not whole:
            last, _ = self._read("DESC", _ALL[1])
            self.gaps.append((first, last))
            self._read_known()

    def hand(self, number: int, row: Row | None) -> None:
        """Take a row that is of this table; None for one that is there and cannot be read."""
        if row is not None and self._take(number, row):
            self.taken.add(number)
            self.missing.discard(number)
        else:
            self.missing.add(number)

    def hand_lacking(self, number: int, row: Row) -> bool:
        """Take a row found elsewhere, if this table lacks one of its number; whether it was taken."""
        taken = self.lacks(number) and self._take(number, row)
        if taken:
            self.taken.add(number)
            self.missing.discard(number)
        return taken

    @property
    def is_whole(self) -> bool:
        return not self.gaps and not self.missing

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
                f"SELECT rowid, {self._named} {self._from} ORDER BY rowid {order}"
            ):
                if number in self.taken or number in self.missing:
                    break
                self.hand(number, tuple(row))
        except sqlite3.Error:
            return number, False
        return number, True

    def _read_known(self) -> None:
        query = f"SELECT {self._named} {self._from} WHERE rowid = ?"
        for number in sorted(self._numbers(self._table) - self.taken - self.missing):
            try:
                row = self._db.execute(query, (number,)).fetchone()
            except sqlite3.Error:
                row = None
            if row is not None or self.indexed:
                self.hand(number, row)

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
    """What came of one table, in rows: `saved` from the damaged file, `copied` from a copy, `lost` as
    far as is known; `unknown` says that more may be lost than could be counted."""

    name: str
    saved: int = 0
    copied: int = 0
    lost: int = 0
    unknown: bool = False


@dataclass(slots=True)
class Salvaged:
    """`tables` in the order of the file; `copy` is the newest copy that was used; `made` counts
    sessions and projects whose own row was lost and which were made anew, for what belongs to them."""

    tables: list[Table] = field(default_factory=list)
    copy: str = ""
    made: int = 0


def salvage(
    damaged: Path, target: Path, copies: Sequence[Path], make_tables: MakeTables = no_tables
) -> Salvaged:
    """Write what `damaged` holds to the new file `target`, whole or not at all; `damaged` is only read.
    `copies` of it from before, the newest first, give what it lacks; the database that `make_tables`
    makes has the list of tables where neither it nor a copy has one. Raises OSError and sqlite3.Error when
    `target` cannot be written."""
    done = Salvaged()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".salvage-") as folder:
        new = Path(folder, target.name)
        with closing(open_file(new)) as to:
            to.execute("PRAGMA synchronous=OFF")
            with readable(damaged, copies, make_tables, Path(folder)) as source:
                if source is not None:
                    _take(source, copies, to, done)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.chmod(0o600)
        new.replace(target)
    return done


def _take(source: Source, copies: Sequence[Path], to: sqlite3.Connection, done: Salvaged) -> None:
    schema = source.db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    tables = tables_of(source.db)
    to.execute("BEGIN")
    for kind, name, sql in schema:
        if kind == "table" and name in tables:
            to.execute(sql)
    readings = {name: _read(source, to, name) for name in tables}
    if not all(reading.is_whole for reading in readings.values()):
        _read_pages(source, readings)
    for name, reading in readings.items():
        table = Table(name, saved=len(reading.taken))
        if not reading.is_whole:
            _read_copies(copies, table, reading, done)
        table.lost = len(reading.missing)
        table.unknown = bool(reading.gaps) and not reading.indexed
        done.tables.append(table)
    _take_counters(source, to)
    for kind, _, sql in schema:
        if kind == "index":
            to.execute(sql)
    make_consistent(to, done)
    to.execute("COMMIT")


def _read(source: Source, to: sqlite3.Connection, name: str) -> Reading:
    columns = columns_of(source.db, name)

    def take(number: int, row: Row) -> bool:
        # SQLite reads an overflow page that was lost and filled up with nothing as such a text.
        whole = not any(isinstance(value, str) and value.endswith("\0") for value in row)
        return whole and insert(to, name, ("rowid", *columns[: len(row)]), (number, *row))

    reading = Reading(source.db, name, columns, take)
    if not source.other or name == MIGRATIONS:  # those belong to the tables
        reading.read()
    return reading


def _read_pages(source: Source, readings: dict[str, Reading]) -> None:
    """What SQLite did not reach: first the leaves of each table's tree, then those that no tree leads to any
    more, as they look. What is on a page that is free was deleted."""
    pages = source.pages
    shapes = {name: Shape(source.db, name) for name in (*readings, _COUNTERS)}
    leaves = {name: pages.leaves(root) for name, root in source.roots.items()}
    for name, reading in readings.items():
        for page in () if reading.is_whole else leaves.get(name, ()):
            for number, row in pages.rows(page, reading.lacks):
                if row is None or shapes[name].fits(row):
                    reading.hand(number, row and shapes[name].complete(number, row))
    free, all_known = pages.free()
    reached = free.union(*leaves.values())
    for page in pages.all_leaves():
        rows = {} if page in reached else dict(pages.rows(page))
        name = table_of(shapes, filter(None, rows.values()))
        if name in readings and (all_known or name in _CONTENT):
            for number, row in rows.items():
                if row is not None and shapes[name].fits(row):
                    readings[name].hand_lacking(number, shapes[name].complete(number, row))


def _read_copies(copies: Sequence[Path], table: Table, reading: Reading, done: Salvaged) -> None:
    """The newest one that is whole is the last to ask: what only an older one has was deleted since."""
    for copy in copies:
        with suppress(sqlite3.Error), closing(open_file(copy)) as older:
            if columns_of(older, table.name) == reading.columns:
                before = len(reading.taken)
                found = Reading(older, table.name, reading.columns, reading.hand_lacking)
                found.read()
                if len(reading.taken) > before:
                    table.copied += len(reading.taken) - before
                    done.copy = done.copy or copy.name
                if not found.gaps:
                    return


def _take_counters(source: Source, to: sqlite3.Connection) -> None:
    """No number of a row that is gone is given again: clients keep them as cursors."""
    leaves = source.pages.leaves(source.roots.get(_COUNTERS, 0))
    rows = [row for leaf in leaves for _, row in source.pages.rows(leaf) if row and len(row) == 2]
    with suppress(sqlite3.Error):
        rows += source.db.execute(f"SELECT name, seq FROM {_COUNTERS}").fetchall()  # noqa: S608
    for name, last in rows:
        changed = to.execute(f"UPDATE {_COUNTERS} SET seq = max(seq, ?) WHERE name = ?", (last, name))  # noqa: S608
        if not changed.rowcount:
            to.execute(f"INSERT INTO {_COUNTERS} (name, seq) VALUES (?, ?)", (name, last))  # noqa: S608
