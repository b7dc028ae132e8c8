"""Net changes as the wire shows them: one bounded patch a file (seed 004 §17)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sessions.diffs.hunks import is_binary
from sessions.diffs.unified import count, diff_text
from sessions.models.ledger import shown
from sessions.review.scope import NetChange
from sessions.snapshots.objects import ObjectMissing, ObjectStore
from sessions.wire.base import FileDiff

PATCH_LIMIT = 64 * 1024
"""Characters of one file's patch; what is cut off is said in its last line."""
ALL_PATCHES = 1024 * 1024
"""Characters of all patches together: they are kept with the message and sent with every update of it."""
LARGEST = 16 * 1024 * 1024
"""Bytes of both contents together from which on lines are neither compared nor counted: so much takes half a
second, once."""


def file_diffs(changes: Iterable[NetChange], objects: ObjectStore) -> list[FileDiff]:
    """`{file, patch, additions, deletions, status}` of each file; small patches first when not all fit."""
    diffs = [_file_diff(change, objects) for change in changes]
    room = ALL_PATCHES
    for diff in sorted(diffs, key=lambda diff: len(diff.patch or "")):
        room -= len(diff.patch or "")
        if room < 0:
            diff.patch = "\\ This patch is left out: there are too many changes to send.\n"
    return diffs


def totals(diffs: Iterable[FileDiff]) -> dict[str, int]:
    """The wire's summary of a session."""
    listed = list(diffs)
    return {
        "additions": sum(diff.additions for diff in listed),
        "deletions": sum(diff.deletions for diff in listed),
        "files": len(listed),
    }


def content(oid: str, objects: ObjectStore) -> bytes | None:
    """What is kept under an address of the ledger, None for no file. Raises ObjectMissing."""
    return objects.get(oid) if oid else None


def _file_diff(change: NetChange, objects: ObjectStore) -> FileDiff:
    name = shown(change.path)
    patch, additions, deletions = f"\\ {change.skipped}\n", 0, 0
    if not change.skipped:
        try:
            patch, additions, deletions = _compared(objects, name, change.before, change.after)
        except ObjectMissing as error:
            patch = f"\\ The content is not at hand: {error}\n"
    if change.mode_changed:
        before, after = ((mode or 0) & 0o177777 for mode in (change.mode_before, change.mode_after))
        patch = f"old mode {before:o}\nnew mode {after:o}\n{patch}"
    return FileDiff(file=name, patch=patch, additions=additions, deletions=deletions, status=change.status)


@lru_cache(maxsize=512)
def _compared(objects: ObjectStore, name: str, before: str, after: str) -> tuple[str, int, int]:
    """Patch, lines added, lines deleted. Addresses name contents, so an answer holds for ever."""
    old, new = content(before, objects), content(after, objects)
    if is_binary(old or b"") or is_binary(new or b""):
        return f"Binary files a/{name} and b/{name} differ\n", 0, 0
    if len(old or b"") + len(new or b"") > LARGEST:
        return "\\ The file is too large to be compared.\n", 0, 0
    patch = diff_text(_text(old), _text(new), name)
    return _bounded(patch), *count(old or b"", new or b"")


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def _bounded(patch: str) -> str:
    if len(patch) <= PATCH_LIMIT:
        return patch
    end = patch.rfind("\n", 0, PATCH_LIMIT) + 1
    return f"{patch[:end]}\\ {patch.count(chr(10), end)} more lines of this patch are not shown\n"
