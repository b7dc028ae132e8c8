"""What undoing would do, file by file, before anything is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from django.utils.translation.trans_null import gettext_noop

from sessions.changes.diffs.hunks import is_binary
from sessions.changes.diffs.lines import count
from sessions.changes.snapshots.changes import MOVED_IN, Change, in_words
from sessions.changes.snapshots.objects import EMPTY_FILE, ObjectMissing, ObjectStore, object_id
from sessions.changes.undo.files import (
    AS_NEW,
    NEW_FILE,
    FileState,
    UnsafePath,
    is_safe,
    read_file,
    same_kind,
    same_mode,
)
from sessions.changes.undo.merge import Conflict, three_way
from sessions.core.sentences import Sentence

WRITES = ("restore", "merge")
"""Outcomes of which a file is written."""

_HOMELESS = gettext_noop("this was there before, and would have no place any more")

Outcome = Literal["restore", "merge", "already", "conflict", "missing", "unsafe", "uncovered"]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What becomes of one file. Only `restore` and `merge` write; of an `uncovered` one nothing is known.

    `before_now` and `mode_now` are the file as the plan saw it, `result` and `mode` as it will be (None: no
    file); `additions` and `deletions` count lines from the one to the other. `folders` are to be removed if
    nothing is left in them. `places` are contents (object ids) that were there before the changes and go from
    this path, each with the path where the same plan has it.
    """

    path: str
    outcome: Outcome
    before_now: str | None = None
    mode_now: int | None = None
    result: str | None = None
    mode: int | None = None
    additions: int = 0
    deletions: int = 0
    reason: str = ""
    conflicts: tuple[Conflict, ...] = ()
    folders: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()


class Stop(Exception):
    """A change cannot be taken back; carries the outcome, the reason and the conflicts."""

    def __init__(self, outcome: Outcome, reason: str, conflicts: tuple[Conflict, ...] = ()) -> None:
        super().__init__(reason)
        self.outcome: Outcome = outcome
        self.reason = reason
        self.conflicts = conflicts


