"""What the user decided about the session's changes: `core/review` tells what was taken back, so it is not
put back, and `core/kept` which staged edits were kept, and so are in the working tree now.

Verdicts are rows; the sources show those that stand. So the model is told at the next safe boundary, a redo
takes a verdict out of them, and after a compaction they are still known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agents.agent.context.source import Source
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.models import Operation
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import operations

REVIEW, KEPT = "core/review", "core/kept"
_TAKEN_BACK, _KEPT = ("undo", "drop"), ("keep",)
_MOST = {_TAKEN_BACK: 20, _KEPT: 10}  # verdicts that are told
_HUNKS = 12  # of one verdict
_LINES = 8  # of one hunk
_FILES = 20  # of one verdict

Notes = tuple[tuple[str, str], ...]
"""(id of the operation, what the model is told of it), oldest first."""


async def produce(turn: Turn) -> Sequence[Source[Any]]:
    taken, kept = await in_db(_standing, turn.session.id)
    return [
        _source(
            REVIEW,
            taken,
            "The user has reviewed your changes and taken these back. They are no longer in the files; do "
            "not make them again unless the user asks for it. Read a file again before you edit it.",
            "The user has brought back what was taken back of your changes; the files have it again.",
        ),
        _source(
            KEPT,
            kept,
            "The user has kept these of your staged edits. They are in the working tree now:",
            "What the user had kept of your staged edits waits for review again; it left the working tree.",
        ),
    ]


def _source(key: str, notes: Notes, told: str, removal: str) -> Source[Notes]:
    async def load() -> Notes | None:
        return notes or None

    def render(notes: Notes) -> str:
        return "\n".join([told, *(text for _, text in notes)])

    return Source(key, load, _encode, render, render, lambda notes: removal)


def _encode(notes: Notes) -> list[list[str]]:
    return [list(note) for note in notes]


def _standing(session_id: str) -> tuple[Notes, Notes]:
    """Of what was taken back, and of what was kept."""
    rows = operations.standing(session_id, _MOST)
    return (
        _notes((row for row in rows if row.kind in _TAKEN_BACK and row.hunks), _taken_back),
        _notes((row for row in rows if row.kind in _KEPT), _kept),
    )


def _notes(rows: Iterable[Operation], told: Callable[[Operation], str]) -> Notes:
    return tuple((row.id, f"{told(row)}{_words(row)}") for row in rows)


def _words(row: Operation) -> str:
    return f"\n  The user says about this: {row.words}" if row.words else ""


def _taken_back(row: Operation) -> str:
    lines = [_hunk(hunk) for hunk in row.hunks[:_HUNKS]]
    if len(row.hunks) > _HUNKS:
        lines.append(f"- and {len(row.hunks) - _HUNKS} more places")
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


def _kept(row: Operation) -> str:
    places: dict[str, list[str]] = {}
    for hunk in row.hunks:
        where = places.setdefault(shown(unpack_path(hunk["path"])), [])
        if hunk["key"]:
            where.append(str(hunk["line"]))
    told = [_file(name, where) for name, where in list(places.items())[:_FILES]]
    if len(places) > _FILES:
        told.append(f"- and {len(places) - _FILES} more files")
    return "\n".join(told)


def _file(name: str, where: list[str]) -> str:
    return f"- {name}: the hunk{'s' * (len(where) > 1)} at line {', '.join(where)}" if where else f"- {name}"
