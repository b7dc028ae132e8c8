"""Databases of the app with conversations in them, and ways to damage them."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection

from sessions.core.index import fts

PAGE = 4096
SESSION, MESSAGE, PART = (f"opencode_sessions_{name}" for name in ("session", "message", "part"))


def conversations(file: Path, sessions: int = 6, messages: int = 12, wal: bool = True) -> None:
    """A database with the tables of the tests' own; each message has two parts, each session its log."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        own = [(name, sql) for name, sql in cursor.fetchall() if not name.startswith(("sqlite_", fts.PREFIX))]
        schema = [sql for _, sql in own]
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


def grown(file: Path, empty: Path, sessions: int = 6) -> None:
    """A database as the migrations made it, with conversations that went on side by side, of twenty questions
    and answers with three parts each; some parts take several pages."""
    shutil.copyfile(empty, file)
    chance = random.Random(1)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("PRAGMA secure_delete=OFF")
        add(db, "opencode_sessions_project", id="p" * 40, worktree="/work/thing", name="thing")
        names = [f"ses_{s:026}" for s in range(sessions)]
        for session in names:
            row = {"project_id": "p" * 40, "directory": "/work/thing", "permission": "[]"}
            add(db, SESSION, id=session, title="x" * 1200, **row)
        for m in range(20):
            for s, session in enumerate(names):
                message = f"msg_{s:012}{m:014}"
                path = {"path": {"root": "/work/thing", "cwd": "/work/thing"}} if m % 2 else {}
                data = json.dumps({"time": {"created": m}} | path)
                add(db, MESSAGE, id=message, session_id=session, role="user", time_created=m + 1, data=data)
                for p in range(3):
                    part, text = f"prt_{s:012}{m:012}{p:02}", "word " * chance.choice((9, 99, 199, 2999))
                    row = {"message_id": message, "session_id": session, "type": "text"}
                    add(db, PART, id=part, data=json.dumps({"text": text}), **row)
                    told = {"project_id": "p" * 40, "session_id": session, "time_created": m + 1}
                    add(db, "opencode_sessions_event", type="message.part.updated", **told)


def ids(file: Path, table: str) -> set[str]:
    with closing(sqlite3.connect(file)) as db:
        return {id_ for (id_,) in db.execute(f"SELECT id FROM {table}")}  # noqa: S608


def present(file: Path, table: str, gone: set[int]) -> set[str]:
    """The ids of the rows of which no page is gone, in a sound file."""
    data = file.read_bytes()
    with closing(sqlite3.connect(file)) as db:
        names = dict(db.execute(f"SELECT rowid, id FROM {table}"))  # noqa: S608
    found = {}
    for page in leaves(file, table):
        start = (page - 1) * PAGE
        for n in range(int.from_bytes(data[start + 3 : start + 5], "big")):
            at = start + int.from_bytes(data[start + 8 + 2 * n : start + 10 + 2 * n], "big")
            size, at = _varint(data, at)
            number, at = _varint(data, at)
            found[names.pop(number)] = {page, *_overflow(data, at, size)}
    assert not names
    return {id_ for id_, pages in found.items() if not pages & gone}


def blank(file: Path, gone: set[int]) -> None:
    """Overwrite pages with nothing; if they are the last ones, cut the file off within the first of them."""
    data = bytearray(file.read_bytes())
    for page in gone:
        data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    is_end = gone == set(range(min(gone), len(data) // PAGE + 1))
    file.write_bytes(data[: (min(gone) - 1) * PAGE + 100] if is_end else data)


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


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    while data[at] & 0x80:
        value, at = value << 7 | data[at] & 0x7F, at + 1
    return value << 7 | data[at], at + 1


def _overflow(data: bytes, at: int, size: int) -> set[int]:
    """The pages that a row of so many bytes goes on in (fileformat2, 1.6)."""
    if size <= PAGE - 35:
        return set()
    least = (PAGE - 12) * 32 // 255 - 23
    here = least + (size - least) % (PAGE - 4)
    at += here if here <= PAGE - 35 else least
    found = set()
    while page := int.from_bytes(data[at : at + 4], "big"):
        found.add(page)
        at = (page - 1) * PAGE
    return found


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
