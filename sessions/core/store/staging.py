"""Review mode in the rows: whether edits wait, and which do (`sessions.changes.operations.staged`).

What waits belongs to the topmost session: its subagents stage into it. `base` of a row moves when something
of it is kept, `content` when the agent edits or something is dropped; without a difference the row goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from sessions.core.ids import now
from sessions.core.models import Session, StagedFile
from sessions.core.prepared import Prepared

from . import sessions as session_store
from .children import errand_of
from .family import topmost
from .ledger import changed

_COLUMNS = (
    "base",
    "content",
    "mode_base",
    "mode",
    "guarded",
    "by_session_id",
    "message_id",
    "part_id",
    "call_id",
    "for_message_id",
    "for_part_id",
)


class StaleEdit(Exception):
    """A staged file is not what the edit began with; the text is its path."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One write of a call as addresses: what it `expected` to find, what it leaves, and the file on the disk
    (`base`) in case that this is the first edit of it. Empty for no file. `path` is in the project, which is
    the session's or a folder beside it."""

    project_id: str
    path: str
    expected: str
    content: str
    base: str
    mode_base: int | None
    mode: int | None
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class CallRef:
    """The tool call that stages."""

    message_id: str
    part_id: str
    call_id: str


def files(session: Session) -> list[StagedFile]:
    """What waits for a session and its subagents, by path."""
    return _STAGED.rows(topmost(session).id)


_STAGED = Prepared(lambda session_id: StagedFile.objects.filter(session_id=session_id).order_by("path"))


def is_on(session: Session) -> bool:
    """Whether new edits of a session wait."""
    return bool(_ON.rows(topmost(session).id))


_ON = Prepared(lambda session_id: Session.objects.filter(id=session_id, staging=True).only("id"))


def projects_of(session: Session) -> set[str]:
    """Those that something waits in, and its own."""
    return {session.project_id, *(row.project_id for row in files(session))}


def switch(session: Session, on: bool) -> Session | None:
    """Turn review mode on or off; what waits goes on waiting."""
    with transaction.atomic():
        row = session_store.update(topmost(session).id, staging=on)
        if row is not None:
            changed(row)
    return row


def stage(session: Session, edits: Sequence[Edit], call: CallRef) -> None:
    """Put edits of one call beside the working tree, all or none. Raises StaleEdit."""
    with transaction.atomic():
        root, errand = topmost(session), errand_of(session)
        rows = {(row.project_id, row.path): row for row in files(root)}
        for edit in edits:
            row = rows.get((edit.project_id, edit.path)) or StagedFile(
                session=root,
                project_id=edit.project_id,
                path=edit.path,
                base=edit.base,
                content=edit.base,
                mode_base=edit.mode_base,
            )
            if row.content != edit.expected:
                raise StaleEdit(edit.path)
            row.content, row.mode = edit.content, edit.mode
            row.guarded = row.guarded or edit.guarded
            row.by_session = session
            row.message_id, row.part_id, row.call_id = call.message_id, call.part_id, call.call_id
            row.for_message_id = errand.message_id if errand else ""
            row.for_part_id = errand.id if errand else ""
            save(row)
        changed(root)


def save(row: StagedFile) -> None:
    """Write a row that was changed, or remove it where nothing is left of the edits."""
    if row.content != row.base:
        row.time_updated = now()
        row.save()
    elif row.pk is not None:
        row.delete()


def snapshot(row: StagedFile) -> dict[str, Any]:
    """A staged row as an operation on it keeps it."""
    return {name: getattr(row, name) for name in _COLUMNS}
