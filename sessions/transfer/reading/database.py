"""OpenCode's SQLite database: `session`, `message`, `part`, `todo` and `project`, records as JSON in `data`.

Columns that a version does not have yet, or no more, are taken as missing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.utils.translation.trans_null import gettext_noop

from sessions.core.sentences import Sentence, sentence_of
from sessions.transfer.reading.json_file import load, parse
from sessions.transfer.reading.layouts import objects_of
from sessions.transfer.reading.records import (
    MAX_RECORD,
    Conversation,
    Header,
    Problem,
    Unreadable,
    Wire,
    number,
    text,
)

_NEEDED = {
    "session": {"id", "directory", "time_updated"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_READ = (*_NEEDED, "project", "todo", "session_message")
_LIST = """
SELECT session.*, (SELECT count(*) FROM message WHERE session_id = session.id) AS message_count
FROM session
"""
_BARE = "SELECT session.*, 0 AS message_count FROM session"


class Database:
    """Each session is read in a transaction of its own, so it is whole while OpenCode goes on writing."""

    kind = "database"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._open = ExitStack()
        self._connection: sqlite3.Connection | None = None

    def headers(self) -> list[Header]:
        with self._reading() as connection:
            _check(connection, self.path)
            worktrees = _worktrees(connection)
            return [_header(row, worktrees) for row in self._listed(connection)]

    def read(self, header: Header) -> Conversation:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM session WHERE id = ?", (header.id,)).fetchone()
            if row is None:
                raise Unreadable(Sentence("it was deleted meanwhile"))
            objects = objects_of(self.path.parent, header.project)
            read = Conversation(info=info_of(row), worktree=header.worktree, objects=objects)
            self._read_entries(connection, read)
            read.todos = _todos(connection, header.id, read.problems)
            read.diffs = self._diffs(header.id, read.problems)
            return read

    def size(self) -> int:
        return bytes_of(self.path)

    def leftovers(self, headers: Sequence[Header]) -> Iterator[Problem]:
        with self._reading() as connection:
            for table, above in (("message", "session"), ("part", "message")):
                rows = connection.execute(
                    f"SELECT id FROM {table} WHERE {above}_id NOT IN (SELECT id FROM {above})"  # noqa: S608
                )
                yield from (
                    Problem(f"{table}/{row['id']}", Sentence("its %(above)s is missing", above=above))
                    for row in rows
                )

    def close(self) -> None:
        self._open.close()
        self._connection = None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """In one transaction. Raises Unreadable for a database that is damaged or cannot be opened."""
        if self._connection is None:
            self._connection = self._open.enter_context(opened(self.path))
        try:
            bounded(self._connection)
            self._connection.execute("BEGIN")
            yield self._connection
        except sqlite3.DatabaseError as error:
            slow = str(error) == "interrupted"
            late = Sentence("it takes more than %(seconds)s seconds", seconds=f"{PATIENCE:g}")
            reason = late if slow else str(error)
            raise Unreadable(Sentence("the database cannot be read: %(reason)s", reason=reason)) from error
        finally:
            if self._connection.in_transaction:
                with suppress(sqlite3.DatabaseError):  # of a damaged page, once more
                    self._connection.execute("ROLLBACK")

    def _listed(self, connection: sqlite3.Connection) -> list[sqlite3.Row]:
        """With damaged pages: those on the others, and how many messages each has where that can be told."""
        self.problems.clear()
        try:
            return connection.execute(f"{_LIST} ORDER BY session.time_updated").fetchall()
        except sqlite3.DatabaseError as error:
            _only_damage(error)
        rows, lost = _one_by_one(connection, "session", "1", (), f"{_LIST} WHERE session.rowid = ?")
        if lost:
            more, lost = _one_by_one(connection, "session", "1", (), f"{_BARE} WHERE session.rowid = ?")
            known = {row["id"] for row in rows}
            rows += [row for row in more if row["id"] not in known]
        if lost:
            self.problems.append(Problem(str(self.path), _damaged(lost, "session")))
        return rows

    def _read_entries(self, connection: sqlite3.Connection, read: Conversation) -> None:
        session = read.info["id"]
        entries: dict[str, Wire] = {
            info["id"]: {"info": {**info, "sessionID": session}, "parts": []}
            for info in self._records(connection, "message", session, read.problems)
        }
        for part in self._records(connection, "part", session, read.problems):
            if part["messageID"] in entries:
                entries[part["messageID"]]["parts"].append({**part, "sessionID": session})
            else:
                read.problems.append(
                    Problem(
                        f"part/{part['id']}",
                        Sentence("its message is missing or unreadable"),
                    )
                )
        read.entries = list(entries.values())
        if not entries and _count(connection, "session_message", session):
            read.problems.append(
                Problem(
                    f"session/{session}",
                    Sentence("its messages are of OpenCode's second form, which is not read"),
                )
            )

    def _records(
        self, connection: sqlite3.Connection, table: str, session: str, problems: list[Problem]
    ) -> Iterator[Wire]:
        """What is too large is never loaded."""
        above = ", message_id" if table == "part" else ""
        data = f"CASE WHEN length(CAST(data AS BLOB)) <= {MAX_RECORD} THEN data END AS data"
        query = f"SELECT id{above}, {data} FROM {table}"  # noqa: S608
        try:
            rows = connection.execute(f"{query} WHERE session_id = ? ORDER BY id", (session,)).fetchall()
        except sqlite3.DatabaseError as error:
            _only_damage(error)
            rows, lost = _one_by_one(
                connection, table, "session_id = ?", (session,), f"{query} WHERE rowid = ?"
            )
            rows.sort(key=lambda row: text(row["id"]))
            if lost:
                problems.append(Problem(f"session/{session}", _damaged(lost, table)))
        for row in rows:
            found = parsed(row["data"])
            if isinstance(found, Problem):
                problems.append(Problem(f"{table}/{row['id']}", found.reason))
                continue
            yield {**found, "id": row["id"], **({"messageID": row["message_id"]} if above else {})}

    def _diffs(self, session: str, problems: list[Problem]) -> list[Wire]:
        """They are still files, beside the database."""
        name = f"storage/session_diff/{session}.json"
        file = self.path.parent / name
        if not file.exists():
            return []
        try:
            found = load(file)
        except Unreadable as error:
            problems.append(Problem(name, str(error)))
            return []
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _check(connection: sqlite3.Connection, path: Path) -> None:
    for name in _READ:
        if not is_plain(connection, name):
            raise Unreadable(
                Sentence("%(path)s is not read: its `%(name)s` is no plain table", path=path, name=name)
            )
    for table, needed in _NEEDED.items():
        there = {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}
        if missing := needed - there:
            wanted = ", ".join(sorted(missing)) if there else "the table itself"
            raise Unreadable(
                Sentence(
                    "%(path)s is no database of OpenCode that is known here: `%(table)s` lacks %(wanted)s",
                    path=path,
                    table=table,
                    wanted=wanted,
                )
            )


def _worktrees(connection: sqlite3.Connection) -> dict[str, str]:
    try:
        return {row["id"]: row["worktree"] for row in connection.execute("SELECT id, worktree FROM project")}
    except sqlite3.OperationalError:
        return {}
    except sqlite3.DatabaseError as error:
        _only_damage(error)
        return {}  # the sessions know their own folders


def _one_by_one(
    connection: sqlite3.Connection, table: str, where: str, given: tuple[str, ...], query: str
) -> tuple[list[sqlite3.Row], int]:
    """The rows that can be read of a table with damaged pages, and how many cannot: an index names them all.
    `query` takes a row's number. Raises sqlite3.DatabaseError where the index is damaged as well."""
    listed = connection.execute(f"SELECT rowid FROM {table} WHERE {where}", given).fetchall()  # noqa: S608
    rows, lost = [], 0
    for (at,) in listed:
        try:
            rows += connection.execute(query, (at,)).fetchall()
        except sqlite3.DatabaseError as error:
            _only_damage(error)
            lost += 1
    return rows, lost


