"""Carry out a plan: file by file, each in one step, and only where the file is still what the plan saw."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.undo.files import (
    UnsafePath,
    read_file,
    remove_empty_folder,
    remove_file,
    sync_folder,
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
    changes: list[Change] = []
    failed: list[FilePlan] = []
    due = [file for file in plan if file.outcome in WRITES]
    for file in due:
        if file.path in written:
            continue
        ended = _try_file(file, worktree, store)
        if isinstance(ended, Change):
            changes.append(ended)
        else:
            failed.append(ended)
    alone = {file.path for file in failed}
    _tidy([file for file in due if file.path not in alone], worktree)
    return Applied(tuple(changes), tuple(failed))


def _tidy(done: Sequence[FilePlan], worktree: Path) -> None:
    """Remove folders that nothing is left in, and have the disk keep every name."""
    folders = {folder for file in done for folder in file.folders}
    for folder in sorted(folders, key=lambda path: path.count("/"), reverse=True):
        remove_empty_folder(worktree, folder)
    touched = {PurePosixPath(path).parent: path for path in [*folders, *(file.path for file in done)]}
    for path in touched.values():
        sync_folder(worktree, path)


def _try_file(file: FilePlan, worktree: Path, store: ObjectStore) -> Change | FilePlan:
    """What was done, or the plan with the outcome and the reason of why nothing was."""
    outcome: Outcome = "unsafe"
    try:
        done = _apply_file(file, worktree, store)
        if done:
            return done
        outcome, reason = "conflict", "the file has been changed since the preview"
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
