"""Keep and drop what is staged in review mode, and take that back.

Keeping writes onto the files as they are now, three-way; what conflicts stays staged. It needs nothing of the
session: it works while the agent works, one verdict at a time in a project. What waits in a folder beside the
project is written there, in the same operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.diffs.hunks import Piece, is_binary, pieces, without
from sessions.changes.diffs.lines import split_lines
from sessions.changes.operations.engine import as_intents, as_outcome, carry_out, plan_roots
from sessions.changes.operations.lock import Refused, in_turn, in_turn_of
from sessions.changes.review.marking import seal
from sessions.changes.review.staged import waiting
from sessions.changes.review.verdicts import renames, staged_change
from sessions.changes.roots import Roots, roots_among
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.undo.files import NEW_FILE, FileState, UnsafePath, read_file
from sessions.changes.undo.plan import FilePlan, Stop, invert, plan_by_hand
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import FileChange, Operation, Session, StagedFile
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.core.store import operations, staging
from sessions.core.store.family import topmost
from sessions.core.store.operations import APPLIED, STAGED, Kind, Place, State
from sessions.core.store.staging import StaleEdit

Picks = Mapping[str, Collection[str] | None]
"""By packed path, as seen from the session, the keys of hunks; None for the whole file."""

Drawn = Collection[str] | None
"""The seals of what the person had before them (None: whatever waits). A hunk is named by its content; of a
file, nothing is kept or dropped that was not shown."""

Snapshot = Mapping[str, Any]
"""A staged row as `staging.snapshot` has it."""

OWN_SETTINGS = gettext_noop(
    "Only the agent's own settings wait. Each takes a yes of its own: keep it by its name, or in its diff."
)
_UNSEEN = gettext_noop("it has been edited since you looked. Look at it again")
_AGAIN = 5
_SHOWN = 2000  # characters of a hunk's text that are kept to tell the agent of it
_TOLD = 40  # hunks of a file


@dataclass(frozen=True, slots=True)
class Move:
    """One file: what is written to the disk (`plan`, only where `writes`; its path is as seen from the
    session), and its staged row before and after. `hunks` and `noted` are what the verdict is on, by key and
    as it is told."""

    plan: FilePlan
    before: Snapshot
    after: Snapshot
    hunks: Sequence[str] = ()
    noted: Sequence[Mapping[str, Any]] = ()
    writes: bool = True

    @property
    def applies(self) -> bool:
        return self.plan.outcome in APPLIED

    def entry(self, roots: Roots) -> dict[str, Any]:
        """Of `Operation.outcome`."""
        names = ("before_now", "mode_now", "result", "mode")
        root, path = roots.at(self.plan.path)
        return {
            **as_outcome([self.plan])[0],
            **({} if root is roots.home else {"place": [root.project_id, pack_path(path)]}),
            "hunks": dict.fromkeys(self.hunks, self.plan.outcome),
            "plan": {name: getattr(self.plan, name) for name in names},
            "before": dict(self.before),
            "after": dict(self.after),
            "change": None,
        }


async def keep(
    session: Session, picks: Picks | None, *, drawn: Drawn = None, words: str = "", actor: str = ""
) -> Operation:
    """Write what was picked into the working tree; None is all but the agent's own settings. The outcome says
    what came of each file; one in conflict, or not as `drawn`, goes on waiting. Raises Refused."""

    def moves(rows: Sequence[StagedFile], roots: Roots) -> list[Move]:
        wanted = everything(rows, roots, guarded=False) if picks is None else picks
        if rows and not wanted:
            raise Refused(gettext(OWN_SETTINGS))
        return _keeping(rows, wanted, roots, drawn)

    return await _keep_in_turn(session, moves, words, actor)


async def resolve(
    session: Session,
    picks: Picks,
    content: bytes | None,
    seen: str,
    *,
    drawn: Drawn = None,
    words: str = "",
    actor: str = "",
) -> Operation:
    """Keep one file as a person settled its conflict (`plan_by_hand`). Raises Refused."""

    def moves(rows: Sequence[StagedFile], roots: Roots) -> list[Move]:
        made: list[Move] = []
        for move in _keeping(rows, picks, roots, drawn):
            if move.plan.outcome == "unsafe":
                return [move]
            if pack_path(move.plan.path) in picks:  # else it is the old place of a renamed file
                root, path = roots.at(move.plan.path)
                plan = plan_by_hand(path, content, seen, root.objects, root.worktree)
                move = replace(move, plan=replace(plan, path=move.plan.path))
            made.append(move)
        return made

    return await _keep_in_turn(session, moves, words, actor)


async def drop(
    session: Session, picks: Picks | None, *, drawn: Drawn = None, words: str = "", actor: str = ""
) -> Operation:
    """Let go of what was picked; None is all. The working tree is not touched. Raises Refused."""
    return await in_turn(session.project_id, _drop, session, picks, drawn, words, actor)


async def take_back(session: Session, operation_id: str, *, actor: str = "") -> Operation:
    """Undo a verdict: what was kept leaves the working tree and waits again, what was dropped waits again.
    The operation that comes of it can be taken back in its turn. Raises Refused."""
    return await in_turn_of(
        await in_db(_concerned, session, operation_id), _take_back, session, operation_id, actor
    )


def left_words(outcome: Iterable[Mapping[str, Any]]) -> str:
    """Why files of a verdict go on waiting; empty when none does."""
    left = [entry for entry in outcome if entry["outcome"] not in APPLIED]
    words = [f"{shown(unpack_path(entry['path']))}: {entry['reason']}." for entry in left]
    if any(entry["outcome"] == "conflict" for entry in left):
        words.append(gettext("Keep it in the review to choose between both sides."))
    return " ".join(words)


def everything(
    rows: Sequence[StagedFile], roots: Roots, *, guarded: bool
) -> dict[str, Collection[str] | None]:
    """Picks of all that waits, with or without the agent's own settings."""
    return {pack_path(roots.path(row)): None for row in rows if guarded or not row.guarded}


