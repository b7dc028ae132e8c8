"""What keeping, dropping and taking back would do, file by file. Reads files, writes none; blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sessions.diffs.hunks import is_binary
from sessions.diffs.lines import split_lines
from sessions.models import StagedFile
from sessions.models.ledger import pack_path
from sessions.review.marking import seal
from sessions.review.verdicts.renames import renames
from sessions.snapshots.changes import Change
from sessions.snapshots.objects import object_id
from sessions.staging.changes import as_change as staged_change
from sessions.staging.moves import Move
from sessions.staging.restaging import unwritten
from sessions.store import kept
from sessions.tracking import Tracker
from sessions.undo.files import NEW_FILE, FileState, UnsafePath, read_file
from sessions.undo.pick import Piece, pieces, without
from sessions.undo.plan import FilePlan, plan_undo

Picks = Mapping[str, Collection[str] | None]
"""By packed path the keys of hunks; None for the whole file."""

Drawn = Collection[str] | None
"""The seals of what the person had before them (None: whatever waits). A hunk is named by its content; of a
file, nothing is kept or dropped that was not shown."""

UNSEEN = "it has been edited since you looked. Look at it again"
REOPEN = "the file has been changed since you opened it"
_SHOWN = 2000  # characters of a hunk's text that are kept to tell the agent of it
_TOLD = 40  # hunks of a file


def everything(rows: Sequence[StagedFile], *, guarded: bool) -> dict[str, Collection[str] | None]:
    """Picks of all that waits, with or without the agent's own settings."""
    return {pack_path(row.path): None for row in rows if guarded or not row.guarded}


def plan_keep(rows: Sequence[StagedFile], picks: Picks, project: Tracker, drawn: Drawn = None) -> list[Move]:
    """Write what was picked onto the files as they are now; removals come first."""
    picked = _picked(rows, picks, project)
    moves = [_unseen(row, keys, drawn) or _keep(row, keys, project) for row, keys in picked]
    return sorted((move for move in moves if move), key=lambda move: move.plan.result is not None)


def plan_drop(rows: Sequence[StagedFile], picks: Picks, project: Tracker, drawn: Drawn = None) -> list[Move]:
    """Take what was picked out of the staged contents."""
    picked = _picked(rows, picks, project)
    moves = [_unseen(row, keys, drawn) or _drop(row, keys, project) for row, keys in picked]
    return [move for move in moves if move]


def plan_settled(
    rows: Sequence[StagedFile],
    picks: Picks,
    content: bytes | None,
    seen: str,
    project: Tracker,
    drawn: Drawn = None,
) -> list[Move]:
    """Keep one file as a person settled its conflict: `content` is written (None: no file) if the file still
    is `seen`, by its object id."""
    moves = []
    for move in plan_keep(rows, picks, project, drawn):
        if move.plan.outcome == "unsafe":
            return [move]
        path = move.plan.path
        picked = pack_path(path) in picks  # else it is the old place of a renamed file
        moves.append(replace(move, plan=_by_hand(path, content, seen, project)) if picked else move)
    return moves


def _by_hand(path: str, content: bytes | None, seen: str, project: Tracker) -> FilePlan:
    try:
        now = read_file(project.worktree, path)
    except (UnsafePath, OSError) as error:
        return FilePlan(path, "unsafe", reason=str(error))
    oid, mode = (object_id(now.content), now.mode) if now else (None, None)
    if (oid or "") != seen:
        return FilePlan(path, "conflict", reason=REOPEN)
    if content is None:
        return FilePlan(path, "merge" if now else "already", oid, mode)
    result = project.objects.put(content)
    return FilePlan(path, "already" if result == oid else "merge", oid, mode, result, mode or NEW_FILE)


def _unseen(row: StagedFile, keys: Collection[str] | None, drawn: Drawn) -> Move | None:
    """Refuses a verdict on a whole file that is no longer what was shown."""
    if keys is not None or drawn is None or seal(staged_change(row)) in drawn:
        return None
    before = kept.snapshot(row)
    return Move(FilePlan(row.path, "unsafe", reason=UNSEEN), before, before)


