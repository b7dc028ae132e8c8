"""A database of an earlier program comes to the schema of today with its rows (docs/decisions/0031)."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


pytestmark = pytest.mark.sqlite


def migrate(data: Path, *until: str) -> sqlite3.Connection:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0", *until],
        cwd=ROOT,
        env={**os.environ, "XDG_DATA_HOME": str(data)},
        check=True,
    )
    return sqlite3.connect(data / "opencode-web" / "db.sqlite3")


def insert(database: sqlite3.Connection, table: str, **values: Any) -> None:
    """A row with these values; the columns that must have one get an empty one."""
    columns = database.execute(f"PRAGMA table_info(opencode_sessions_{table})").fetchall()
    for _, name, kind, required, _, primary in columns:
        if required and not primary and name not in values:
            values[name] = ("{}" if kind == "TEXT" else "") if kind.lower()[:4] in ("text", "varc") else 0
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    database.execute(
        f"INSERT INTO opencode_sessions_{table} ({names}) VALUES ({marks})",  # noqa: S608
        list(values.values()),
    )


def schema(database: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: sorted(row[1:] for row in database.execute(f"PRAGMA table_info({name})")) for name in tables
    }


@pytest.fixture(scope="module")
def brought_forward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """From the fifth migration, the last one when the first people had it."""
    data = tmp_path_factory.mktemp("data")
    empty = {"commands": "{}", "icon": "{}"}
    texts = dict.fromkeys(("permission", "summary", "tokens", "status", "window"), "{}")
    with closing(migrate(data, "opencode_sessions", "0005")) as old, old:
        insert(old, "project", id="p", worktree="/p", **empty)
        insert(old, "session", id="s", project_id="p", title="Old", time_updated=7, **texts)
        for number, origin in enumerate(("command", "tool")):
            values = {"id": number, "origin": origin, "mode_after": 0o100644, "path": f"{number}.txt"}
            insert(old, "filechange", session_id="s", project_id="p", **values)
        insert(old, "stagedfile", session_id="s", path="0.txt", content="c")
        insert(old, "message", id="m", session_id="s", role="user", data="{}")
        for type in ("session.created", "session.idle", "message.updated"):
            insert(old, "event", type=type, session_id="s", project_id="p", reference="{}")
    with closing(migrate(data)) as now:
        yield now


def test_rows_come_along_and_are_brought_forward(brought_forward: sqlite3.Connection) -> None:
    def rows(query: str) -> list[tuple[Any, ...]]:
        return brought_forward.execute(query).fetchall()

    assert rows("SELECT id, title, used FROM opencode_sessions_session") == [("s", "Old", 7)]
    assert rows("SELECT path, mode_after FROM opencode_sessions_filechange ORDER BY id") == [
        ("0.txt", 0o100600),
        ("1.txt", 0o100644),
    ]
    assert rows("SELECT project_id, path, content FROM opencode_sessions_stagedfile") == [("p", "0.txt", "c")]


def test_the_log_is_counted_after_the_rows_that_it_may_not_name(brought_forward: sqlite3.Connection) -> None:
    numbers = brought_forward.execute("SELECT number FROM opencode_sessions_event ORDER BY id").fetchall()
    assert numbers == [(2,), (None,), (3,)]


def test_a_new_database_has_the_same_schema(brought_forward: sqlite3.Connection, tmp_path: Path) -> None:
    with closing(migrate(tmp_path)) as new:
        assert schema(new) == schema(brought_forward)
