"""The Context Source `core/review`: what the user took back of the session's changes, so it is not put back.

Verdicts are rows; the source shows those that stand. So the model is told at the next safe boundary, a redo
takes a verdict out of it, and after a compaction it is still known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.agent.context.source import Source
from agents.agent.context.sources.notes import Notes, source
from agents.toolkit.turn import Turn
from sessions.core.models import Operation
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import operations

KEY = "core/review"
_NEWEST = 20  # verdicts that are told
_HUNKS = 12  # of one verdict
_LINES = 8  # of one hunk

REMOVAL = "The user has brought back what was taken back of your changes; the files have it again."


async def produce(turn: Turn) -> Sequence[Source[Any]]:
    return [source(KEY, _standing, turn.session.id, _told, REMOVAL)]


def _standing(session_id: str) -> Notes | None:
    rows = operations.standing(session_id, ("undo", "drop"), _NEWEST)
    return tuple((row.id, _note(row)) for row in rows if row.hunks) or None


def _told(listed: str) -> str:
    return (
        "The user has reviewed your changes and taken these back. They are no longer in the files; do not "
        f"make them again unless the user asks for it. Read a file again before you edit it.\n{listed}"
    )


def _note(row: Operation) -> str:
    lines = [_hunk(hunk) for hunk in row.hunks[:_HUNKS]]
    if len(row.hunks) > _HUNKS:
        lines.append(f"- and {len(row.hunks) - _HUNKS} more places")
    if row.words:
        lines.append(f"  The user says about this: {row.words}")
    return "\n".join(lines)


def _hunk(hunk: Mapping[str, Any]) -> str:
    name = shown(unpack_path(hunk["path"]))
    if not hunk["added"] and not hunk["removed"]:
        return f"- {name}: all of your changes to this file"
    return "\n".join(
        [f"- {name}, line {hunk['line']}:", *_side("-", hunk["removed"]), *_side("+", hunk["added"])]
    )


def _side(sign: str, text: str) -> list[str]:
    lines = text.splitlines()
    cut = [f"  {sign} ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
    return [f"  {sign}{line}" for line in lines[:_LINES]] + cut
