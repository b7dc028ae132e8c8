"""The Context Source `core/kept`: which staged edits the user has kept, and so are in the working tree now.

What was dropped is told by `core/review`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.agent.context.source import Source
from agents.agent.context.sources.notes import Notes, source
from agents.toolkit.turn import Turn
from sessions.core.models import Operation
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import operations

KEY = "core/kept"
_NEWEST = 10  # verdicts that are told
_FILES = 20  # of one verdict

REMOVAL = "What the user had kept of your staged edits waits for review again; it left the working tree."


async def produce(turn: Turn) -> Sequence[Source[Any]]:
    return [source(KEY, _standing, turn.session.id, _told, REMOVAL)]


def _standing(session_id: str) -> Notes | None:
    rows = operations.standing(session_id, ("keep",), _NEWEST)
    return tuple((row.id, _note(row)) for row in rows) or None


def _told(listed: str) -> str:
    return f"The user has kept these of your staged edits. They are in the working tree now:\n{listed}"


def _note(row: Operation) -> str:
    lines: dict[str, list[str]] = {}
    for hunk in row.hunks:
        where = lines.setdefault(shown(unpack_path(hunk["path"])), [])
        if hunk["key"]:
            where.append(str(hunk["line"]))
    told = [_file(name, where) for name, where in list(lines.items())[:_FILES]]
    if len(lines) > _FILES:
        told.append(f"- and {len(lines) - _FILES} more files")
    if row.words:
        told.append(f"  The user says about this: {row.words}")
    return "\n".join(told)


def _file(name: str, lines: Sequence[str]) -> str:
    return f"- {name}: the hunk{'s' * (len(lines) > 1)} at line {', '.join(lines)}" if lines else f"- {name}"
