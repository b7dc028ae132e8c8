"""Databases of the app with conversations in them, and ways to damage them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection

PAGE = 4096
SESSION, MESSAGE, PART = (f"opencode_sessions_{name}" for name in ("session", "message", "part"))


def conversations(file: Path, sessions: int = 6, messages: int = 12, wal: bool = True) -> None:
    """A database with the tables of the tests' own; each message has two parts, each session its log."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
        schema = [sql for (sql,) in cursor.fetchall()]
        cursor.execute("SELECT app, name, applied FROM django_migrations")
        applied = cursor.fetchall()
    with closing(sqlite3.connect(file)) as db, db:
        if wal:
            db.execute("PRAGMA journal_mode=WAL")
        for sql in schema:
            db.execute(sql)
        db.executemany(
            "INSERT INTO django_migrations (app, name, applied) VALUES (?, ?, ?)",
            [tuple(map(str, row)) for row in applied],
        )
        add(db, "opencode_sessions_project", id="p" * 40, worktree="/work/thing", name="thing")
        for s in range(sessions):
            session = f"ses_{s:03}"
            add(
                db,
                SESSION,
                id=session,
                project_id="p" * 40,
                directory="/work/thing",
                title="x" * 1200,
                permission="[]",
            )
            for m in range(messages):
                message = f"msg_{s:03}{m:03}"
                add(
                    db,
                    MESSAGE,
                    id=message,
                    session_id=session,
                    role="user",
                    data=json.dumps({"time": {"created": m}}),
                )
                add(
                    db,
                    "opencode_sessions_event",
                    type="message.updated",
                    project_id="p" * 40,
                    session_id=session,
                )
                for part in range(2):
                    data = json.dumps({"text": f"{message} {part} " + "word " * 200})
                    add(
                        db,
                        PART,
                        id=f"prt_{s:03}{m:03}{part}",
                        message_id=message,
                        session_id=session,
                        type="text",
                        data=data,
                    )


def count(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def leaves(file: Path, table: str) -> list[int]:
    """The pages that hold the rows of a table, from 1, in the order of the rows (fileformat2, 1.6)."""
    with closing(sqlite3.connect(file)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return _leaves(file.read_bytes(), int(root))


def schema_pages(file: Path) -> list[int]:
    """The pages that hold the list of tables, but for the first."""
    return _leaves(file.read_bytes(), 1)


def spoil(file: Path, *pages: int) -> None:
    """Overwrite whole pages."""
    data = bytearray(file.read_bytes())
    for page in pages:
        data[(page - 1) * PAGE : page * PAGE] = b"\xff" * PAGE
    file.write_bytes(data)


def _leaves(data: bytes, page: int) -> list[int]:
    start = (page - 1) * PAGE
    at = start + 100 if page == 1 else start
    if data[at] == 0x0D:
        return [page]
    cells = int.from_bytes(data[at + 3 : at + 5], "big")
    places = [int.from_bytes(data[at + 12 + 2 * n : at + 14 + 2 * n], "big") for n in range(cells)]
    below = [int.from_bytes(data[start + place : start + place + 4], "big") for place in places]
    below.append(int.from_bytes(data[at + 8 : at + 12], "big"))
    return [leaf for child in below for leaf in _leaves(data, child)]


def add(db: sqlite3.Connection, table: str, **values: Any) -> None:
    """A row; columns that are required and not given are empty."""
    (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    for _, column, kind, required, _, key in db.execute(f'PRAGMA table_info("{table}")').fetchall():
        if required and not key and column not in values:
            empty = "{}" if f'JSON_VALID("{column}")' in sql else ""
            values[column] = empty if kind.lower().startswith(("text", "varchar")) else 0
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    db.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(values.values()))  # noqa: S608
