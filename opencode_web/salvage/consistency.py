"""Rows of a salvaged database that name others which are lost."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from .report import Salvaged
from .tables import insert

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
