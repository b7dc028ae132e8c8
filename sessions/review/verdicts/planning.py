"""What a verdict would do: file by file as any undo, and hunk by hunk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sessions.diffs.lines import split_lines
from sessions.models import FileChange
from sessions.models.ledger import pack_path
from sessions.review.outcomes import as_intents, as_outcome
from sessions.review.verdicts.judging import Step, judge, pick_key
from sessions.review.verdicts.listing import Listing, ReviewedFile
from sessions.snapshots.changes import Change
from sessions.undo.pick import pieces, without
from sessions.undo.plan import FilePlan, Outcome, plan_undo

Picks = Mapping[str, Collection[str] | None]
"""By file key the hunk keys; None for the whole file."""

_SHOWN = 600  # characters of a hunk's text that are kept to tell the agent of it
_TOLD = 200  # hunks of a file
_UNDONE: dict[str, Outcome] = {"gone": "already", "changed": "conflict", "missing": "missing"}
WHY = {
    "already": "it is no longer in the file",
    "conflict": "the same lines have been changed since",
    "missing": "the file has been removed since",
}


@dataclass(frozen=True, slots=True)
class Planned:
    """One file: what is written, what becomes of each hunk, and the hunks taken back, as they are noted. A
    renamed file has two plans."""

    plans: tuple[FilePlan, ...]
    hunks: Mapping[str, Outcome]
    taken: Sequence[Mapping[str, Any]]
    owner: FileChange | None = None


def plan_picks(found: Listing, picks: Picks) -> list[Planned]:
    """Plan the undo of what was picked; files that are no longer listed are passed over. Blocks."""
    files = [(file, picks[file.key]) for file in found.files if file.key in picks]
    return [_plan(file, keys, found) for file, keys in files]


def plan_back(file: ReviewedFile, keys: Collection[str], found: Listing) -> Planned | None:
    """Plan to put back hunks of a file that are no longer in it; None when none of them is. Blocks."""
    steps = judge(file, found)
    states = {judged.key: judged.state for step in steps for judged in step.hunks.values()}
    gone = {key for key in keys if key and states.get(key) in ("gone", "missing")}
    if not gone:
        return None
    changes = [
        replace(change, before=change.after, after=change.before) for change in _less(steps, gone, found)
    ]
    plan = plan_undo(changes, found.project.objects, found.project.worktree)[0]
    return Planned((plan,), dict.fromkeys(gone, plan.outcome), list(_noted(file, steps, gone)), file.owner)


def outcomes(planned: Sequence[Planned], plans: Mapping[str, FilePlan]) -> list[dict[str, Any]]:
    """`Operation.outcome` of a verdict; `plans` are the plans as they ended, by path."""
    made = []
    for file in planned:
        for entry in as_outcome([plans[plan.path] for plan in file.plans]):
            ended = entry["outcome"] if entry["outcome"] not in ("restore", "merge") else ""
            hunks = {key: ended or outcome for key, outcome in file.hunks.items()}
            made.append({**entry, "hunks": hunks})
    return made


def intents(planned: Sequence[Planned], session_id: str, worktree: Path) -> list[FileChange]:
    """Ledger entries of what is going to be written; they belong to the turn whose changes they take back.
    Blocks."""
    return [
        belongs(change, file.owner, session_id)
        for file in planned
        for change in as_intents(file.plans, worktree)
    ]


def belongs(change: FileChange, owner: FileChange | None, session_id: str) -> FileChange:
    """Put an entry where another one is; without one it is the session's, and no turn's."""
    change.session_id = owner.session_id if owner else session_id
    if owner:
        change.message_id, change.part_id = owner.message_id, owner.part_id
        change.for_session_id = owner.for_session_id
        change.for_message_id, change.for_part_id = owner.for_message_id, owner.for_part_id
    return change


def _plan(file: ReviewedFile, keys: Collection[str] | None, found: Listing) -> Planned:
    steps = judge(file, found)
    known = {judged.key for step in steps for judged in step.hunks.values()}
    if keys is None or "" in known:
        whole = _whole(file, steps, known, found)
        single = len(file.whole) == len(file.steps) and "" not in known
        if not (single and any(plan.outcome == "conflict" for plan in whole.plans)):
            return whole
        keys = known
    return _pieces(file, steps, set(keys) & known, found)


def _whole(file: ReviewedFile, steps: Sequence[Step], known: Collection[str], found: Listing) -> Planned:
    plans = plan_undo(file.whole, found.project.objects, found.project.worktree)
    worst = next((plan for plan in plans if plan.outcome == "conflict"), plans[-1])
    taken = [] if "" in known or file.renamed_from else _noted(file, steps, known)
    everything = {"path": file.key, "key": "", "line": 1, "removed": "", "added": ""}
    return Planned(tuple(plans), dict.fromkeys(known, worst.outcome), taken or [everything], file.owner)


def _pieces(file: ReviewedFile, steps: Sequence[Step], keys: AbstractSet[str], found: Listing) -> Planned:
    states = {judged.key: judged.state for step in steps for judged in step.hunks.values()}
    here = {key for key in keys if states[key] == "here"}
    hunks: dict[str, Outcome] = {key: _UNDONE[states[key]] for key in keys - here}
    if not here:
        outcome: Outcome = next(iter(hunks.values()), "already")
        plan = replace(_attempt(file, steps, keys, found), outcome=outcome, reason=WHY[outcome])
        return Planned((plan,), hunks, [], file.owner)
    everything = here == set(states) and file.whole == file.steps
    if everything:
        plan = plan_undo(file.steps, found.project.objects, found.project.worktree)[0]
    else:
        plan = _attempt(file, steps, here, found)
    hunks |= dict.fromkeys(here, plan.outcome)
    return Planned((plan,), hunks, list(_noted(file, steps, here)), file.owner)


def _attempt(file: ReviewedFile, steps: Sequence[Step], keys: Collection[str], found: Listing) -> FilePlan:
    """The plan that takes back some hunks."""
    changes = _less(steps, keys, found)
    if not changes:
        return FilePlan(file.path, "already")
    return plan_undo(changes, found.project.objects, found.project.worktree)[0]


def _less(steps: Sequence[Step], keys: Collection[str], found: Listing) -> list[Change]:
    """Of each step the part that some hunks are: from the file without them to the file as it left it."""
    changes: list[Change] = []
    for number, step in enumerate(steps):
        own = {key for key in step.hunks if pick_key(number, key) in keys}
        if own and step.before is not None and step.after is not None:
            target = found.project.objects.put(without(step.before, step.after, own))
            changes.append(replace(step.change, before=target, mode_before=step.change.mode_after))
    return changes


def _noted(file: ReviewedFile, steps: Sequence[Step], keys: Collection[str]) -> list[dict[str, Any]]:
    noted = []
    for number, step in enumerate(steps):
        old, new = split_lines(step.before or b""), split_lines(step.after or b"")
        for piece in pieces(old, new):
            if pick_key(number, piece.key) in keys:
                a, b, c, d = piece.spans[0][0], piece.spans[-1][1], piece.spans[0][2], piece.spans[-1][3]
                noted.append(
                    {
                        "path": pack_path(file.path),
                        "key": pick_key(number, piece.key),
                        "line": c + 1,
                        "removed": _text(old[a:b]),
                        "added": _text(new[c:d]),
                    }
                )
    return noted[:_TOLD]


def _text(lines: Sequence[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "replace")[:_SHOWN]