def _only_damage(error: sqlite3.DatabaseError) -> None:
    """Raise any other error again."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
        raise error


_DAMAGED = {
    "session": (
        gettext_noop("1 session is on damaged pages of the database"),
        gettext_noop("%(lost)s sessions are on damaged pages of the database"),
    ),
    "message": (
        gettext_noop("1 message is on damaged pages of the database"),
        gettext_noop("%(lost)s messages are on damaged pages of the database"),
    ),
    "part": (
        gettext_noop("1 part is on damaged pages of the database"),
        gettext_noop("%(lost)s parts are on damaged pages of the database"),
    ),
}


def _damaged(lost: int, table: str) -> str:
    """`table` is that of sessions, messages or parts."""
    one, many = _DAMAGED[table]
    return Sentence(one) if lost == 1 else Sentence(many, lost=f"{lost:,}")


def _header(row: sqlite3.Row, worktrees: dict[str, str]) -> Header:
    found = columns(row)
    project = text(found.get("project_id"))
    worktree = worktrees.get(project, "")
    return Header(
        id=text(found["id"]),
        parent=text(found.get("parent_id")),
        title=text(found.get("title")),
        directory=text(found["directory"]),
        worktree=worktree if worktree != "/" else "",
        project=project,
        updated=number(found["time_updated"]),
        messages=found["message_count"],
    )


def _todos(connection: sqlite3.Connection, session: str, problems: list[Problem]) -> list[Wire]:
    try:
        rows = connection.execute("SELECT * FROM todo WHERE session_id = ? ORDER BY position", (session,))
        return [columns(row) for row in rows]
    except sqlite3.OperationalError:
        return []
    except sqlite3.DatabaseError as error:
        _only_damage(error)
        problems.append(
            Problem(
                f"session/{session}",
                Sentence("its todos are on a damaged page of the database"),
            )
        )
        return []


def _count(connection: sqlite3.Connection, table: str, session: str) -> int:
    try:
        query = f"SELECT count(*) FROM {table} WHERE session_id = ?"  # noqa: S608 (a name of ours)
        return int(connection.execute(query, (session,)).fetchone()[0])
    except sqlite3.OperationalError:
        return 0


# Open somebody else's SQLite database without writing a byte beside or into it.

WAIT = 10.0
"""Seconds to wait for a writer that holds the database."""
PATIENCE = 60.0
"""Seconds that one reading may take."""
_STEPS = 10_000
"""Of SQLite's machine between two looks at the clock: some tenths of a millisecond."""


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read, also beside a program that writes. Raises Unreadable.

    Without a write-ahead log the file is read as it lies there. With one and its index, some program has the
    database open: we join it. With a log that nobody has open (after a crash), SQLite would make a new index
    beside it, so a copy is read instead (SQLite, "Write-Ahead Logging", Read-Only Databases).
    """
    with tempfile.TemporaryDirectory(prefix="opencode-web-import-") as folder:
        try:
            uri = _uri(path, Path(folder))
            with closing(_connected(uri)) as connection:
                connection.row_factory = sqlite3.Row
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                connection.execute("PRAGMA trusted_schema=OFF")
                bounded(connection)
                connection.execute("SELECT count(*) FROM sqlite_master")
                yield connection
        except (sqlite3.DatabaseError, OSError) as error:
            raise Unreadable(
                Sentence("%(path)s cannot be read: %(error)s", path=path, error=error)
            ) from error


def _connected(uri: str) -> sqlite3.Connection:
    """For any thread, one at a time; transactions are the caller's."""
    return sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)


