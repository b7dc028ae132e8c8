"""Plain words for what an undo does to a file and for what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.models.ledger import shown, unpack_path
from sessions.undo.merge import Conflict
from sessions.undo.plan import FilePlan

_SHOWN_CONFLICTS = 5
_NAMED = 3

HUNK_STATES = {
    "here": "",
    "kept": "Kept",
    "viewed": "",
    "gone": "No longer in the file",
    "changed": "Changed since",
    "missing": "The file has been removed",
}
"""How it stands with a hunk; what was undone by a verdict says so itself."""

FILE_STATES = {
    "here": "",
    "partly": "Partly undone",
    "gone": "No longer there",
    "changed": "Changed since",
    "missing": "Removed since",
}

OUTCOMES = {
    "restore": "Applied",
    "merge": "Applied",
    "already": "Already so",
    "conflict": "Conflict",
    "missing": "File missing",
    "unsafe": "Not done",
    "uncovered": "Not covered",
}
"""What came of a verdict, beside its hunk."""


@dataclass(frozen=True, slots=True)
class Side:
    """One stretch that cannot be merged: the file's lines now, and what undoing would put there."""

    line: int
    now: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Described:
    """A file of the preview; `tone` is `change`, `calm` or `warn`."""

    name: str
    tone: str
    words: str
    additions: int
    deletions: int
    conflicts: tuple[Side, ...] = ()


def described(plan: FilePlan) -> Described:
    """What will happen to one file."""
    tone, words = _words(plan)
    sides = tuple(side(conflict) for conflict in plan.conflicts[:_SHOWN_CONFLICTS])
    return Described(shown(plan.path), tone, words, plan.additions, plan.deletions, sides)


def _words(plan: FilePlan) -> tuple[str, str]:
    if plan.outcome in ("restore", "merge") and plan.reason:
        words = _words(replace(plan, reason=""))[1]
        return "warn", f"{words} Look at it first: {plan.reason}."
    if plan.outcome == "restore" and plan.result is None:
        return "change", "Will be removed: it did not exist before."
    if plan.outcome == "restore" and plan.before_now is None:
        return "change", "Will be brought back."
    if plan.outcome == "restore":
        return "change", "Goes back to how it was."
    if plan.outcome == "merge":
        return "change", "The agent’s lines go back; what has been changed since stays."
    if plan.outcome == "already":
        return "calm", "Is as it was already."
    if plan.outcome == "missing":
        return "calm", "Has been removed since; there is nothing to undo."
    return "warn", f"Is left alone: {plan.reason}."


def side(conflict: Conflict) -> Side:
    """Both sides as text, at most so much of each."""
    return Side(
        conflict.line,
        conflict.current.decode("utf-8", "replace")[:2000],
        conflict.other.decode("utf-8", "replace")[:2000],
    )


def ended(done: str, outcome: Sequence[dict[str, Any]]) -> str:
    """One line on an undo or redo that was carried out."""
    written = sum(entry["outcome"] in ("restore", "merge") for entry in outcome)
    alone = sum(entry["outcome"] in ("conflict", "unsafe") for entry in outcome)
    unknown = [shown(unpack_path(entry["path"])) for entry in outcome if entry["outcome"] == "uncovered"]
    text = f"{done}: {_files(written)} changed" if written else f"{done}; no file changed"
    text = f"{text}, {_files(alone)} left alone because of conflicts." if alone else f"{text}."
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        text += f" Not covered, and left as it is: {', '.join(unknown[:_NAMED])}{more}."
    return text


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