def _keep(row: StagedFile, keys: Collection[str] | None, project: Tracker) -> Move | None:
    objects = project.objects
    chosen, rest = _chosen(row, keys, project)
    if keys is not None and not chosen:
        return None
    wanted = row.content
    if rest:
        wanted = objects.put(without(*_contents(row, project), [piece.key for piece in rest]))
    mode = row.mode if wanted == row.content else row.mode_base
    inverse = Change(row.path, wanted or None, row.base or None, mode, row.mode_base)
    (plan,) = plan_undo([inverse], objects, project.worktree)
    before = kept.snapshot(row)
    after = {**before, "base": wanted, "mode_base": mode}
    noted = list(_noted(row, None if keys is None else chosen, project))
    return Move(_worded(plan, row), before, after, [piece.key for piece in chosen], noted)


def _drop(row: StagedFile, keys: Collection[str] | None, project: Tracker) -> Move | None:
    chosen, rest = _chosen(row, keys, project)
    if keys is not None and not chosen:
        return None
    content, mode = row.base, row.mode_base
    if rest:
        dropped = without(*_contents(row, project), [piece.key for piece in chosen])
        content, mode = project.objects.put(dropped), row.mode
    before = kept.snapshot(row)
    after = {**before, "content": content, "mode": mode}
    noted = list(_noted(row, None if keys is None else chosen, project))
    plan = replace(
        unwritten(row.path, _on_disk(row, project)),
        additions=_count(chosen, 0),
        deletions=_count(chosen, 1),
    )
    return Move(plan, before, after, [piece.key for piece in chosen], noted, writes=False)


def _picked(
    rows: Sequence[StagedFile], picks: Picks, project: Tracker
) -> Iterator[tuple[StagedFile, Collection[str] | None]]:
    """The rows that picks mean; a renamed file is picked by its new path, with the old one."""
    moved = renames({row.path: (staged_change(row),) for row in rows}, project.objects)
    sources = {rename.source: path for path, rename in moved.items()}
    for row in rows:
        for path in (row.path, sources.get(row.path)):
            if path is not None and (key := pack_path(path)) in picks:
                yield row, None if path in moved else picks[key]
                break


def _chosen(
    row: StagedFile, keys: Collection[str] | None, project: Tracker
) -> tuple[list[Piece], list[Piece]]:
    """The hunks that are meant (None: all of them), and the others."""
    old, new = _contents(row, project)
    binary = is_binary(old) or is_binary(new)
    found = [] if binary else pieces(split_lines(old), split_lines(new))
    if keys is None:
        return found, []
    return [one for one in found if one.key in keys], [one for one in found if one.key not in keys]


def _contents(row: StagedFile, project: Tracker) -> tuple[bytes, bytes]:
    old, new = (project.objects.get(oid) if oid else b"" for oid in (row.base, row.content))
    return old, new


def _noted(row: StagedFile, chosen: Sequence[Piece] | None, project: Tracker) -> Iterator[Mapping[str, Any]]:
    """As the agent is told of it: the hunks, or the file (None)."""
    path = pack_path(row.path)
    if chosen is None:
        status = "added" if not row.base else "modified" if row.content else "deleted"
        yield {"path": path, "key": "", "line": 1, "removed": "", "added": "", "status": status}
        return
    old, new = map(split_lines, _contents(row, project))
    for piece in chosen[:_TOLD]:
        (a, _, c, _), (_, b, _, d) = piece.spans[0], piece.spans[-1]
        texts = {"removed": _text(old[a:b]), "added": _text(new[c:d])}
        yield {"path": path, "key": piece.key, "line": c + 1, **texts}


def _text(lines: Sequence[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "replace")[:_SHOWN]


def _count(chosen: Sequence[Piece], side: int) -> int:
    """Lines that dropping adds (side 0: what was there before) or takes away (side 1)."""
    return sum(span[2 * side + 1] - span[2 * side] for piece in chosen for span in piece.spans)


def _on_disk(row: StagedFile, project: Tracker) -> FileState | None:
    try:
        return read_file(project.worktree, row.path)
    except (UnsafePath, OSError):  # what is there is no file, and stays
        return None


def _worded(plan: FilePlan, row: StagedFile) -> FilePlan:
    """An undo's reasons speak of the agent's change; here the change is still to come."""
    if plan.outcome == "conflict" and not row.base:
        return replace(plan, reason="there is a file of this name now")
    if plan.outcome == "conflict" and not row.content:
        return replace(plan, reason="the file has been changed since, so it is not removed")
    return plan
