"""What a person pins to a session (`Pin`): its model has it word by word, also after a compaction."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Sum
from django.utils.translation import gettext

from sessions.core.ids import ascending, now
from sessions.core.models import Message, Pin, ProjectNote, Session
from sessions.core.models.pins import BYTES_PER_TOKEN
from sessions.core.prepared import Prepared
from sessions.core.sentences import grouped

from . import events, messages
from . import sessions as session_store
from .rows import message_wire

MOST = 2
"""All that is pinned fills at most the window divided by this."""
LARGE = 5
"""From the window divided by this on a person is warned."""
UNKNOWN_WINDOW = 32_000
"""Tokens of the window of a model that nobody knows."""
_TITLE = 200


class Refused(ValueError):
    """It cannot be pinned; the text is for the person."""


def listing(session_id: str) -> list[Pin]:
    """The oldest first."""
    return _PINS.rows(session_id)


_PINS = Prepared(lambda session_id: Pin.objects.filter(session_id=session_id).order_by("id"))


def overview(session_id: str) -> list[Pin]:
    """The same without what is in them."""
    return list(Pin.objects.filter(session_id=session_id).defer("text").order_by("id"))


def of_messages(session_id: str) -> Mapping[str, str]:
    """The ids of pins by the messages that are pinned."""
    rows = Pin.objects.filter(session_id=session_id, message__isnull=False)
    return dict(rows.values_list("message_id", "id"))


def of_notes(session_id: str) -> Mapping[str, str]:
    """The ids of pins by the notes of the project that are pinned."""
    rows = Pin.objects.filter(session_id=session_id, note__isnull=False)
    return dict(rows.values_list("note_id", "id"))


def add(
    session: Session,
    kind: Pin.Kind,
    text: str,
    window: int,
    *,
    title: str = "",
    message_id: str = "",
    path: str = "",
    note: ProjectNote | None = None,
) -> Pin:
    """Pin a message (with its id), a file (with its path) or a note, which may be one of the project; what is
    pinned already is given back. A file or a note that is pinned again is pinned as it is now. `window` is
    the model's, in tokens; 0: unknown. Raises Refused."""
    if not text.strip():
        raise Refused(gettext("There is no text in it to be pinned."))
    size = len(text.encode("utf-8", "replace"))
    with events.together():
        session_store.locked(session.id)
        known = Pin.objects.filter(session=session, message_id=message_id or None, path=path)
        known = known.exclude(kind=Pin.Kind.NOTE)
        if message_id and (row := known.first()):
            return row
        if path:
            known.delete()
        if note:
            Pin.objects.filter(session=session, note=note).delete()
        _room_for(session.id, size, window)
        row = Pin.objects.create(
            id=ascending("pin"),
            session=session,
            kind=kind,
            message_id=message_id or None,
            path=path,
            note=note,
            title=" ".join((title or text[: 4 * _TITLE]).split())[:_TITLE],
            text=text,
            size=size,
            time_created=now(),
        )
        _changed(session, message_id)
    return row


def remove(session: Session, pin_id: str) -> Pin | None:
    """The one that was there."""
    with events.together():
        row = Pin.objects.filter(session=session, id=pin_id).first()
        if row is not None:
            row.delete()
            _changed(session, row.message_id or "")
    return row


def renew(note: ProjectNote) -> None:
    """Have the sessions in which a note of the project is pinned have it as it is now: a pin goes, and
    another comes."""
    text = note.words
    with events.together():
        for row in Pin.objects.filter(note=note).select_related("session"):
            row.delete()
            row.id, row.title, row.text = ascending("pin"), note.title, text
            row.size = len(text.encode("utf-8", "replace"))
            row.save(force_insert=True)
            _changed(row.session, "")


def forget(note: ProjectNote) -> list[str]:
    """A note of the project is pinned nowhere any more; the sessions where it was."""
    with events.together():
        rows = list(Pin.objects.filter(note=note).select_related("session"))
        for row in rows:
            row.delete()
            _changed(row.session, "")
    return [row.session_id for row in rows]


def is_large(tokens: int, window: int) -> bool:
    """Whether so much of what is pinned is worth a warning."""
    return tokens * LARGE >= (window or UNKNOWN_WINDOW)


def _room_for(session_id: str, size: int, window: int) -> None:
    """Raises Refused."""
    pinned = Pin.objects.filter(session_id=session_id).aggregate(size=Sum("size"))["size"] or 0
    most, wanted = (window or UNKNOWN_WINDOW) // MOST, -(-(pinned + size) // BYTES_PER_TOKEN)
    if wanted > most:
        words = (
            gettext(
                "This is too large to be pinned: about %(tokens)s tokens beside the %(pinned)s that are "
                "pinned, and pins may fill %(most)s, half of the model's window. Unpin something, or pin a "
                "note with what matters."
            )
            if pinned
            else gettext(
                "This is too large to be pinned: about %(tokens)s tokens, and pins may fill %(most)s, half "
                "of the model's window. Unpin something, or pin a note with what matters."
            )
        )
        counts = {"tokens": -(-size // BYTES_PER_TOKEN), "pinned": pinned // BYTES_PER_TOKEN, "most": most}
        raise Refused(words % {name: grouped(count) for name, count in counts.items()})


def _changed(session: Session, message_id: str) -> None:
    """A message shows whether it is pinned, so it is told anew."""
    properties = {"sessionID": session.id}
    events.record("session.pins", properties, project=session.project_id, session=session.id)
    row = Message.objects.filter(id=message_id).first() if message_id else None
    if row is not None:
        told = {"sessionID": session.id, "info": message_wire(row)}
        messages.record(session.id, "message.updated", told, {"messageID": row.id})
