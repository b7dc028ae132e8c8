"""The ledger of file changes (design law 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from sessions.ids import now
from sessions.models import FileChange, Session
from sessions.models.ledger import shown

from . import events


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a conversation from which on something is taken back: a message, or a part of it."""

    message_id: str
    part_id: str = ""

    @property
    def onward(self) -> Q:
        """Ledger entries from here on."""
        return Q(message_id__gt=self.message_id) | Q(message_id=self.message_id, part_id__gte=self.part_id)

    def covers(self, change: FileChange) -> bool:
        """Whether one entry is from here on."""
        return (change.message_id, change.part_id) >= (self.message_id, self.part_id)


def add(session: Session, changes: Iterable[FileChange]) -> None:
    """Append changes; every one must name its path and contents, the rest is filled in here."""
    with transaction.atomic():
        for change in changes:
            change.session, change.project_id, change.time_created = session, session.project_id, now()
            change.save(force_insert=True)
            announce(change)


def announce(change: FileChange) -> None:
    """Tell that a file was changed; call it inside `atomic`."""
    properties = {
        "sessionID": change.session_id,
        "file": shown(change.path),
        "messageID": change.message_id,
    }
    events.record("file.edited", properties, project=change.project_id, session=change.session_id)


def by_tools(session_id: str, *, since: str = "", before: str = "") -> QuerySet[FileChange]:
    """What tools changed and no undo took back, oldest first: all, or of messages in `[since, before)`."""
    rows = FileChange.objects.filter(session_id=session_id, operation=None, undone_by=None)
    if since:
        rows = rows.filter(message_id__gte=since)
    if before:
        rows = rows.filter(message_id__lt=before)
    return rows.order_by("id")


def undoable(session_id: str) -> QuerySet[FileChange]:
    """What tools changed, oldest first: in effect, or taken back by an undo that can still be redone."""
    open_to_redo = Q(undone_by=None) | Q(undone_by__state="done")
    return FileChange.objects.filter(open_to_redo, session_id=session_id, operation=None).order_by("id")
