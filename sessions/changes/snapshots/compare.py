"""What changed from one tree to another, in terms of files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from sessions.changes.snapshots.changes import (
    IGNORED,
    LOST,
    MADE_AGAIN,
    REPOSITORY,
    Change,
    Skipped,
    Tree,
)
from sessions.changes.snapshots.modes import under
from sessions.changes.snapshots.objects import ObjectStore

_UNKEPT = (IGNORED, MADE_AGAIN)
"""Told of what goes only: that there is a new one hinders nothing."""
_NAMED = 500
"""Of more paths git is not asked by name, but for all."""


def compare(objects: ObjectStore, before: Tree, after: Tree) -> list[Change]:
    """The files that differ, by path, with their contents made our own. Raises GitError, OSError."""
    found: list[Change] = []
    if before.hash != after.hash:
        raw = objects.git(["diff-tree", "-r", "-z", "--raw", "--no-renames", before.hash, after.hash])
        found = list(_parse_raw(raw))
        lost = objects.own(oid for change in found for oid in (change.before, change.after) if oid)
        found = [_lost(change) if change.before in lost else change for change in found]
        found = [_with_folders(change, after.made) for change in found]
    known = {change.path for change in found}
    found = [_with_modes(change, before, after) for change in found]
    found += _modes_alone(objects, before, after, before.modes.differ(after.modes) - known)
    for folder in before.repositories - after.repositories:
        found.append(Change(f"{folder}/.git".lstrip("/"), None, None, skipped=REPOSITORY))
    return sorted(_with_skipped(found, before, after), key=lambda change: change.path)


def _with_modes(change: Change, before: Tree, after: Tree) -> Change:
    was, now = (
        before.modes.of(change.path, change.mode_before),
        after.modes.of(change.path, change.mode_after),
    )
    return replace(change, mode_before=was, mode_after=now)


def _modes_alone(objects: ObjectStore, before: Tree, after: Tree, paths: Collection[str]) -> Iterator[Change]:
    """The files among `paths` that changed in their permissions only: their content is in both trees."""
    if not paths:
        return
    named = sorted(paths) if len(paths) <= _NAMED else []
    listed = objects.git(["ls-tree", "-r", "-z", after.hash, "--", *named], borrowing=True).split(b"\0")[:-1]
    found = []
    for entry in listed:
        described, _, name = entry.partition(b"\t")
        mode, _, oid = described.decode().split()
        path = os.fsdecode(name)
        was, now = (tree.modes.of(path, int(mode, 8)) for tree in (before, after))
        if path in paths and was != now:
            found.append(Change(path, oid, oid, was, now))
    objects.own(change.before for change in found if change.before)
    yield from found


def _parse_raw(raw: bytes) -> Iterator[Change]:
    """Read the raw output format of git-diff-tree(1): `:mode mode id id status`, NUL, path, NUL."""
    fields = raw.split(b"\0")[:-1]
    for described, path in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode_after, before, after, _ = described.decode().removeprefix(":").split()
        there, still = int(mode_before, 8) or None, int(mode_after, 8) or None
        yield Change(os.fsdecode(path), before if there else None, after if still else None, there, still)


def _lost(change: Change) -> Change:
    return Change(change.path, None, change.after, change.mode_before, change.mode_after, LOST)


def _with_folders(change: Change, made: frozenset[str]) -> Change:
    """How many of a new file's folders, the deepest first, are new as well."""
    if not made or change.mode_before is not None:
        return change
    parents = PurePosixPath(change.path).parents[:-1]
    new = [any(str(folder) in made for folder in (parent, *parent.parents)) for parent in parents]
    return replace(change, new_folders=sum(new))


def _with_skipped(found: list[Change], before: Tree, after: Tree) -> Iterator[Change]:
    """Name also the files that changed but lie outside of one tree or both."""
    was = {skipped.path: skipped for skipped in before.skipped}
    now = {skipped.path: skipped for skipped in after.skipped}
    reasons = {path: _reason(was.get(path), now.get(path)) for path in was.keys() | now.keys()}
    folders = frozenset(path.removesuffix("/") for path in reasons if path.endswith("/"))
    for change in found:
        reason = change.skipped or reasons.get(change.path)
        if reason is None and under(change.path, folders):
            reason = next(reasons[path] for path in reasons if change.path.startswith(path))
        reasons.pop(change.path, None)
        yield replace(change, skipped=reason)
    for path, reason in reasons.items():
        if was.get(path) != now.get(path) and (path in was or reason not in _UNKEPT):
            yield Change(path, None, None, skipped=reason)


def _reason(was: Skipped | None, now: Skipped | None) -> str | None:
    either = now or was
    return either.reason if either else None
