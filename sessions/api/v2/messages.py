"""`/api/session/{id}/message`, `context`, `history`: what was said."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from sessions.api.base import wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, Tagged, checked, session_of
from sessions.api.v2.cursors import Order, Place, decode, encode, invalid, size
from sessions.api.v2.projection import log, timeline
from sessions.api.v2.projection.timeline import NOTHING, ids_of, shown
from sessions.core.db import in_db
from sessions.core.models import ContextEpoch, ContextMessage, Message, Part, Session
from sessions.core.wire.base import Wire
from sessions.core.wire.v2.base import Cursors, Data, Page
from sessions.core.wire.v2.conversation import is_complete
from sessions.core.wire.v2.events import History
from sessions.core.wire.v2.messages import SessionMessage

router = Router()

DEFAULT_PAGE = 50
DEFAULT_EVENTS = 100


class MessagesOf(Wire):
    limit: int | None = None
    order: Order | None = None
    cursor: str = ""


@router.get("/{session_id}/message", operation_id="v2.session.messages")
@answers(Page[SessionMessage], errors=(404,))
async def list_messages(request: HttpRequest, session_id: str, query: Query[MessagesOf]) -> HttpResponse:
    """The newest first, unless asked for otherwise."""
    await session_of(session_id)
    limit = size(query.limit, DEFAULT_PAGE)
    if query.cursor and query.order:
        raise invalid("Cursor cannot be combined with order")
    place = decode(query.cursor, Place) if query.cursor else Place(order=query.order or "desc", id="")
    rows = await in_db(timeline.page, session_id, place.id, newest=place.newest, limit=limit)
    if place.direction == "previous":
        rows.reverse()
    cursors: dict[str, str] = {}
    if rows:
        previous = place.model_copy(update={"direction": "previous", "id": rows[0][0]})
        following = place.model_copy(update={"direction": "next", "id": rows[-1][0]})
        cursors = Cursors(previous=encode(previous), next=encode(following)).wire()
    return wire({"data": [message.wire() for _, message in rows], "cursor": cursors})


@router.get("/{session_id}/message/{message_id}", operation_id="v2.session.message")
@answers(Data[SessionMessage], errors=(404,))
async def get_message(request: HttpRequest, session_id: str, message_id: str) -> HttpResponse:
    await session_of(session_id)
    found = await in_db(timeline.find, session_id, checked(message_id, "msg_", "messageID"))
    if found is None:
        ids = {"sessionID": session_id, "messageID": message_id}
        raise Tagged(404, "MessageNotFoundError", f"Message not found: {message_id}", **ids)
    return wire({"data": found.wire()})


@router.get("/{session_id}/context", operation_id="v2.session.context")
@answers(Data[list[SessionMessage]], errors=(404,))
async def context(request: HttpRequest, session_id: str) -> HttpResponse:
    """What the model would be given, oldest first."""
    found = await in_db(in_context, await session_of(session_id))
    return wire({"data": [message.wire() for message in found]})


@router.get("/{session_id}/history", operation_id="v2.session.history")
@answers(History, errors=(404,))
async def history(
    request: HttpRequest, session_id: str, limit: int | None = None, after: int = 0
) -> HttpResponse:
    """Events after a cursor, the `durable.seq` of the last one that is known, oldest first."""
    await session_of(session_id)
    most = size(limit, DEFAULT_EVENTS)
    await check_cursor(after)
    found, _ = await in_db(log.after, session_id, after, most + 1)
    data = [event.wire() for event in found[:most]]
    return wire({"data": data, "hasMore": len(found) > most})


async def check_cursor(cursor: int) -> None:
    """Raises InvalidRequest for what is no cursor of this server's log of events."""
    try:
        await in_db(log.check, cursor)
    except log.NoSuchCursor as error:
        words = "after: the log of events does not reach back so far, or has not come so far"
        raise InvalidRequest(words, "after", "Query") from error


# The messages that a model would be given now (Session History).


def in_context(session: Session) -> list[SessionMessage]:
    """The last compaction, the end of the conversation that it kept, and what came after; without what is
    undone and what the model was told in earlier epochs."""
    began = ContextEpoch.objects.filter(session=session).values_list("began", flat=True).first() or ""
    summary = _last_summary(session.id)
    request, kept_from = _compaction(summary)
    ids = [id for id in ids_of(session.id, "", newest=False) if id >= kept_from and id != request]
    gone = set(_told(session.id).filter(id__lt=began).values_list("id", flat=True))
    gone |= set(_summaries(session.id).values_list("id", flat=True))
    if summary is not None:
        gone |= set(_told(session.id).filter(id__lt=summary.id).values_list("id", flat=True))
        gone |= _earlier_requests(session.id, summary.id)
    undone = session.revert or {}
    point, part = undone.get("messageID"), undone.get("partID")
    kept = [id for id in ids if id not in gone and (not point or id < point or (part and id == point))]
    rows = [request, *kept] if request else kept
    without = Q(message_id=point, id__gte=part) if part else NOTHING
    return [message for _, message in shown(session.id, rows, without=without)]


def _summaries(session_id: str) -> QuerySet[Message]:
    """Also those that were begun and not completed."""
    rows = Message.objects.filter(session_id=session_id, role="assistant", data__summary=True)
    return rows.order_by("-id")


def _last_summary(session_id: str) -> Message | None:
    return next((row for row in _summaries(session_id) if is_complete(row.data)), None)


def _compaction(summary: Message | None) -> tuple[str, str]:
    """The prompt that a summary answers, and the first id that is still given; both empty without one."""
    if summary is None:
        return "", ""
    request = str(summary.data["parentID"])
    asked = Part.objects.filter(message_id=request, type="compaction").first()
    return request, (asked.data.get("tail_start_id") if asked else "") or summary.id


def _told(session_id: str) -> QuerySet[ContextMessage]:
    return ContextMessage.objects.filter(session_id=session_id).order_by()


def _earlier_requests(session_id: str, summary: str) -> set[str]:
    """Requests for compactions before the last one: their summaries went into its own."""
    rows = Part.objects.filter(session_id=session_id, type="compaction", message_id__lt=summary)
    return set(rows.values_list("message_id", flat=True))
