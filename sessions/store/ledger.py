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
from .children import errand_of
from .rows import worktree_of

VERDICTS = ("undo", "redo")
"""Kinds of operations that take back single hunks or files, and not the conversation: what they write counts
as a change of the turn whose hunks they are on (`FileChange.message_id`), if it is one of the ledger's.
"""

_COUNTS = Q(operation=None) | Q(
    operation__kind__in=(*VERDICTS, "restage"), operation__state__in=("done", "closed")
)
_BESIDE = Q(operation__kind__in=VERDICTS, message_id="")  # a verdict on changes that no turn made


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a conversation from which on something is taken back: a message, or a part of it."""

    message_id: str
    part_id: str = ""

    def onward(self, session_id: str) -> Q:
        """Ledger entries from here on, in the session it is a place of and in those of its subagents."""
        message, part = self.message_id, self.part_id
        own = Q(message_id__gt=message) | Q(message_id=message, part_id__gte=part)
        below = Q(for_message_id__gt=message) | Q(for_message_id=message, for_part_id__gte=part)
        return Q(session_id=session_id) & own | Q(for_session_id=session_id) & below

    def covers(self, change: FileChange, session_id: str) -> bool:
        """Whether one entry is from here on."""
        if change.session_id == session_id:
            place = (change.message_id, change.part_id)
        else:
            place = (change.for_message_id, change.for_part_id)
        return place >= (self.message_id, self.part_id)


def add(session: Session, changes: Iterable[FileChange]) -> None:
    """Append changes; every one must name its path and contents, the rest is filled in here."""
    with transaction.atomic():
        errand = errand_of(session)
        for change in changes:
            change.session, change.project_id, change.time_created = session, session.project_id, now()
            if errand is not None:
                change.for_session_id = errand.session_id
                change.for_message_id, change.for_part_id = errand.message_id, errand.id
            change.save(force_insert=True)
            announce(change)


def last_content(project_id: str, path: str) -> str | None:
    """What the newest entry of a file left in it, as an address in the object store; None without one."""
    rows = FileChange.objects.filter(project_id=project_id, path=path).order_by("-id")
    return rows.values_list("after", flat=True).first()


def announce(change: FileChange) -> None:
    """Tell that a file was changed; call it inside `atomic`."""
    file = shown(f"{worktree_of(change.project_id)}/{change.path}")
    properties = {"sessionID": change.session_id, "file": file, "messageID": change.message_id}
    if change.for_session_id:
        properties["forSessionID"] = change.for_session_id
    watched = {"file": file, "event": _kind(change)}
    for type, told in (("file.edited", properties), ("file.watcher.updated", watched)):
        events.record(type, told, project=change.project_id, session=change.session_id)


def _kind(change: FileChange) -> str:
    """What became of a file, as one who watches it would tell."""
    if change.skipped or (change.before and change.after):
        return "change"
    return "add" if change.after else "unlink"


def by_tools(session_id: str, *, since: str = "", before: str = "") -> QuerySet[FileChange]:
    """What tools changed and no undo of the conversation took back, with the verdicts on it, oldest first:
    all, or of messages in `[since, before)`. What subagents changed belongs to the message that sent them.
    """
    own, below = Q(session_id=session_id), Q(for_session_id=session_id)
    if since:
        own, below = own & Q(message_id__gte=since), below & Q(for_message_id__gte=since)
    if before:
        own, below = own & Q(message_id__lt=before), below & Q(for_message_id__lt=before)
    return FileChange.objects.filter(own | below, _COUNTS, undone_by=None).exclude(_BESIDE).order_by("id")


def undoable(session_id: str, below: Q | None = None) -> QuerySet[FileChange]:
    """What tools and subagents changed and the verdicts on it, oldest first: in effect, or taken back by an
    undo of this session that can still be redone. `below` adds entries of sessions it sent itself.
    """
    open_to_redo = Q(undone_by=None) | Q(undone_by__state="done", undone_by__session_id=session_id)
    family = Q(session_id=session_id) | Q(for_session_id=session_id) | (below or Q())
    return FileChange.objects.filter(open_to_redo, family, _COUNTS).exclude(_BESIDE).order_by("id")