Planned = Callable[[Sequence[StagedFile], Roots], list[Move]]
"""What is to become of what waits."""


def _waiting(session: Session) -> tuple[Session, list[StagedFile], Roots]:
    return topmost(session), *waiting(session)


async def _keep_in_turn(session: Session, plan: Planned, words: str, actor: str) -> Operation:
    locked = await in_db(staging.projects_of, session)
    return await in_turn_of(locked, _keep, session, locked, plan, words, actor)


def _keep(session: Session, locked: AbstractSet[str], plan: Planned, words: str, actor: str) -> Operation:
    """What began to wait in another root meanwhile was not seen by who keeps."""
    top, rows, roots = in_db_sync(_waiting, session)
    moves = plan([row for row in rows if row.project_id in locked], roots)
    return _write(top, Kind.KEEP, moves, roots, words=words, actor=actor)


def _drop(session: Session, picks: Picks | None, drawn: Drawn, words: str, actor: str) -> Operation:
    for _ in range(_AGAIN):
        top, rows, roots = in_db_sync(_waiting, session)
        wanted = everything(rows, roots, guarded=True) if picks is None else picks
        picked = _picked(rows, wanted, roots)
        moves = [_unseen(row, keys, roots, drawn) or _without(row, keys, roots) for row, keys in picked]
        noted = _noted([move for move in moves if move], roots)
        try:
            return in_db_sync(operations.at_once, top, Kind.DROP, words=words, actor=actor, **noted)
        except StaleEdit:
            continue  # the agent edited the file a moment ago
    raise Refused(gettext("The agent is editing this file just now. Try again in a moment."))


def _concerned(session: Session, operation_id: str) -> set[str]:
    """The projects that taking a verdict back may touch."""
    of = operations.get(session.project_id, operation_id)
    places = (operations.place_of(session, entry) for entry in of.outcome) if of and of.kind in STAGED else ()
    return staging.projects_of(session) | {project_id for project_id, _ in places}


def _take_back(session: Session, operation_id: str, actor: str) -> Operation:
    def known() -> tuple[Session, list[StagedFile], Operation | None, list[FileChange], Roots]:
        top, rows, _ = _waiting(session)
        of = operations.get(session.project_id, operation_id)
        roots = roots_among(session.project, _concerned(session, operation_id))
        return top, rows, of, operations.changes_of([of]) if of else [], roots

    top, staged, of, changes, roots = in_db_sync(known)
    if of is None or of.kind not in STAGED or of.session_id != top.id:
        raise Refused(gettext("This is not known here."))
    if of.state != State.DONE:
        raise Refused(gettext("This was taken back already."))
    rows = {(row.project_id, row.path): row for row in staged}
    written = {(change.project_id, change.path): change for change in changes}
    places = [
        (entry, operations.place_of(session, entry)) for entry in of.outcome if entry["outcome"] in APPLIED
    ]
    moves = [_restaged(entry, place, rows.get(place), written.get(place), roots) for entry, place in places]
    kind = Kind.RESTAGE
    if of.kind == Kind.RESTAGE:
        kind = Kind.KEEP if any(entry["change"] for entry in of.outcome) else Kind.DROP
    if any(move.writes for move in moves):
        return _write(top, kind, moves, roots, hunks=of.hunks, actor=actor, of=of)
    try:
        noted = _noted(moves, roots) | {"hunks": of.hunks}
        return in_db_sync(operations.at_once, top, kind, actor=actor, of=of, **noted)
    except StaleEdit as error:
        raise Refused(
            gettext("The agent is editing %(error)s just now. Try again in a moment.") % {"error": error}
        ) from error


