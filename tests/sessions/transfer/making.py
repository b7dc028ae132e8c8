"""OpenCode's storage in all its forms, made small: files, the first layout, a database, an export."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

Wire = dict[str, Any]

SESSION = "ses_4957d04cdffeJwdujYPBCKpIsb"
CHILD = "ses_4957d04cdffeAAdujYPBCKpIsc"
PROMPT = "msg_b6a82fb38001Ei3X3A63gRCfuN"
ANSWER = "msg_b6a82fb4d001AV4Y5VjLn2J4MS"
BEGUN = 1_767_018_527_538

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL, summary_additions integer,
  summary_deletions integer, summary_files integer, metadata text, cost real DEFAULT 0 NOT NULL,
  tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
  tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
  tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text, agent text, model text,
  time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text);
CREATE TABLE todo (session_id text NOT NULL, content text, status text, priority text, position integer);
CREATE INDEX message_by_session ON message (session_id, time_created, id);
CREATE INDEX part_by_session ON part (session_id);
"""


def session(folder: Path | str, id: str = SESSION, **more: Any) -> Wire:
    time = {"created": BEGUN, "updated": BEGUN + 60_000}
    names = {"id": id, "slug": "quiet-river", "version": "1.0.207", "projectID": "p1", "title": "Flows"}
    return {**names, "directory": str(folder), "time": time, **more}


def prompt(id: str = PROMPT, session_id: str = SESSION, **more: Any) -> Wire:
    model = {"providerID": "anthropic", "modelID": "claude"}
    base = {"id": id, "sessionID": session_id, "role": "user", "time": {"created": BEGUN + 1}}
    return {**base, "agent": "build", "model": model, **more}


def answer(folder: Path | str, id: str = ANSWER, session_id: str = SESSION, **more: Any) -> Wire:
    base = {"id": id, "sessionID": session_id, "role": "assistant", "parentID": PROMPT, "mode": "build"}
    model = {"agent": "build", "providerID": "anthropic", "modelID": "claude", "finish": "stop", "cost": 0.5}
    cache = {"read": 3, "write": 4}
    rest = {
        "path": {"cwd": str(folder), "root": str(folder)},
        "tokens": {"input": 1, "output": 2, "reasoning": 0, "cache": cache},
        "time": {"created": BEGUN + 2, "completed": BEGUN + 9},
    }
    return {**base, **model, **rest, **more}


def part(id: str, message: str, type: str = "text", session_id: str = SESSION, **fields: Any) -> Wire:
    return {"id": f"prt_{id}", "messageID": message, "sessionID": session_id, "type": type, **fields}


def conversation(folder: Path | str) -> list[Wire]:
    """A prompt, and an answer with a call, a part of a kind nobody knows, and unknown fields."""
    state = {
        "status": "completed",
        "input": {"path": "."},
        "output": "flows.py",
        "title": "list",
        "metadata": {"count": 1},
        "time": {"start": BEGUN + 3, "end": BEGUN + 4},
    }
    parts = [
        part("01", ANSWER, "tool", tool="list", callID="c1", state=state, future={"kept": True}),
        part("02", ANSWER, "hologram-of-a-long-kind", beams=3),
        part("03", ANSWER, text="One flow.", time={"start": BEGUN + 5, "end": BEGUN + 6}),
    ]
    return [
        {"info": prompt(mood="kept"), "parts": [part("00", PROMPT, text="List the flows")]},
        {"info": answer(folder), "parts": parts},
    ]


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))


def files(data: Path, info: Wire, entries: list[Wire]) -> Path:
    """One session in the layout of now, below a data folder; returns its `storage`."""
    storage, project = data / "storage", info["projectID"]
    worktree = {"id": project, "worktree": info["directory"], "vcs": "git"}
    write(storage / "project" / f"{project}.json", worktree)
    write(storage / "session" / project / f"{info['id']}.json", info)
    for entry in entries:
        message = entry["info"]["id"]
        write(storage / "message" / info["id"] / f"{message}.json", entry["info"])
        for item in entry["parts"]:
            write(storage / "part" / message / f"{item['id']}.json", item)
    return storage


def first_layout(data: Path, info: Wire, entries: list[Wire]) -> None:
    """The same in the layout before migration 0: the session names neither project nor folder."""
    root = data / "project" / "home-me-flows" / "storage" / "session"
    bare = {key: value for key, value in info.items() if key not in ("projectID", "directory")}
    write(root / "info" / f"{info['id']}.json", bare)
    for entry in entries:
        message = entry["info"]["id"]
        write(root / "message" / info["id"] / f"{message}.json", entry["info"])
        for item in entry["parts"]:
            write(root / "part" / info["id"] / message / f"{item['id']}.json", item)


def database(path: Path, info: Wire, entries: list[Wire]) -> sqlite3.Connection:
    """The same as a database with a write-ahead log; the connection is still open, as OpenCode's is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(SCHEMA)
    connection.execute("INSERT INTO project (id, worktree) VALUES ('p1', ?)", (info["directory"],))
    add(connection, info, entries)
    return connection


def add(connection: sqlite3.Connection, info: Wire, entries: list[Wire]) -> None:
    """A session, or what is new of it."""
    time = info["time"]
    row = (info["id"], "p1", info.get("parentID"), info["slug"], info["directory"], info["title"])
    more = (info["version"], json.dumps(info.get("permission")), time["created"], time["updated"])
    connection.execute(
        "INSERT OR REPLACE INTO session (id, project_id, parent_id, slug, directory, title, version,"
        " permission, time_created, time_updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row + more,
    )
    for entry in entries:
        message = entry["info"]
        connection.execute(
            "INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?)",
            (message["id"], info["id"], BEGUN, _data(message)),
        )
        for item in entry["parts"]:
            connection.execute(
                "INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?)",
                (item["id"], message["id"], info["id"], _data(item)),
            )


def _data(record: Wire) -> str:
    return json.dumps(
        {key: value for key, value in record.items() if key not in ("id", "sessionID", "messageID")}
    )


def export(path: Path, info: Wire, entries: list[Wire], **more: Any) -> Path:
    write(path, {"info": info, "messages": entries, **more})
    return path


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its time of change and its content. The index of a log is shared memory of its readers
    (SQLite, "WAL-mode File Format"): of it only the name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            index = path.name.endswith("-shm")
            found[str(path)] = (0, b"") if index else (path.stat().st_mtime_ns, path.read_bytes())
    return found
