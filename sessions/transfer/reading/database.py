"""OpenCode's SQLite database: `session`, `message`, `part`, `todo` and `project`, records as JSON in `data`.

Columns that a version does not have yet, or no more, are taken as missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .json_file import load, parse
from .records import MAX_RECORD, Conversation, Header, Problem, Unreadable, Wire, text
from .sqlite import bytes_of, opened

_NEEDED = {
    "session": {"id", "directory", "time_updated"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_JSON = {"permission": "permission", "model": "model", "metadata": "metadata"}
_TEXT = {"slug": "slug", "title": "title", "version": "version", "agent": "agent"}
_SUMS = {
    "input": "tokens_input",
    "output": "tokens_output",
    "reasoning": "tokens_reasoning",
    "read": "tokens_cache_read",
    "write": "tokens_cache_write",
}
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
            read = Conversation(info=_info(row), worktree=header.worktree)
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
            self._connection.execute("BEGIN")
            yield self._connection
        except sqlite3.DatabaseError as error:
            raise Unreadable(f"the database cannot be read: {error}") from error
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
            found = _parsed(row["data"])
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
    for table, needed in _NEEDED.items():
        columns = {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}
        if missing := needed - columns:
            wanted = ", ".join(sorted(missing)) if columns else "the table itself"
            raise Unreadable(
                f"{path} is no database of OpenCode that is known here: `{table}` lacks {wanted}"
            )


def _worktrees(connection: sqlite3.Connection) -> dict[str, str]:
    try:
        return {row["id"]: row["worktree"] for row in connection.execute("SELECT id, worktree FROM project")}
    except sqlite3.OperationalError:
        return {}


def _header(row: sqlite3.Row, worktrees: dict[str, str]) -> Header:
    found = _columns(row)
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


def _info(row: sqlite3.Row) -> Wire:
    """The session as OpenCode has it on the wire."""
    found = _columns(row)
    info: Wire = {"id": found["id"], "projectID": found.get("project_id"), "directory": found["directory"]}
    info |= {key: found[column] for key, column in _TEXT.items() if column in found}
    for key, column in _JSON.items():
        if isinstance(value := _parsed(found.get(column) or "", any_kind=True), dict | list):
            info[key] = value
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
        info["tokens"] = {**sums, "cache": {"read": sums.pop("read"), "write": sums.pop("write")}}
        info["cost"] = found.get("cost") or 0
    return info


def _columns(row: sqlite3.Row) -> Wire:
    return {key: row[key] for key in row.keys()}  # noqa: SIM118 (a row iterates its values)


def _parsed(data: Any, *, any_kind: bool = False) -> Any:
    """The JSON of a column, or the Problem with it."""
    if data is None:
        return Problem("", f"larger than {MAX_RECORD // 1024 // 1024} MB")
    try:
        found = parse(data if isinstance(data, bytes | str) else str(data))
    except Unreadable as error:
        return Problem("", str(error))
    return found if any_kind or isinstance(found, dict) else Problem("", "holds no JSON object")


def _todos(connection: sqlite3.Connection, session: str) -> list[Wire]:
    try:
        rows = connection.execute("SELECT * FROM todo WHERE session_id = ? ORDER BY position", (session,))
        return [_columns(row) for row in rows]
    except sqlite3.OperationalError:
        return []


def _count(connection: sqlite3.Connection, table: str, session: str) -> int:
    try:
        query = f"SELECT count(*) FROM {table} WHERE session_id = ?"  # noqa: S608 (a name of ours)
        return int(connection.execute(query, (session,)).fetchone()[0])
    except sqlite3.OperationalError:
        return 0
