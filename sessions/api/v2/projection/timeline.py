"""The messages of a session in order: what was said, what the model was told, what was switched.

Their rows have ids that sort among each other. A compaction and a shell command of the user are a prompt with
its answer in the rows, and one message here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

from sessions.core.models import ContextMessage, Message, Part, Switch
from sessions.core.store.rows import message_wire, part_wire
from sessions.core.store.switches import model_of
from sessions.core.wire.parts import Created
from sessions.core.wire.session import SessionModel
from sessions.core.wire.v2 import conversation
from sessions.core.wire.v2.messages import (
    AgentSwitchedMessage,
    ModelSwitchedMessage,
    SessionMessage,
    SystemMessage,
)

Entry = dict[str, Any]
"""`{"info", "parts", "shown"}`; `shown` is the id that clients know it by."""

NOTHING = Q(pk__in=())
_KINDS = (Message, ContextMessage, Switch)


def page(session_id: str, start: str, *, newest: bool, limit: int) -> list[tuple[str, SessionMessage]]:
    """At most `limit` messages after an id (empty: from the end), each with the id that it sorts by: later
    ones, or with `newest` earlier ones, the newest first."""
    found: list[tuple[str, SessionMessage]] = []
    while len(found) < limit:
        chunk = ids_of(session_id, start, newest=newest, limit=limit)
        found += shown(session_id, chunk)
        if len(chunk) < limit:
            break
        start = chunk[-1]
    return found[:limit]


def find(session_id: str, shown_id: str) -> SessionMessage | None:
    """One message by the id that clients know it by."""
    found = shown(session_id, [resolve(session_id, shown_id)])
    return found[0][1] if found else None


def resolve(session_id: str, shown_id: str) -> str:
    """The id of a message's row: another one where a prompt could not keep the id it was admitted with."""
    rows = Message.objects.filter(session_id=session_id, prompt_id=shown_id)
    return rows.values_list("id", flat=True).first() or shown_id


def shown(session_id: str, ids: Sequence[str], *, without: Q = NOTHING) -> list[tuple[str, SessionMessage]]:
    """The messages of these rows, in this order; a row that is shown with another one gives none. Parts that
    `without` names are left out."""
    found: dict[str, SessionMessage] = {}
    for row in ContextMessage.objects.filter(session_id=session_id, id__in=ids):
        found[row.id] = SystemMessage(id=row.id, time=Created(created=row.time_created), text=row.text)
    for switch in Switch.objects.filter(session_id=session_id, id__in=ids):
        found[switch.id] = _switched(switch)
    found |= _said(session_id, entries(session_id, Q(id__in=ids), without=without))
    return [(id, found[id]) for id in ids if id in found]


def entries(session_id: str, which: Q, *, without: Q = NOTHING) -> list[Entry]:
    """Messages with their parts, less those that `without` names."""
    rows = list(Message.objects.filter(which, session_id=session_id).order_by("id"))
    parts: dict[str, list[dict[str, Any]]] = {}
    written = Part.objects.filter(message_id__in=[row.id for row in rows]).exclude(without)
    for part in written.order_by("message_id", "id"):
        parts.setdefault(part.message_id, []).append(part_wire(part))
    return [
        {"info": message_wire(row), "parts": parts.get(row.id, []), "shown": row.prompt_id or row.id}
        for row in rows
    ]


def shell_prompts(ids: Iterable[str]) -> dict[str, str]:
    """Which of these prompts are commands that the user ran, each with the id that clients know it by."""
    marked = Part.objects.filter(
        message_id__in=list(ids), type="text", data__metadata__has_key=conversation.SHELL
    )
    return {id: shown or id for id, shown in marked.values_list("message_id", "message__prompt_id")}


def _said(session_id: str, said: Sequence[Entry]) -> dict[str, SessionMessage]:
    asked = [entry["info"]["id"] for entry in said if _is_answered_within(entry)]
    answers = {
        entry["info"]["parentID"]: entry
        for entry in (entries(session_id, Q(data__parentID__in=asked)) if asked else ())
    }
    parents = {entry["info"].get("parentID", "") for entry in said}
    shells = shell_prompts(parents - {""})
    found: dict[str, SessionMessage] = {}
    for entry in said:
        info = entry["info"]
        answer = answers.get(info["id"])
        message = _user(entry, answer) if info["role"] == "user" else _assistant(entry, shells)
        if message is not None:
            found[info["id"]] = message
    return found


def _is_answered_within(entry: Entry) -> bool:
    parts = entry["parts"]
    return entry["info"]["role"] == "user" and bool(
        conversation.request_of(parts) or conversation.command_of(parts) is not None
    )


def _user(entry: Entry, answer: Entry | None) -> SessionMessage | None:
    """A compaction is there once it is complete."""
    if conversation.request_of(entry["parts"]):
        complete = answer is not None and conversation.is_complete(answer["info"])
        return conversation.compaction_of(entry, answer, entry["shown"]) if answer and complete else None
    if answer is not None and (shell := conversation.shell_of(entry, answer, entry["shown"])):
        return shell
    return conversation.user_of(entry, entry["shown"])


def _assistant(entry: Entry, shells: Mapping[str, str]) -> SessionMessage | None:
    info = entry["info"]
    if info.get("summary") and not info.get("error"):
        return None
    if info["parentID"] in shells and any(part["type"] == "tool" for part in entry["parts"]):
        return None
    return conversation.assistant_of(entry)


def _switched(row: Switch) -> SessionMessage:
    time = Created(created=row.time_created)
    if row.agent:
        return AgentSwitchedMessage(id=row.id, time=time, agent=row.agent)
    return ModelSwitchedMessage(id=row.id, time=time, model=SessionModel.model_validate(model_of(row)))


def ids_of(session_id: str, start: str, *, newest: bool, limit: int | None = None) -> list[str]:
    """Ids of rows in order; the arguments are those of `page`."""
    found: list[str] = []
    for kind in _KINDS:
        rows = kind._default_manager.filter(session_id=session_id)
        if start:
            rows = rows.filter(id__lt=start) if newest else rows.filter(id__gt=start)
        found += rows.order_by("-id" if newest else "id").values_list("id", flat=True)[:limit]
    return sorted(found, reverse=newest)[:limit]