def _write(top: Session, kind: Kind, moves: Sequence[Move], roots: Roots, **columns: Any) -> Operation:
    noted = _noted(moves, roots) | columns
    intents = as_intents([move.plan for move in moves if move.writes], roots)
    rows = {move.plan.path: move.before for move in moves}
    for intent in intents:
        _belongs(intent, rows[roots.path(intent)], top)
        if kind == Kind.KEEP:
            intent.origin = FileChange.Origin.KEPT
    return carry_out(top, kind, roots, intents, **noted)


def _noted(moves: Sequence[Move], roots: Roots) -> dict[str, Any]:
    """As `operations.begin` takes it. Raises Refused where there is nothing to be done."""
    if not moves:
        raise Refused(gettext("Nothing of this waits any more. Look at it again."))
    outcome = [move.entry(roots) for move in moves]
    if not any(move.applies for move in moves):
        raise Refused(left_words(outcome), outcome)
    hunks = [hunk for move in moves if move.applies for hunk in move.noted]
    return {"outcome": outcome, "hunks": hunks, "scope": {"kind": "staged"}}


def _belongs(intent: FileChange, row: Snapshot, top: Session) -> None:
    """A kept edit is a change of the call that staged it, so a turn's undo takes it back as well."""
    intent.session_id = row["by_session_id"] or top.id
    intent.message_id, intent.part_id, intent.call_id = row["message_id"], row["part_id"], row["call_id"]
    if row["for_message_id"]:
        intent.for_session_id = top.id
        intent.for_message_id, intent.for_part_id = row["for_message_id"], row["for_part_id"]


def _keeping(rows: Sequence[StagedFile], picks: Picks, roots: Roots, drawn: Drawn) -> list[Move]:
    """Write what was picked onto the files as they are now; removals come first."""
    picked = _picked(rows, picks, roots)
    moves = [_unseen(row, keys, roots, drawn) or _onto(row, keys, roots) for row, keys in picked]
    return sorted((move for move in moves if move), key=lambda move: move.plan.result is not None)


def _picked(
    rows: Sequence[StagedFile], picks: Picks, roots: Roots
) -> Iterator[tuple[StagedFile, Collection[str] | None]]:
    """The rows that picks mean; a renamed file is picked by its new path, with the old one."""
    moved = renames({roots.path(row): (staged_change(row, roots),) for row in rows}, roots)
    sources = {rename.source: path for path, rename in moved.items()}
    for row in rows:
        for path in (roots.path(row), sources.get(roots.path(row))):
            if path is not None and (key := pack_path(path)) in picks:
                yield row, None if path in moved else picks[key]
                break


def _unseen(row: StagedFile, keys: Collection[str] | None, roots: Roots, drawn: Drawn) -> Move | None:
    """Refuses a verdict on a whole file that is no longer what was shown."""
    if keys is not None or drawn is None or seal(staged_change(row, roots)) in drawn:
        return None
    before = staging.snapshot(row)
    return Move(FilePlan(roots.path(row), "unsafe", reason=_UNSEEN), before, before)


def _onto(row: StagedFile, keys: Collection[str] | None, roots: Roots) -> Move | None:
    """What was picked of a file, written to the disk."""
    objects = roots.root(row).objects
    chosen, rest = _chosen(row, keys, objects)
    if keys is not None and not chosen:
        return None
    wanted = row.content
    if rest:
        wanted = objects.put(without(*_contents(row, objects), [piece.key for piece in rest]))
    mode = row.mode if wanted == row.content else row.mode_base
    inverse = Change(roots.path(row), wanted or None, row.base or None, mode, row.mode_base)
    (plan,) = plan_roots([inverse], roots)
    after = {"base": wanted, "mode_base": mode}
    return _move(row, _worded(plan, row), after, keys, chosen, objects)


def _without(row: StagedFile, keys: Collection[str] | None, roots: Roots) -> Move | None:
    """What was picked, taken out of the staged content."""
    root = roots.root(row)
    chosen, rest = _chosen(row, keys, root.objects)
    if keys is not None and not chosen:
        return None
    content, mode = row.base, row.mode_base
    if rest:
        dropped = without(*_contents(row, root.objects), [piece.key for piece in chosen])
        content, mode = root.objects.put(dropped), row.mode
    try:
        now = read_file(root.worktree, row.path)
    except (UnsafePath, OSError):  # what is there is no file, and stays
        now = None
    plan = _unwritten(roots.path(row), now)
    plan = replace(plan, additions=_count(chosen, 0), deletions=_count(chosen, 1))
    after = {"content": content, "mode": mode}
    return replace(_move(row, plan, after, keys, chosen, root.objects), writes=False)


