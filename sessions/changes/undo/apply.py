"""Carry out a plan: file by file, each in one step, and only where the file is still what the plan saw."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from django.utils.translation.trans_null import gettext_noop

from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.undo.files import (
    UnsafePath,
    read_file,
    remove_empty_folder,
    remove_file,
    sync_parent,
    write_file,
)
from sessions.changes.undo.plan import WRITES, FilePlan, Outcome


@dataclass(frozen=True, slots=True)
class Applied:
    """`changes` are what was done, in order: to plan_undo they are the redo. `failed` are plans that could
    not be carried out, with the outcome and the reason they have now; those files are as they were."""

    changes: tuple[Change, ...]
    failed: tuple[FilePlan, ...]


def apply(
    plan: Iterable[FilePlan], worktree: Path, store: ObjectStore, *, written: Collection[str] = ()
) -> Applied:
    """Write what `plan_undo` planned (`restore` and `merge`); one file's failure does not stop the others.

    Paths in `written` are as planned already: a crash came after them. At the end the disk has it all.
    """
    due = [file for file in plan if file.outcome in WRITES]
    done: dict[str, Change] = {}
    failed: dict[str, FilePlan] = {}
    for file in _in_order(due, worktree):
        if file.path in written:
            continue
        if file.folders and file.result is not None:
            _remove(file.folders, worktree)
        ended = _try_file(file, worktree, store)
        if isinstance(ended, Change):
            done[file.path] = ended
        else:
            failed[file.path] = ended
    while lost := [file for file in due if file.path not in failed and not _has_places(file, worktree)]:
        for file in lost:
            done.pop(file.path, None)
            failed[file.path] = _put_back(file, worktree, store)
    _tidy([file for file in due if file.path not in failed], worktree)
    return Applied(tuple(done.values()), tuple(failed.values()))


def _in_order(due: Sequence[FilePlan], worktree: Path) -> Iterator[FilePlan]:
    """What can be written at once, so that it is there before anything goes; then what goes; then what was to
    have its place or its folder free for that."""
    later = []
    for file in due:
        if file.result is None or _is_blocked(file.path, worktree):
            later.append(file)
        else:
            yield file
    yield from (file for file in later if file.result is None)
    yield from (file for file in later if file.result is not None)


def _is_blocked(path: str, worktree: Path) -> bool:
    place = worktree / path
    if os.path.isdir(place) and not os.path.islink(place):
        return True
    above = (worktree / parent for parent in PurePosixPath(path).parents[:-1])
    return any(os.path.islink(folder) or os.path.isfile(folder) for folder in above)


def _has_places(file: FilePlan, worktree: Path) -> bool:
    """Whether what was there before and went from a file is where it was to be."""
    for oid, path in file.places:
        try:
            now = read_file(worktree, path)
        except (UnsafePath, OSError):
            return False
        if now is None or object_id(now.content) != oid:
            return False
    return True


def _put_back(file: FilePlan, worktree: Path, store: ObjectStore) -> FilePlan:
    """As it was before: what went from here did not come to its place."""
    assert file.before_now is not None
    assert file.mode_now is not None
    reason = gettext_noop("what was there before could not be put back to its place")
    try:
        write_file(worktree, file.path, store.get(file.before_now), file.mode_now)
    except (UnsafePath, ObjectMissing, OSError) as error:
        reason = f"{reason}, nor here: {error}"
    return replace(file, outcome="conflict", reason=reason)


def _tidy(done: Sequence[FilePlan], worktree: Path) -> None:
    """Remove folders that nothing is left in, and have the disk keep every name."""
    folders = {folder for file in done for folder in file.folders}
    _remove(folders, worktree)
    touched = {PurePosixPath(path).parent: path for path in [*folders, *(file.path for file in done)]}
    for path in touched.values():
        sync_parent(worktree, path)


def _remove(folders: Iterable[str], worktree: Path) -> None:
    """The deepest first; those with something in them stay."""
    for folder in sorted(folders, key=lambda path: path.count("/"), reverse=True):
        remove_empty_folder(worktree, folder)


def _try_file(file: FilePlan, worktree: Path, store: ObjectStore) -> Change | FilePlan:
    """What was done, or the plan with the outcome and the reason of why nothing was."""
    outcome: Outcome = "unsafe"
    try:
        done = _apply_file(file, worktree, store)
        if done:
            return done
        outcome, reason = "conflict", gettext_noop("the file has been changed since the preview")
    except (UnsafePath, ObjectMissing) as error:
        reason = str(error)
    except OSError as error:
        reason = error.strerror or str(error)
    return replace(file, outcome=outcome, reason=reason)


def _apply_file(file: FilePlan, worktree: Path, store: ObjectStore) -> Change | None:
    """Do one file; None when it is no longer what the plan saw."""
    now = read_file(worktree, file.path)
    seen = (object_id(now.content), now.mode) if now else (None, None)
    if seen != (file.before_now, file.mode_now):
        return None
    if now:
        store.put(now.content)
    made = 0
    if file.result is None:
        remove_file(worktree, file.path)
    else:
        assert file.mode is not None
        made = write_file(worktree, file.path, store.get(file.result), file.mode)
    return Change(file.path, file.before_now, file.result, file.mode_now, file.mode, new_folders=made)
