"""OpenCode's SQLite database: `session`, `message`, `part`, `todo` and `project`, records as JSON in `data`.

Columns that a version does not have yet, or no more, are taken as missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .columns import columns, info_of, parsed
from .json_file import load
from .records import MAX_RECORD, Conversation, Header, Problem, Unreadable, Wire, text
from .sqlite import PATIENCE, bounded, bytes_of, is_plain, opened

_NEEDED = {
    "session": {"id", "directory", "time_updated"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_READ = (*_NEEDED, "project", "todo", "session_message")
_LIST = """
SELECT session.*, (SELECT count(*) FROM message WHERE session_id = session.id) AS message_count
FROM session ORDER BY session.time_updated
"""


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
            return [_header(row, worktrees) for row in connection.execute(_LIST)]

    def read(self, header: Header) -> Conversation:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM session WHERE id = ?", (header.id,)).fetchone()
            if row is None:
                raise Unreadable("it was deleted meanwhile")
            read = Conversation(info=info_of(row), worktree=header.worktree)
            self._read_entries(connection, read)
            read.todos = _todos(connection, header.id)
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
                yield from (Problem(f"{table}/{row['id']}", f"its {above} is missing") for row in rows)

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
            reason = f"it takes more than {PATIENCE:g} seconds" if slow else str(error)
            raise Unreadable(f"the database cannot be read: {reason}") from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")

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
                read.problems.append(Problem(f"part/{part['id']}", "its message is missing or unreadable"))
        read.entries = list(entries.values())
        if not entries and _count(connection, "session_message", session):
            read.problems.append(
                Problem(f"session/{session}", "its messages are of OpenCode's second form, which is not read")
            )

    def _records(
        self, connection: sqlite3.Connection, table: str, session: str, problems: list[Problem]
    ) -> Iterator[Wire]:
        """What is too large is never loaded."""
        above = ", message_id" if table == "part" else ""
        rows = connection.execute(
            f"SELECT id{above}, CASE WHEN length(CAST(data AS BLOB)) <= ? THEN data END AS data"  # noqa: S608
            f" FROM {table} WHERE session_id = ? ORDER BY id",
            (MAX_RECORD, session),
        )
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
            raise Unreadable(f"{path} is not read: its `{name}` is no plain table")
    for table, needed in _NEEDED.items():
        there = {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}
        if missing := needed - there:
            wanted = ", ".join(sorted(missing)) if there else "the table itself"
            raise Unreadable(
                f"{path} is no database of OpenCode that is known here: `{table}` lacks {wanted}"
            )


def _worktrees(connection: sqlite3.Connection) -> dict[str, str]:
    try:
        return {row["id"]: row["worktree"] for row in connection.execute("SELECT id, worktree FROM project")}
    except sqlite3.OperationalError:
        return {}


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
        updated=int(found["time_updated"] or 0),
        messages=found["message_count"],
    )


def _todos(connection: sqlite3.Connection, session: str) -> list[Wire]:
    try:
        rows = connection.execute("SELECT * FROM todo WHERE session_id = ? ORDER BY position", (session,))
        return [columns(row) for row in rows]
    except sqlite3.OperationalError:
        return []


def _count(connection: sqlite3.Connection, table: str, session: str) -> int:
    try:
        query = f"SELECT count(*) FROM {table} WHERE session_id = ?"  # noqa: S608 (a name of ours)
        return int(connection.execute(query, (session,)).fetchone()[0])
    except sqlite3.OperationalError:
        return 0
