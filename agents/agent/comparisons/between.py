"""What an attempt changed, or how it differs from another one, file by file with both contents."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sessions.changes.diffs.hunks import hunks, is_binary
from sessions.changes.diffs.lines import count, diff_text
from sessions.changes.review.comparing import Compared
from sessions.changes.review.filediffs import LARGEST, PATCH_LIMIT, NetChange, changed, content
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.core.models import Attempt
from sessions.core.models.ledger import shown
from sessions.core.wire.base import FileDiff


@dataclass(frozen=True, slots=True)
class Side:
    """What an attempt changed in its worktree, by path."""

    files: Mapping[str, NetChange]
    objects: ObjectStore


@dataclass(frozen=True, slots=True)
class Between:
    """A file of both sides. `compared` is None where a content is not at hand."""

    change: Change
    compared: Compared | None

    @property
    def name(self) -> str:
        return shown(self.change.path)


async def side(attempt: Attempt) -> Side:
    assert attempt.session is not None
    done = await changed(attempt.session)
    return Side(
        {file.path: file for file in done.files if not os.path.isabs(file.path)}, done.roots.home.objects
    )


async def between(old: Attempt | None, new: Attempt) -> list[Between]:
    """Without `old` from what both began with."""
    after = await side(new)
    before = await side(old) if old is not None else None
    return await asyncio.to_thread(lambda: list(_between(before, after)))


async def wire(old: Attempt | None, new: Attempt) -> list[FileDiff]:
    found = await between(old, new)
    return await asyncio.to_thread(lambda: [_wire(one) for one in found])


def _between(before: Side | None, after: Side) -> Iterator[Between]:
    for path in sorted({*after.files, *(before.files if before else ())}):
        made = _change(path, before, after)
        if made.before != made.after or made.mode_before != made.mode_after or made.skipped:
            yield Between(made, _compared(made, _objects(before, after)))


def _change(path: str, before: Side | None, after: Side) -> Change:
    """A file that one of them did not touch is there as both began with it."""
    new, old = after.files.get(path), before.files.get(path) if before else None
    if new is None:
        assert old is not None
        return Change(
            path, old.after or None, old.before or None, old.mode_after, old.mode_before, old.skipped
        )
    if old is None:
        return Change(
            path, new.before or None, new.after or None, new.mode_before, new.mode_after, new.skipped
        )
    skipped = new.skipped or old.skipped
    return Change(path, old.after or None, new.after or None, old.mode_after, new.mode_after, skipped)


def _objects(before: Side | None, after: Side) -> Sequence[ObjectStore]:
    return (after.objects, before.objects) if before else (after.objects,)


def _compared(change: Change, stores: Sequence[ObjectStore]) -> Compared | None:
    try:
        before, after = (_content(oid, stores) for oid in (change.before, change.after))
    except ObjectMissing:
        return None
    old, new = before or b"", after or b""
    if len(old) + len(new) > LARGEST and not (is_binary(old) or is_binary(new)):
        return Compared(before, after, hunks(b"", b""), large=True)
    return Compared(before, after, hunks(old, new))


def _content(oid: str | None, stores: Sequence[ObjectStore]) -> bytes | None:
    """Raises ObjectMissing where none of them has it."""
    for store in stores[:-1]:
        try:
            return content(oid or "", store)
        except ObjectMissing:
            continue
    return content(oid or "", stores[-1])


def _wire(one: Between) -> FileDiff:
    change, found = one.change, one.compared
    status = "added" if not change.before else "deleted" if not change.after else "modified"
    if change.skipped or found is None or found.large or found.diff.binary:
        words = change.skipped or "It cannot be compared line by line."
        return FileDiff(file=one.name, patch=f"\\ {words}\n", status=status)
    old, new = (
        None if data is None else data.decode("utf-8", "replace") for data in (found.before, found.after)
    )
    additions, deletions = count(found.before or b"", found.after or b"")
    patch = diff_text(old, new, one.name)[:PATCH_LIMIT]
    return FileDiff(file=one.name, patch=patch, additions=additions, deletions=deletions, status=status)
