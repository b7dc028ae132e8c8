"""How it stands with each hunk of a file, and which operation took it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sessions.changes.diffs.lru import LRU
from sessions.changes.review.verdicts.listing import Listing, ReviewedFile
from sessions.changes.review.verdicts.presence import HunkState, hunk_states, textual, whole_state
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.undo.files import NEW_FILE, FileState, UnsafePath, read_file
from sessions.changes.undo.plan import mode_equals

_known: LRU[dict[str, HunkState]] = LRU(200_000)
"""States of hunks by the contents they were found from: a long diff is asked for in many pieces."""


@dataclass(frozen=True, slots=True)
class Judged:
    """`key` is what a pick names the hunk by; `operation` the undo that took it back, if one did."""

    key: str
    state: HunkState
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a file with its contents; `hunks` are by the key that the diff gives them. A step that has
    to be taken back as a whole (a new file, a binary one) has one under the empty key."""

    change: Change
    before: bytes | None
    after: bytes | None
    hunks: Mapping[str, Judged]


def judge(file: ReviewedFile, listing: Listing) -> list[Step]:
    """The steps of a file, each hunk with its state. Blocks; contents that are missing are None."""
    now = _now(file, listing)
    return [_step(number, change, file, listing, now) for number, change in enumerate(file.steps)]


def pick_key(number: int, key: str) -> str:
    """The same hunk may be in several steps of a file."""
    return f"{number}:{key}" if number else key


def _now(file: ReviewedFile, listing: Listing) -> FileState | None:
    if listing.scope.kind == "staged":
        last = file.steps[-1]
        if not last.after:
            return None
        return FileState(listing.project.objects.get(last.after), last.mode_after or NEW_FILE)
    try:
        return read_file(listing.project.worktree, file.path)
    except (OSError, UnsafePath):
        return None


def _step(number: int, change: Change, file: ReviewedFile, listing: Listing, now: FileState | None) -> Step:
    objects = listing.project.objects
    before, after = _content(objects, change.before), _content(objects, change.after)
    states: dict[str, HunkState]
    if textual(change, objects) and before is not None and after is not None:
        oid = object_id(now.content) if now else ""
        states = _known.get(
            (objects, change.before, change.after, oid),
            lambda: _weighed(hunk_states(before, after, now.content if now else None)),
        )
    else:
        kept = mode_equals(now.mode if now else None, change.mode_after)
        states = {"": whole_state([change], object_id(now.content) if now else None, kept)}
    judged = {key: _judged(pick_key(number, key), state, file, listing) for key, state in states.items()}
    return Step(change, before, after, judged)


def _judged(key: str, state: HunkState, file: ReviewedFile, listing: Listing) -> Judged:
    undone = listing.undone
    operation = undone.get((file.key, key)) or undone.get((file.key, "")) or ""
    return Judged(key, state, operation if state in ("gone", "missing") else "")


def _content(objects: ObjectStore, oid: str | None) -> bytes | None:
    try:
        return objects.get(oid) if oid else None
    except ObjectMissing:
        return None


def _weighed(states: dict[str, HunkState]) -> tuple[dict[str, HunkState], int]:
    return states, len(states) + 1