def bounded(connection: sqlite3.Connection) -> None:
    """From now on the connection has PATIENCE for what it is asked; then it raises OperationalError: what is
    in the database may have been made to be read for ever."""
    end = time.monotonic() + PATIENCE
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)


def is_plain(connection: sqlite3.Connection, name: str) -> bool:
    """Whether it only holds rows, if there is such a thing: a view, a table of a module and a computed column
    run what the database says."""
    found = connection.execute(
        "SELECT type, rootpage FROM sqlite_master WHERE name = ? COLLATE NOCASE", (name,)
    ).fetchall()
    if any(row["type"] != "table" or not row["rootpage"] for row in found):
        return False
    return all(column["hidden"] == 0 for column in connection.execute(f"PRAGMA table_xinfo({name})"))


def _uri(path: Path, scratch: Path) -> str:
    with path.open("rb") as file:
        if file.read(16) not in (b"", b"SQLite format 3\0"):
            raise Unreadable(Sentence("%(path)s is no SQLite database", path=path))
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    if not log.exists() or log.stat().st_size == 0:
        return f"file:{quote(str(path))}?mode=ro&immutable=1"
    if index.exists():
        return f"file:{quote(str(path))}?mode=ro"
    copy = scratch / path.name
    for part in (path, log):
        shutil.copyfile(part, scratch / part.name)
    return f"file:{quote(str(copy))}"


def bytes_of(path: Path) -> int:
    """Of the database with its log."""
    log = path.with_name(path.name + "-wal")
    return sum(os.stat(part).st_size for part in (path, log) if part.exists())


# Rows of OpenCode's database as the records they are on the wire.

_JSON = ("permission", "model", "metadata", "revert")
_TEXT = {"slug": "slug", "title": "title", "version": "version", "agent": "agent"}
_SUMS = {
    "input": "tokens_input",
    "output": "tokens_output",
    "reasoning": "tokens_reasoning",
    "read": "tokens_cache_read",
    "write": "tokens_cache_write",
}


def info_of(row: sqlite3.Row) -> Wire:
    """The session as OpenCode has it on the wire."""
    found = columns(row)
    info: Wire = {"id": found["id"], "projectID": found.get("project_id"), "directory": found["directory"]}
    info |= {key: found[column] for key, column in _TEXT.items() if column in found}
    for name in _JSON:
        if isinstance(value := parsed(found.get(name) or "", any_kind=True), dict | list):
            info[name] = value
    info["parentID"] = found.get("parent_id")
    info["time"] = {
        "created": found.get("time_created"),
        "updated": found["time_updated"],
        "archived": found.get("time_archived"),
    }
    counts = {key: found.get(f"summary_{key}") for key in ("additions", "deletions", "files")}
    if all(isinstance(count, int) for count in counts.values()):
        info["summary"] = counts
    if "tokens_input" in found:
        sums = {key: found.get(column) or 0 for key, column in _SUMS.items()}
        cache = {key: sums.pop(key) for key in ("read", "write")}
        info["tokens"] = {**sums, "cache": cache}
        info["cost"] = found.get("cost") or 0
    if url := text(found.get("share_url")):
        info["share"] = {"url": url}
    return info


def columns(row: sqlite3.Row) -> Wire:
    return {key: row[key] for key in row.keys()}  # noqa: SIM118 (a row iterates its values)


def parsed(data: Any, *, any_kind: bool = False) -> Any:
    """The JSON of a column, or the Problem with it."""
    if data is None:
        return Problem("", Sentence("larger than %(most)s MB", most=MAX_RECORD // 1024 // 1024))
    try:
        found = parse(data if isinstance(data, bytes | str) else str(data))
    except Unreadable as error:
        return Problem("", sentence_of(error))
    return found if any_kind or isinstance(found, dict) else Problem("", Sentence("holds no JSON object"))
