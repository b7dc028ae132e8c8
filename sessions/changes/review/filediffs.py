"""The net change of every file in a scope of the ledger, as the wire shows it: one bounded patch a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from django.db import transaction

from sessions.changes.diffs.hunks import is_binary
from sessions.changes.diffs.lines import count, diff_text
from sessions.changes.roots import Roots, own_first, roots_of
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.changes.undo.files import same_mode
from sessions.core.db import in_db
from sessions.core.models import FileChange, Message, Session
from sessions.core.models.ledger import shown
from sessions.core.prepared import Prepared
from sessions.core.store import ledger, messages
from sessions.core.store.rows import message_info
from sessions.core.store.summary import next_prompt, write
from sessions.core.wire.base import FileDiff
from sessions.core.wire.messages import UserMessage, UserSummary

Status = Literal["added", "deleted", "modified"]


@dataclass(frozen=True, slots=True)
class NetChange:
    """First content before, last content after; empty addresses where the file did not exist.

    `skipped` says why a content is not known; then there is nothing to compare.
    """

    path: str
    before: str
    after: str
    mode_before: int | None
    mode_after: int | None
    skipped: str = ""

    @property
    def status(self) -> Status:
        """The wire's word."""
        if self.skipped and not self.before and not self.after:
            return "modified"
        return "added" if not self.before else "deleted" if not self.after else "modified"

    @property
    def mode_changed(self) -> bool:
        """Whether its permissions are others, or a file became a link."""
        return self.status == "modified" and not same_mode(self.mode_before, self.mode_after)


def net(changes: Iterable[FileChange], roots: Roots) -> list[NetChange]:
    """Fold ledger entries (oldest first) by path; files that ended as they began are left out."""
    by_path: dict[str, list[FileChange]] = {}
    for change in changes:
        by_path.setdefault(roots.path(change), []).append(change)
    folded = (_fold(path, by_path[path]) for path in sorted(by_path, key=own_first))
    return [file for file in folded if file.skipped or file.before != file.after or file.mode_changed]


def _fold(path: str, changes: list[FileChange]) -> NetChange:
    first, last = changes[0], changes[-1]
    skipped = next((change.skipped for change in changes if change.skipped), "")
    return NetChange(path, first.before, last.after, first.mode_before, last.mode_after, skipped)


PATCH_LIMIT = 64 * 1024
"""Characters of one file's patch; what is cut off is said in its last line."""
ALL_PATCHES = 1024 * 1024
"""Characters of all patches together: they are kept with the message and sent with every update of it."""
LARGEST = 16 * 1024 * 1024
"""Bytes of both contents together from which on lines are neither compared nor counted: so much takes half a
second, once."""


def file_diffs(changes: Iterable[NetChange], roots: Roots) -> list[FileDiff]:
    """`{file, patch, additions, deletions, status}` of each file; small patches first when not all fit."""
    diffs = [_file_diff(change, roots.of(change.path).objects) for change in changes]
    room = ALL_PATCHES
    for diff in sorted(diffs, key=lambda diff: len(diff.patch or "")):
        room -= len(diff.patch or "")
        if room < 0:
            diff.patch = "\\ This patch is left out: there are too many changes to send.\n"
    return diffs


@lru_cache(maxsize=8192)
def count_change(change: Change, objects: ObjectStore) -> tuple[int, int]:
    """Lines added and deleted by a change; none where its contents cannot be compared."""
    try:
        old, new = (objects.get(oid) if oid else b"" for oid in (change.before, change.after))
    except ObjectMissing:
        return 0, 0
    if change.skipped or is_binary(old) or is_binary(new) or len(old) + len(new) > LARGEST:
        return 0, 0
    return count(old, new)


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


@dataclass(frozen=True, slots=True)
class Changed:
    """The net changes of a scope, and the roots that have their contents."""

    files: list[NetChange]
    roots: Roots


async def changed(session: Session, message_id: str | None = None) -> Changed:
    """What the session has changed by now, or what the turn of a message did; undone changes do not count."""
    return await in_db(_changes, session, message_id)


async def session_diff(session: Session, message_id: str | None = None) -> list[FileDiff]:
    """The same as the wire's FileDiffs, each with a bounded patch."""
    found = await changed(session, message_id)
    return await asyncio.to_thread(file_diffs, found.files, found.roots)


def _changes(session: Session, message_id: str | None) -> Changed:
    if not message_id:
        return changed_in(session, ledger.by_tools(session.id))
    point = ledger.locate(session.id, message_id)
    if point is None:
        return changed_in(session, ())
    end = next_prompt(session.id, point.message_id)
    return changed_in(session, ledger.by_tools(session.id, since=point.message_id, before=end))


def changed_in(session: Session, rows: Iterable[FileChange]) -> Changed:
    """What entries of the ledger amount to, seen from a session. Runs on the ORM's thread."""
    listed = list(rows)
    roots = roots_of(session.project, listed)
    return Changed(net(listed, roots), roots)


_CHANGED = Prepared(lambda session_id, since: ledger.by_tools(session_id, since=since).only("id")[:1])


def refresh(session: Session, user_message_id: str) -> None:
    """Bring both up to date from the ledger after steps of a turn; writes nothing when nothing is new."""
    session_id = session.id
    if not _CHANGED.rows(session_id, user_message_id):
        return
    turn = ledger.by_tools(session_id, since=user_message_id, before=next_prompt(session_id, user_message_id))
    made = changed_in(session, turn)
    diffs = file_diffs(made.files, made.roots)
    row = Message.objects.filter(session_id=session_id, id=user_message_id).first()
    message = message_info(row) if row else None
    if not isinstance(message, UserMessage) or (message.summary and message.summary.diffs == diffs):
        return
    message.summary = (message.summary or UserSummary()).model_copy(update={"diffs": diffs})
    whole = changed_in(session, ledger.by_tools(session_id))
    with transaction.atomic():
        messages.put_message(message)
        write(session_id, file_diffs(whole.files, whole.roots))