def _move(
    row: StagedFile,
    plan: FilePlan,
    after: Snapshot,
    keys: Collection[str] | None,
    chosen: Sequence[Piece],
    objects: ObjectStore,
) -> Move:
    before, path = staging.snapshot(row), pack_path(plan.path)
    if keys is None:
        status = "added" if not row.base else "modified" if row.content else "deleted"
        noted = [{"path": path, "key": "", "line": 1, "removed": "", "added": "", "status": status}]
    else:
        old, new = map(split_lines, _contents(row, objects))
        noted = [piece.noted(path, old, new, _SHOWN) for piece in chosen[:_TOLD]]
    return Move(plan, before, {**before, **after}, [piece.key for piece in chosen], noted)


def _chosen(
    row: StagedFile, keys: Collection[str] | None, objects: ObjectStore
) -> tuple[list[Piece], list[Piece]]:
    """The hunks that are meant (None: all of them), and the others."""
    old, new = _contents(row, objects)
    binary = is_binary(old) or is_binary(new)
    found = [] if binary else pieces(split_lines(old), split_lines(new))
    if keys is None:
        return found, []
    return [one for one in found if one.key in keys], [one for one in found if one.key not in keys]


def _contents(row: StagedFile, objects: ObjectStore) -> tuple[bytes, bytes]:
    old, new = (objects.get(oid) if oid else b"" for oid in (row.base, row.content))
    return old, new


def _count(chosen: Sequence[Piece], side: int) -> int:
    """Lines that dropping adds (side 0: what was there before) or takes away (side 1)."""
    return sum(span[2 * side + 1] - span[2 * side] for piece in chosen for span in piece.spans)


def _worded(plan: FilePlan, row: StagedFile) -> FilePlan:
    """An undo's reasons speak of the agent's change; here the change is still to come."""
    if plan.outcome == "conflict" and not row.base:
        return replace(plan, reason=gettext_noop("there is a file of this name now"))
    if plan.outcome == "conflict" and not row.content:
        return replace(plan, reason=gettext_noop("the file has been changed since, so it is not removed"))
    return plan


def _restaged(
    entry: Mapping[str, Any],
    place: Place,
    row: StagedFile | None,
    change: FileChange | None,
    roots: Roots,
) -> Move:
    """Take back what a verdict did with one file: in the working tree and in what is staged."""
    root = roots.by_id(place[0])
    path = roots.seen(root, place[1])
    try:
        now = read_file(root.worktree, place[1])
        plan = _unwritten(path, now)
        if change is not None:
            (plan,) = plan_roots([roots.change(change)], roots)
        if _untouched(entry, row, plan):
            before, after = entry["after"], entry["before"]
        else:
            before = staging.snapshot(row) if row else {**entry["before"], **_gone(now, root.objects)}
            after = _merged(path, entry, before, root.objects)
            if row is None and change is not None:
                after |= {"base": plan.result or "", "mode_base": plan.mode}
    except Stop as stop:
        plan = FilePlan(path, stop.outcome, reason=stop.reason)
        before = after = dict(entry["after"])
    except (UnsafePath, OSError, ObjectMissing) as error:
        plan = FilePlan(path, "unsafe", reason=str(error))
        before = after = dict(entry["after"])
    return Move(plan, before, after, tuple(entry["hunks"]), writes=change is not None)


def _unwritten(path: str, now: FileState | None) -> FilePlan:
    """The plan of a verdict that leaves the file on the disk as it is."""
    oid, mode = (object_id(now.content), now.mode) if now else (None, None)
    return FilePlan(path, "restore", oid, mode, oid, mode)


def _untouched(entry: Mapping[str, Any], row: StagedFile | None, plan: FilePlan) -> bool:
    """Whether disk and row are still what the verdict left; then everything is as it was before it."""
    after = entry["after"]
    if plan.before_now != entry["plan"]["result"]:
        return False
    if row is None:
        return bool(after["base"] == after["content"])
    return bool(row.base == after["base"] and row.content == after["content"])


def _gone(now: FileState | None, objects: ObjectStore) -> dict[str, Any]:
    """Where there is no row the staged content is the disk's."""
    oid, mode = (objects.put(now.content), now.mode) if now else ("", None)
    return {"base": oid, "content": oid, "mode_base": mode, "mode": mode}


def _merged(path: str, entry: Mapping[str, Any], now: Snapshot, objects: ObjectStore) -> dict[str, Any]:
    """The row without what the verdict did to it, in both of its contents. Raises Stop."""
    before, after, merged = entry["before"], entry["after"], dict(now)
    for name, mode in (("content", "mode"), ("base", "mode_base")):
        if before[name] == after[name]:
            continue
        run = Change(path, before[name] or None, after[name] or None, before[mode], after[mode])
        state = FileState(objects.get(now[name]), now[mode] or NEW_FILE) if now[name] else None
        made, _ = invert(run, state, objects)
        merged[name] = objects.put(made.content) if made else ""
        merged[mode] = made.mode if made else None
    return merged
