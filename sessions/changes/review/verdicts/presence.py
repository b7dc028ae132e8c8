"""Whether what was done to a file is still there: by its content now, for the file and for each hunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sessions.changes.diffs.hunks import Piece, is_binary, pieces
from sessions.changes.diffs.lines import Span, changed_spans, split_lines
from sessions.changes.review.filediffs import count_change
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.tracking import Tracker
from sessions.changes.undo.files import UnsafePath, read_file
from sessions.changes.undo.merge import regions, settle
from sessions.changes.undo.plan import mode_equals

HunkState = Literal["here", "gone", "changed", "missing"]
Presence = Literal["here", "partly", "gone", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class Found:
    """The file now (None: there is none), and what of the scope is still in it."""

    state: Presence
    now: str | None
    additions: int = 0
    deletions: int = 0


def found(path: str, steps: Sequence[Change], project: Tracker, *, staged: bool = False) -> Found:
    """How it stands with a file. What is staged is not on the disk, and counts as there."""
    try:
        file = read_file(project.worktree, path)
    except (OSError, UnsafePath):
        return Found("changed", None)
    now = object_id(file.content) if file else None
    additions, deletions = _counted(steps, project.objects)
    last = steps[-1]
    kept = mode_equals(file.mode if file else None, last.mode_after)
    if staged or (now == last.after and kept and len(steps) == 1):
        return Found("here", now, additions, deletions)
    if not all(textual(step, project.objects) for step in steps):
        state = whole_state(steps, now, kept)
        return Found(state, now, additions, deletions) if state == "here" else Found(state, now)
    if file is None:
        return Found("missing", None)
    return _partly(steps, file.content, now, project.objects)


def whole_state(steps: Sequence[Change], now: str | None, kept: bool) -> HunkState:
    """For what has no hunks: new, removed and binary files, links, modes."""
    first, last = steps[0], steps[-1]
    if now == last.after and (kept or last.after is None):
        return "here"
    if now == first.before:
        return "gone"
    return "missing" if now is None else "changed"


def textual(step: Change, objects: ObjectStore) -> bool:
    """Whether single hunks of a step can be taken back: a text that is there before and after."""
    if not step.before or not step.after or step.skipped or step.before == step.after:
        return False
    if any(mode is not None and mode & 0o170000 == 0o120000 for mode in (step.mode_before, step.mode_after)):
        return False
    return _comparable(objects, step.before, step.after)


def hunk_states(before: bytes, after: bytes, now: bytes | None) -> dict[str, HunkState]:
    """By key of each hunk of a change, how it stands with it in the content that the file has now."""
    old, new = split_lines(before), split_lines(after)
    found = pieces(old, new)
    if now is None:
        return {piece.key: "missing" for piece in found}
    if now == after:
        return {piece.key: "here" for piece in found}
    return _compared(found, old, new, split_lines(now))


def _compared(
    found: Sequence[Piece], old: list[bytes], new: list[bytes], current: list[bytes]
) -> dict[str, HunkState]:
    """Every span of every hunk, turned round, against what has been changed since."""
    inverse: list[Span] = [(c, d, a, b) for piece in found for a, b, c, d in piece.spans]
    owners = [piece.key for piece in found for _ in piece.spans]
    states: dict[str, set[HunkState]] = {piece.key: set() for piece in found}
    for region in regions(changed_spans(new, current), inverse):
        settled = settle(region, new, current, old)
        state: HunkState = "changed" if settled is None else "gone" if region.ours else "here"
        for number in region.theirs:
            states[owners[number]].add(state)
    return {key: _worst(seen) for key, seen in states.items()}


def _worst(seen: set[HunkState]) -> HunkState:
    return "changed" if "changed" in seen else "here" if "here" in seen else "gone"


def _partly(steps: Sequence[Change], content: bytes, now: str | None, objects: ObjectStore) -> Found:
    seen: list[HunkState] = []
    additions = deletions = 0
    for step in steps:
        before, after = objects.get(step.before or ""), objects.get(step.after or "")
        states = hunk_states(before, after, content)
        seen += states.values()
        for piece in pieces(split_lines(before), split_lines(after)):
            if states[piece.key] != "gone":
                additions += sum(d - c for _, _, c, d in piece.spans)
                deletions += sum(b - a for a, b, _, _ in piece.spans)
    state: Presence = "here"
    if "changed" in seen:
        state = "changed"
    elif "gone" in seen:
        state = "partly" if "here" in seen else "gone"
    return Found(state, now, additions, deletions)


def _counted(steps: Sequence[Change], objects: ObjectStore) -> tuple[int, int]:
    counts = [count_change(step, objects) for step in steps]
    return sum(added for added, _ in counts), sum(deleted for _, deleted in counts)


@lru_cache(maxsize=4096)
def _comparable(objects: ObjectStore, before: str, after: str) -> bool:
    try:
        return not any(is_binary(objects.get(oid)) for oid in (before, after))
    except ObjectMissing:
        return False
