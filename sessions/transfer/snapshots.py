"""What the steps of an imported conversation changed in files, from OpenCode's snapshots into the ledger.

OpenCode keeps a tree of git for the beginning and for the end of a step, and lets go of them after some days.
They are read once, at the import, and never written; from then on an undo of these steps is like any other.
Of a step whose trees are gone the files are named alone (`changes.review.uncovered`).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sessions.changes.snapshots.changes import SIZE_LIMIT, Change
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.snapshots.snapshot import parse_raw
from sessions.changes.tracking import tracker
from sessions.changes.undo.files import AS_NEW, is_safe
from sessions.core.db import in_db_sync
from sessions.core.git import GitError
from sessions.core.models import FileChange
from sessions.core.store import importing
from sessions.core.store import sessions as session_store
from sessions.transfer.reading.records import Conversation, Wire, mapping, text

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that one question to git may take: what is there may have been made to be read for ever."""
_TREE = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class _Step:
    """Trees of the folder `root` between which files changed, as a part of the message says."""

    message: Wire
    part: str
    root: str
    before: str
    after: str


def put_changes(read: Conversation) -> None:
    """Of the steps that are in effect, each once. Blocks."""
    session = in_db_sync(session_store.get, read.info["id"])
    if session is None or not read.objects:
        return
    here = in_db_sync(importing.changed_by, session.id)
    steps = [step for step in _in_effect(read) if step.part not in here]
    project = tracker(session.project) if steps else None
    if project is None or project.problem:
        return
    try:
        rows = list(_rows(steps, project.objects, read.objects, project.worktree))
    except (GitError, OSError) as error:
        logger.warning("what imported steps changed is not known: %s", error)
        return
    in_db_sync(importing.put_changes, session, rows)


def _in_effect(read: Conversation) -> Iterator[_Step]:
    """The steps before what is undone."""
    undone = mapping(read.info.get("revert"))
    end = (text(undone.get("messageID")), text(undone.get("partID")))
    for entry in read.entries:
        for step in _steps(entry):
            if not end[0] or (step.message["id"], step.part) < end:
                yield step


def _steps(entry: Wire) -> Iterator[_Step]:
    """Of one message: the tree at a step's end stands with its sums, the patch follows."""
    root, after = text(mapping(entry["info"].get("path")).get("root")), ""
    for part in entry["parts"]:
        if part["type"] == "step-finish":
            after = text(part.get("snapshot"))
        elif part["type"] == "patch":
            before = part["hash"]
            if root and _TREE.fullmatch(before) and _TREE.fullmatch(after):
                yield _Step(entry["info"], part["id"], root, before, after)
            after = ""


def _rows(
    steps: Sequence[_Step], store: ObjectStore, objects: Sequence[Path], worktree: Path
) -> Iterator[FileChange]:
    """The files whose contents are at hand, with these made our own."""
    trees = _known({tree for step in steps for tree in (step.before, step.after)}, "tree", store, objects)
    found = [
        (step, change)
        for step in steps
        if {step.before, step.after} <= trees
        for change in _changes(step, store, objects, worktree)
    ]
    contents = {oid for _, change in found for oid in (change.before, change.after) if oid}
    blobs = _known(contents, "blob", store, objects)
    lost = (contents - blobs) | store.own(blobs, objects)
    for step, change in found:
        if lost.isdisjoint((change.before, change.after)):
            yield FileChange(
                message_id=step.message["id"],
                part_id=step.part,
                path=change.path,
                before=change.before or "",
                after=change.after or "",
                mode_before=change.mode_before,
                mode_after=change.mode_after,
                time_created=step.message["time"]["created"],
            )


def _known(ids: Iterable[str], kind: str, store: ObjectStore, objects: Sequence[Path]) -> set[str]:
    """Which objects are there, of a kind, and no larger than what is kept of a file."""
    asked = "".join(f"{oid}\n" for oid in ids).encode()
    listed = store.git(["cat-file", "--batch-check"], stdin=asked, also=objects, seconds=PATIENCE)
    lines = (line.split() for line in listed.decode().splitlines())
    return {oid for oid, *found in lines if found[0] == kind and int(found[1]) <= SIZE_LIMIT}


def _changes(step: _Step, store: ObjectStore, objects: Sequence[Path], worktree: Path) -> Iterator[Change]:
    """All files of the worktree that differ: the patch names of a file that was moved only the new place."""
    arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames", step.before, step.after]
    for change in parse_raw(store.git(arguments, also=objects, seconds=PATIENCE)):
        path = os.path.relpath(os.path.join(step.root, change.path), worktree)
        if is_safe(path):
            was, now = (mode and mode | AS_NEW for mode in (change.mode_before, change.mode_after))
            yield replace(change, path=path, mode_before=was, mode_after=now)
