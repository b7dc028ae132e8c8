"""How it stands with an entry of the log: in effect, partly or entirely undone, redone, cut short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sessions.diffs.hunks import is_binary
from sessions.diffs.unified import count as count_lines
from sessions.models import FileChange, Operation
from sessions.review.filediffs import LARGEST
from sessions.review.outcomes import WRITES
from sessions.review.verdicts.presence import found
from sessions.snapshots.changes import Change
from sessions.snapshots.objects import ObjectMissing, ObjectStore
from sessions.tracking import Tracker


@dataclass(frozen=True, slots=True)
class State:
    """`tone` is `on` (in effect), `part`, `off` (undone) or `warn`; `invertible` whether it can be taken
    back."""

    tone: str
    words: str
    invertible: bool


IN_EFFECT = State("on", "In effect", True)
PARTLY = State("part", "Partly undone", True)
UNDONE = State("off", "Undone", False)
WITH_CONVERSATION = State("off", "Undone with the conversation", False)
CHANGED = State("part", "Changed since", True)
REMOVED = State("off", "The file has been removed", False)
NOTHING = State("off", "Nothing was changed in the end", False)

_OPERATION = {
    "planned": State("warn", "Being carried out", False),
    "withdrawn": State("warn", "Cut short by a crash; no file was changed", False),
    "final": State("on", "Final: a new prompt followed", True),
    "done": IN_EFFECT,
}
_CLOSED = {
    "undo": State("off", "Redone", False),
    "revert": State("off", "Redone", False),
    "redo": State("off", "Undone again", False),
    "unrevert": State("off", "Undone again", False),
}


def of_operation(operation: Operation) -> State:
    if operation.kind == "undo" and operation.state == "done" and not _wrote(operation):
        return NOTHING
    return _OPERATION.get(operation.state) or _CLOSED.get(operation.kind, State("off", "Undone", False))


def _wrote(operation: Operation) -> bool:
    return any(entry["outcome"] in WRITES for entry in operation.outcome)


def of_call(rows: Sequence[FileChange], steps: Mapping[str, Sequence[Change]], project: Tracker) -> State:
    """By the files as they are now: who took something back does not matter."""
    if all(row.undone_by_id for row in rows):
        return WITH_CONVERSATION
    if not steps:
        return NOTHING
    seen = {found(path, own, project).state for path, own in steps.items()}
    if seen == {"here"}:
        return IN_EFFECT
    if seen == {"gone"}:
        return UNDONE
    if seen == {"missing"}:
        return REMOVED
    return CHANGED if "changed" in seen else PARTLY


@lru_cache(maxsize=4096)
def count(step: Change, objects: ObjectStore) -> tuple[int, int]:
    """Lines added and deleted by a change; none where its contents cannot be compared."""
    try:
        old, new = (objects.get(oid) if oid else b"" for oid in (step.before, step.after))
    except ObjectMissing:
        return 0, 0
    if step.skipped or is_binary(old) or is_binary(new) or len(old) + len(new) > LARGEST:
        return 0, 0
    return count_lines(old, new)
