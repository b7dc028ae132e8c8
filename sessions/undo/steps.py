"""What changes of one file come to, with what others wrote between them told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sessions.snapshots.changes import Change
from sessions.snapshots.objects import ObjectMissing, ObjectStore
from sessions.undo.files import NEW_FILE, FileState
from sessions.undo.plan import Stop, fold, invert, mode_equals


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