def plan_undo(changes: Iterable[Change], store: ObjectStore, worktree: Path) -> list[FilePlan]:
    """Take back `changes` (given in the order they were made), the files in the order of their first changes.

    What others wrote before, between and after them stays, or is a conflict. A path that holds something else
    now (a folder where a file was) is free if the plan takes that away. A content that was there before the
    changes goes from a path only if it is at another one afterwards (docs/decisions/0032). The worktree is
    only read; what a merge makes is put into `store`. Undoing what `apply` recorded is the redo. Raises
    OSError when the store cannot be written.
    """
    by_path: dict[str, list[Change]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    return _Planning(by_path, store, worktree).plans()


@dataclass
class _File:
    """One file of an undo: what changed it, and what is supposed of it until it turns out not to be so."""

    changes: Sequence[Change]
    way: _Way | None
    """What has to go before it can come; None when nothing has to."""
    moved: bool
    """It was there before under a name of which nothing is known."""
    barred: bool = False
    homeless: bool = False
    """What would go from here would be nowhere."""


class _Planning:
    """All files of one undo. What they do for each other is supposed at first, and given up where it is not
    so, until nothing has to be given up any more."""

    def __init__(self, by_path: Mapping[str, Sequence[Change]], store: ObjectStore, worktree: Path) -> None:
        self._store, self._worktree = store, worktree
        moved = {one.after for own in by_path.values() for one in own if one.skipped == MOVED_IN}
        # Of a file without content nothing can be lost.
        self._before = moved | {own[0].before for own in by_path.values()} - {EMPTY_FILE}
        self._files = {
            path: _File(own, self._way(path, by_path), any(one.skipped == MOVED_IN for one in own))
            for path, own in by_path.items()
        }
        self._planned = {path: self._plan(path) for path in by_path}

    def plans(self) -> list[FilePlan]:
        while wrong := self._blocked() or self._crowded() or self._unplaced():
            self._planned.update({path: self._plan(path) for path in wrong})
        there = self._results()
        return [
            replace(plan, places=tuple((oid, there[oid]) for oid in sorted(self._old(plan))))
            for plan in self._planned.values()
        ]

    def _plan(self, path: str) -> FilePlan:
        file = self._files[path]
        if file.barred:
            return FilePlan(
                path, "unsafe", reason=gettext_noop("there is a file or a link where its folder was")
            )
        own = file.changes
        if file.moved and not file.homeless:
            own = [replace(change, skipped=None) if change.skipped == MOVED_IN else change for change in own]
        plan = _plan_file(path, own, self._store, self._worktree, free=file.way is not None)
        if file.way and plan.outcome in WRITES:
            plan = replace(plan, folders=file.way.folders)
        elif file.way:  # nothing is to come here
            plan = _plan_file(path, own, self._store, self._worktree)
        if file.homeless and not file.moved and plan.outcome in WRITES:
            return replace(plan, outcome="conflict", reason=_HOMELESS)
        return plan

    def _way(self, path: str, changed: Collection[str]) -> _Way | None:
        """What is in the way of a file, or would lead it elsewhere, as far as the changes know of it."""
        if not is_safe(path):
            return None
        for parent in map(str, reversed(PurePosixPath(path).parents[:-1])):
            above = self._worktree / parent
            if parent in changed and (os.path.islink(above) or os.path.isfile(above)):
                return _Way(frozenset({parent}))
        place = self._worktree / path
        return _within(self._worktree, path) if os.path.isdir(place) and not os.path.islink(place) else None

    def _blocked(self) -> set[str]:
        """The files whose way is not free after all; it is taken as it is."""
        gone = {
            plan.path for plan in self._planned.values() if plan.outcome in WRITES and plan.result is None
        }
        blocked = set()
        for path, file in self._files.items():
            if file.way and not file.way.taken <= gone:
                blocked.add(path)
                file.barred = not file.way.folders
                file.way = None
        return blocked

    def _crowded(self) -> set[str]:
        """The files that would come to lie below another one that comes."""
        taken = {plan.path for plan in self._there()}
        crowded = {path for path in taken if not taken.isdisjoint(map(str, PurePosixPath(path).parents))}
        for path in crowded:
            self._files[path].barred = True
        return crowded

    def _unplaced(self) -> set[str]:
        """The files from which something would go that has no other place; they are left alone."""
        there = self._results()
        lost = {path for path, plan in self._planned.items() if not self._old(plan) <= there.keys()}
        for path in lost:
            self._files[path].homeless = True
        return lost

    def _results(self) -> dict[str, str]:
        """The contents that are there when all is done, with their paths."""
        return {plan.result: plan.path for plan in self._there() if plan.result}

    def _there(self) -> list[FilePlan]:
        """The files that are there when all is done."""
        done = (*WRITES, "already")
        return [plan for plan in self._planned.values() if plan.outcome in done and plan.result]

    def _old(self, plan: FilePlan) -> set[str]:
        """The contents older than the changes that a file has or had, and would not have any more."""
        if plan.outcome not in (*WRITES, "already"):
            return set()
        own = self._files[plan.path].changes
        moved = {change.after for change in own if change.skipped == MOVED_IN}
        now = {plan.before_now} & self._before
        return {oid for oid in moved | now if oid and oid != plan.result}


@dataclass(frozen=True, slots=True)
class _Way:
    """The files that have to go before a path is free, and the folders then, the deepest first."""

    taken: frozenset[str]
    folders: tuple[str, ...] = ()


def _within(worktree: Path, folder: str) -> _Way:
    """What a folder that is in the way holds."""
    files, folders = set[str](), []
    for place, below, names in os.walk(worktree / folder, topdown=False):
        links = [name for name in below if os.path.islink(os.path.join(place, name))]
        folders.append(os.path.relpath(place, worktree))
        files.update(os.path.relpath(os.path.join(place, name), worktree) for name in names + links)
    return _Way(frozenset(files), tuple(folders))


def plan_by_hand(path: str, content: bytes | None, seen: str, store: ObjectStore, worktree: Path) -> FilePlan:
    """Write what a person made of a conflict (None: no file), if the file still is what they saw (its object
    id, empty for no file); else a conflict."""
    try:
        now = read_file(worktree, path)
    except (UnsafePath, OSError) as error:
        return FilePlan(path, "unsafe", reason=str(error))
    oid, mode = (object_id(now.content), now.mode) if now else (None, None)
    if (oid or "") != seen:
        return FilePlan(
            path, "conflict", reason=gettext_noop("the file has been changed since you opened it")
        )
    if content is None:
        return FilePlan(path, "merge" if now else "already", oid, mode)
    result = store.put(content)
    return FilePlan(path, "already" if result == oid else "merge", oid, mode, result, mode or NEW_FILE)


def fold(changes: Sequence[Change]) -> list[Change]:
    """Join changes of one file that follow on each other; where somebody else wrote between, begin anew."""
    runs: list[Change] = []
    for change in changes:
        last = runs[-1] if runs else None
        if last and not last.skipped and not change.skipped and _follows(last, change):
            folders = max(last.new_folders, change.new_folders)
            joined = replace(last, after=change.after, mode_after=change.mode_after, new_folders=folders)
            runs[-1] = joined
        else:
            runs.append(change)
    return runs


def _follows(last: Change, change: Change) -> bool:
    return last.after == change.before and mode_equals(last.mode_after, change.mode_before)


def mode_equals(one: int | None, other: int | None) -> bool:
    """As same_mode, but a mode nobody recorded equals any."""
    return one is None or other is None or same_mode(one, other)


def _alike(one: int | None, other: int | None) -> bool:
    """As same_kind, but a mode nobody recorded equals any."""
    return one is None or other is None or same_kind(one, other)


def _plan_file(
    path: str, changes: Sequence[Change], store: ObjectStore, worktree: Path, *, free: bool = False
) -> FilePlan:
    """`free`: what is there now will not be."""
    try:
        now = None if free else read_file(worktree, path)
    except UnsafePath as error:
        return FilePlan(path, "unsafe", reason=str(error))
    except OSError as error:
        return FilePlan(path, "unsafe", reason=Sentence("cannot be read: %(error)s", error=error.strerror))
    seen = FilePlan(path, "already", object_id(now.content) if now else None, now.mode if now else None)
    state, merged, kept = now, False, ""
    try:
        for run in reversed(fold(changes)):
            if run.skipped == MOVED_IN and run.after:  # it goes back to no other place
                kept = in_words(run.skipped)
                break
            state, by_merge = invert(run, state, store)
            merged = merged or by_merge
    except Stop as stop:
        return replace(seen, outcome=stop.outcome, reason=stop.reason, conflicts=stop.conflicts)
    except ObjectMissing as error:
        return replace(
            seen,
            outcome="conflict",
            reason=Sentence("the content before is not at hand: %(error)s", error=error),
        )
    folders = _folders(path, changes) if state is None else ()
    plan = _finish(seen, now, state, merged, store, folders)
    if not kept:
        return plan
    return replace(plan, outcome="conflict" if plan.outcome == "already" else plan.outcome, reason=kept)


def _finish(
    seen: FilePlan,
    now: FileState | None,
    state: FileState | None,
    merged: bool,
    store: ObjectStore,
    folders: tuple[str, ...],
) -> FilePlan:
    result, mode = (store.put(state.content), state.mode) if state else (None, None)
    if state == now:
        return replace(seen, result=result, mode=mode)
    old, new = now.content if now else b"", state.content if state else b""
    additions, deletions = (0, 0) if is_binary(old) or is_binary(new) else count(old, new)
    return replace(
        seen,
        outcome="merge" if merged else "restore",
        result=result,
        mode=mode,
        additions=additions,
        deletions=deletions,
        folders=folders,
    )


def invert(run: Change, state: FileState | None, store: ObjectStore) -> tuple[FileState | None, bool]:
    """`state` without what `run` did, and whether it took a merge. Raises Stop."""
    if run.skipped:
        raise Stop("conflict", in_words(run.skipped))
    oid = object_id(state.content) if state else None
    kind = state.mode if state else None
    if oid == run.after and _alike(kind, run.mode_after):
        return _before(run, state, store), False
    if oid == run.before and _alike(kind, run.mode_before):
        return state and replace(state, mode=_restored_mode(run, state)), False
    if state is None:
        raise Stop("missing", gettext_noop("the file has been removed since"))
    if run.before is None:
        raise Stop("conflict", gettext_noop("the file was made by the agent and has been changed since"))
    if run.after is None:
        raise Stop("conflict", gettext_noop("the agent removed the file, and there is a new one since"))
    return _merge(run, state, store), oid != run.after


def _before(run: Change, state: FileState | None, store: ObjectStore) -> FileState | None:
    if run.before is None:
        return None
    return FileState(store.get(run.before), _restored_mode(run, state))


def _restored_mode(run: Change, state: FileState | None) -> int:
    """The mode without what the run changed of it, bit for bit: what others changed stays. A mode that is
    not known is the narrowest."""
    wanted, made = run.mode_before, run.mode_after
    if state is None:
        return stat.S_IFREG | 0o600 if wanted is None else wanted
    if wanted is None or made is None or same_mode(wanted, made):
        return state.mode
    if not (stat.S_ISREG(wanted) and stat.S_ISREG(state.mode)) or made == state.mode:
        return wanted
    changed = (wanted ^ made) & (0o111 if (wanted | made) & AS_NEW else 0o7777)
    mode = state.mode & ~changed | wanted & changed
    if changed & 0o111:  # nobody runs what they or its owner cannot
        mode &= ~0o111 | (mode & 0o444) >> 2 if mode & 0o100 else ~0o111
    return mode


def _merge(run: Change, state: FileState, store: ObjectStore) -> FileState:
    assert run.before is not None
    assert run.after is not None
    modes = (run.mode_before, run.mode_after, state.mode)
    if any(mode is not None and stat.S_ISLNK(mode) for mode in modes):
        raise Stop("conflict", gettext_noop("the link has been changed since"))
    merge = three_way(store.get(run.after), state.content, store.get(run.before))
    if merge.content is None:
        raise Stop("conflict", gettext_noop("the same lines have been changed since"), merge.conflicts)
    return FileState(merge.content, _restored_mode(run, state))


def _folders(path: str, changes: Sequence[Change]) -> tuple[str, ...]:
    """The parent folders that the changes made, the deepest first."""
    made = max(change.new_folders for change in changes)
    return tuple(str(parent) for parent in PurePosixPath(path).parents[:-1][:made])


def net_steps(changes: Sequence[Change], store: ObjectStore) -> tuple[Change, ...]:
    """Changes of one file, oldest first, as one change: from the last content without them to the last
    content.

    Others' lines are on both sides of it, so taking back a hunk of it leaves them. Where they cannot be told
    apart, each run of changes is a step by itself. Empty when the file ended as it began. What has to be
    merged for it is put into `store`.
    """
    runs = fold(changes)
    if len(runs) > 1 and (joined := _joined(runs, store)):
        runs = [joined]
    return tuple(run for run in runs if not _nothing(run))


def _joined(runs: Sequence[Change], store: ObjectStore) -> Change | None:
    last = runs[-1]
    if any(run.skipped for run in runs):
        return None
    try:
        state = FileState(store.get(last.after), last.mode_after or NEW_FILE) if last.after else None
        for run in reversed(runs):
            state, _ = invert(run, state, store)
    except (Stop, ObjectMissing):
        return None
    before, mode = (store.put(state.content), state.mode) if state else (None, None)
    folders = max(run.new_folders for run in runs)
    return replace(last, before=before, mode_before=mode, new_folders=folders)


def _nothing(run: Change) -> bool:
    return not run.skipped and run.before == run.after and mode_equals(run.mode_before, run.mode_after)
