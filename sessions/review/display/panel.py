"""What the review panel shows: the files of a scope, and the diff of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.diffs.hunks import FileDiff, hunks, is_binary
from sessions.models.ledger import pack_path, shown
from sessions.review.diffs import Changed
from sessions.review.display.table import FIRST_ROWS, Shown, View, show
from sessions.review.filediffs import LARGEST, content, file_diffs
from sessions.review.scope import NetChange
from sessions.snapshots.objects import ObjectMissing, ObjectStore
from sessions.wire import base as wire

OPEN_FILES = 12
OPEN_ROWS = 900
"""How many files, with how many changed lines in all, are open at first; the others load when opened."""

STATES = {"added": ("A", "New"), "deleted": ("D", "Deleted"), "modified": ("M", "Changed")}


@dataclass(frozen=True, slots=True)
class Body:
    """The diff of a file, or words on why there is none to show."""

    diff: Shown | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of the panel; `key` names it in URLs, `body` is None where it is loaded later."""

    name: str
    key: str
    letter: str
    state: str
    additions: int
    deletions: int
    body: Body | None = None


def file_rows(found: Changed, view: View) -> list[FileRow]:
    """The files of a scope, the first ones with their diff."""
    rows: list[FileRow] = []
    room = OPEN_ROWS
    for number, (change, diff) in enumerate(zip(found.files, _counts(found), strict=True)):
        letter, state = STATES[change.status]
        size = diff.additions + diff.deletions
        fits = number < OPEN_FILES and size <= room
        if fits:
            room -= size
        rows.append(
            FileRow(
                name=shown(change.path),
                key=pack_path(change.path),
                letter=letter,
                state=state,
                additions=diff.additions,
                deletions=diff.deletions,
                body=file_body(change, found.project.objects, view) if fits else None,
            )
        )
    return rows


def file_body(change: NetChange, objects: ObjectStore, view: View, *, limit: int | None = FIRST_ROWS) -> Body:
    """The diff of one file; never raises for contents that are missing, binary or too large."""
    if change.skipped:
        return Body(note=f"The content was not kept: {change.skipped}.")
    try:
        before, after = content(change.before, objects), content(change.after, objects)
    except ObjectMissing:
        return Body(note="The content is no longer at hand.")
    old, new = before or b"", after or b""
    if is_binary(old) or is_binary(new):
        return Body(note=f"Binary file: {_size(before)} before, {_size(after)} after.")
    if len(old) + len(new) > LARGEST:
        return Body(note=f"Too large to be compared: {_size(before)} before, {_size(after)} after.")
    return _text_body(
        change, hunks(old, new), old.decode("utf-8", "replace"), new.decode("utf-8", "replace"), view, limit
    )


def _text_body(
    change: NetChange, diff: FileDiff, before: str, after: str, view: View, limit: int | None
) -> Body:
    note = ""
    if change.mode_changed:
        note = f"Mode {change.mode_before:o} became {change.mode_after:o}."
    elif not diff.hunks:
        note = "The file is empty."
    if diff.truncated:
        note = "The diff is longer than what is shown here."
    table = show(diff, shown(change.path), view, before=before, after=after, limit=limit)
    return Body(table if diff.hunks else None, note)


def _counts(found: Changed) -> Sequence[wire.FileDiff]:
    return file_diffs(found.files, found.project.objects)


def _size(data: bytes | None) -> str:
    if data is None:
        return "no file"
    return f"{len(data):,} bytes" if len(data) < 10_000 else f"{len(data) / 1000:,.0f} kB"
