"""The inbox: admit a prompt, list and change what waits, promote it atomically.

Two deliveries: `steer` promotes at the next safe boundary of a running drain, `queue` one at a time when
the session would go idle. Whatever is done to a prompt that waits is one transaction with its event
`session.inbox`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext
from pydantic import ValidationError

from sessions.core.data_url import by_address, content_of
from sessions.core.db import durable
from sessions.core.gate import gate
from sessions.core.ids import ascending, now
from sessions.core.models import Admission, AdmittedPrompt, Message, Part, Session
from sessions.core.prepared import Insert, Prepared, delete
from sessions.core.store import events, leases, messages, quotas, resumption
from sessions.core.store import sessions as session_store
from sessions.core.store.order import last_id
from sessions.core.store.rows import part_wire
from sessions.core.wire.messages import MessageTime, UserMessage
from sessions.core.wire.parts import PART
from sessions.core.wire.parts import Part as WirePart
from sessions.core.wire.session import Status

_CONTENT = "agent provider_id model_id variant system tools format parts no_reply".split()


STEERED_BY = "steered_by"
"""In the metadata of a prompt's part: the tool that goes on by it."""
GOES_ON = "compaction_continue"
"""The same: what a session goes on with after a compaction."""
OWN = {STEERED_BY, GOES_ON}
"""The same: no person sent it, but the turn that ran."""


class PromptRefused(ValueError):
    """The prompt cannot be admitted; the text is for the person who sent it."""


_TAKES = Prepared(
    lambda session_id: Session.objects.select_for_update().filter(id=session_id, time_deleted=None).only("id")
)
"""Locked, so that one position comes after another."""
_prompts, _admissions = Insert(AdmittedPrompt), Insert(Admission)


def admit(
    session: Session,
    parts: list[dict[str, Any]],
    *,
    message_id: str = "",
    agent: str = "",
    provider_id: str = "",
    model_id: str = "",
    variant: str = "",
    system: str = "",
    tools: dict[str, bool] | None = None,
    format: dict[str, Any] | None = None,
    delivery: Delivery = "queue",
    no_reply: bool = False,
    resume: bool = True,
    actor: str = "",
) -> AdmittedPrompt:
    """Make a prompt durable. The same message id with the same content is the same prompt, for ever: a client
    may send it again, also when it was answered long ago, and gets what it got first. With `no_reply` it is a
    message in the history that nobody answers.

    Raises PromptRefused for a prompt without content or with a part that no message can have, for an id that
    something else has, when the session was deleted, where its project is closed, and where the `actor` has
    spent what a person may in a day.
    """
    check(parts)
    if closed := gate(session.project_id).closed or quotas.refusal(actor):
        raise PromptRefused(closed)
    row = AdmittedPrompt(
        id=message_id or ascending("msg"),
        session=session,
        delivery=delivery,
        agent=agent,
        provider_id=provider_id,
        model_id=model_id,
        variant=variant,
        system=system,
        tools=tools or {},
        format=format,
        parts=parts,
        no_reply=no_reply,
        resume=resume,
        time_created=now(),
    )
    with durable(), transaction.atomic():
        if not _TAKES.rows(session.id):
            raise PromptRefused(gettext("The session was deleted."))
        if message_id and _is_known(row):
            return row
        row.position = _last_position(session.id)
        _prompts.put([row])
        admission = Admission(
            id=row.id,
            session=session,
            digest=digest(row),
            no_reply=no_reply,
            actor=actor,
            time_created=row.time_created,
        )
        _admissions.put([admission])
        record(session, row.id, delivery)
    return row


def session_of(message_id: str, project_id: str) -> Session | None:
    """The session of the project in which a prompt of this id was admitted."""
    known = Admission.objects.filter(id=message_id, session__project_id=project_id).select_related("session")
    return known[0].session if known else None


def senders(session_id: str) -> dict[str, str]:
    """Who sent the prompts of a session, where a server has people."""
    if not settings.PEOPLE:
        return {}
    rows = Admission.objects.filter(session_id=session_id).exclude(actor="")
    return dict(rows.values_list("id", "actor"))


def digest(row: AdmittedPrompt) -> str:
    """Of what a prompt says and to whom, not of when it is to be promoted."""
    content = [getattr(row, name) for name in _CONTENT]
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _is_known(row: AdmittedPrompt) -> bool:
    """Whether this very prompt was admitted before. Raises PromptRefused."""
    known = Admission.objects.filter(id=row.id).first()
    if known is None:
        if Message.objects.filter(id=row.id).exists():
            raise PromptRefused(gettext("The message id %(id)s is in use.") % {"id": row.id})
        return False
    if known.session_id != row.session_id:
        raise PromptRefused(gettext("The message id %(id)s is in use in another session.") % {"id": row.id})
    if known.digest != digest(row):
        raise PromptRefused(
            gettext("The message id %(id)s is that of a prompt with another content.") % {"id": row.id}
        )
    return True


def check(parts: list[dict[str, Any]]) -> None:
    """Raises PromptRefused for what could not be promoted: no content, or a part that lacks something."""
    if not any(part.get("text", "").strip() or part["type"] != "text" for part in parts):
        raise PromptRefused(gettext("The prompt is empty."))
    try:
        wire_parts([{**part, "id": ""} for part in parts], "", "")
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(str(step) for step in wrong["loc"])
        raise PromptRefused(f"{where}: {wrong['msg']}") from error
    for part in parts:
        if part["type"] == "file" and not by_address(part) and content_of(part["url"]) is None:
            name = part.get("filename") or part["mime"]
            raise PromptRefused(
                gettext("%(name)s cannot be read: what is attached is no base64.") % {"name": name}
            )


def wire_parts(parts: list[dict[str, Any]], session_id: str, message_id: str) -> list[WirePart]:
    """The parts of a prompt as those of a message, with ids in their order: those that the client gave if it
    gave all, in order, and nothing has them. Raises ValidationError."""
    where = {"sessionID": session_id, "messageID": message_id}
    given = [str(part.get("id") or "") for part in parts]
    usable = all(given) and given == sorted(set(given)) and not Part.objects.filter(id__in=given).exists()
    ids = given if usable else [ascending("prt") for _ in parts]
    return [PART.validate_python({**part, **where, "id": id}) for part, id in zip(parts, ids, strict=True)]


def _last_position(session_id: str) -> int:
    """After every other of the session, also when two prompts come in one millisecond."""
    last = _POSITIONS.named(session_id, limit=1)
    return max(now(), last[0].position + 1 if last else 0)


_POSITIONS: Prepared[Any] = Prepared(
    lambda session_id: (
        AdmittedPrompt.objects.filter(session_id=session_id)
        .order_by("-position")
        .values_list("position", named=True)
    )
)


Delivery = Literal["steer", "queue"]


def waiting(session_id: str) -> list[AdmittedPrompt]:
    """Everything that waits, in the order of its promotion: what steers comes before what is queued."""
    return sorted(_WAITING.rows(session_id), key=lambda row: row.delivery != "steer")


_WAITING = Prepared(lambda session_id: AdmittedPrompt.objects.filter(session_id=session_id))


def steering(rows: Sequence[AdmittedPrompt]) -> list[AdmittedPrompt]:
    """Of all that waits what promotes at the next safe boundary of a running drain, in order."""
    return [row for row in rows if row.delivery == "steer"]


def next_when_idle(session_id: str) -> list[AdmittedPrompt]:
    """What promotes when nothing is going on."""
    return first_of(waiting(session_id))


def first_of(rows: Sequence[AdmittedPrompt]) -> list[AdmittedPrompt]:
    """Of all that waits: every steering prompt, or else one queued prompt."""
    return steering(rows) or list(rows[:1])


@dataclass(frozen=True, slots=True)
class Work:
    """What a session has to do, as of one moment: the state of a turn that was cut off, and `waiting`, all
    prompts in the order of their promotion. `session` is its row then, with project and epoch."""

    session: Session
    state: resumption.State
    waiting: list[AdmittedPrompt]


def work(session_id: str) -> Work | None:
    """None where the session is deleted. The session is there with its project and its epoch."""
    session = _WHOLE.first(session_id)
    return Work(session, resumption.state(session_id), waiting(session_id)) if session else None


_WHOLE = Prepared(
    lambda session_id: Session.objects.filter(id=session_id, time_deleted=None).select_related(
        "project", "epoch"
    )
)


def has_work(session_id: str) -> bool:
    """Whether a turn is to go on, or a prompt waits."""
    return bool(_WAITING.rows(session_id)) or resumption.state(session_id) == "due"


def sessions_waiting() -> list[str]:
    """Ids of sessions with prompts that nobody promoted yet, for the start of a worker."""
    rows = AdmittedPrompt.objects.filter(session__time_deleted=None, session__lease_owner="", resume=True)
    return list(rows.values_list("session_id", flat=True).distinct())


def find(session_id: str, prompt_id: str) -> AdmittedPrompt | None:
    """A prompt, if it still waits."""
    return AdmittedPrompt.objects.filter(session_id=session_id, id=prompt_id).first()


def locked() -> QuerySet[AdmittedPrompt]:
    """Prompts that nobody else changes or promotes until the transaction ends."""
    return AdmittedPrompt.objects.select_related("session").select_for_update(of=("self",))


def record(session: Session, prompt_id: str, stage: str = "", **more: str | bool) -> None:
    """Log that a prompt was admitted or changed; call it inside the transaction that does so. `stage` is its
    delivery when it was admitted or promoted."""
    properties = {"sessionID": session.id, "messageID": prompt_id, **more}
    events.record("session.inbox", properties, project=session.project_id, session=session.id, stage=stage)


def is_written(part: dict[str, Any]) -> bool:
    """Whether a person wrote this part of a prompt, rather than attached it or a tool gave it."""
    if part["type"] == "file":
        return bool(mentioned(part))
    return part["type"] in ("text", "agent") and not part.get("synthetic")


def attached(parts: list[dict[str, Any]]) -> int:
    """How many files there are in a prompt."""
    return sum(part["type"] == "file" and not part.get("synthetic") for part in parts)


def unplaced(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts of a message, as those of a prompt that is to be sent."""
    places = ("id", "sessionID", "messageID")
    return [{key: value for key, value in part.items() if key not in places} for part in parts]


def mentioned(part: dict[str, Any]) -> str:
    """The words of the text that a file part stands for; empty for a file beside the text."""
    text = (part.get("source") or {}).get("text")
    return str(text.get("value") or "") if by_address(part) and isinstance(text, dict) else ""


def edit(session_id: str, prompt_id: str, written: list[dict[str, Any]], actor: str = "") -> bool:
    """Put text and mentions in place of those it has; what is attached stays. It is a prompt of the `actor`
    then, where a server has people.

    Raises PromptRefused when nothing would be left.
    """
    with transaction.atomic():
        row = locked().filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        row.parts = [*written, *(part for part in row.parts if not is_written(part))]
        check(row.parts)
        row.save(update_fields=["parts"])
        if actor:
            Admission.objects.filter(id=row.id).update(actor=actor)
        record(row.session, prompt_id)
    return True


def move(session_id: str, prompt_id: str, by: int) -> bool:
    """Change places with the one before (-1) or after (1) of the same delivery, if there is one."""
    with transaction.atomic():
        rows = list(locked().filter(session_id=session_id))
        row = next((row for row in rows if row.id == prompt_id), None)
        if row is None:
            return False
        order = [other for other in rows if other.delivery == row.delivery]
        place = order.index(row) + by
        if 0 <= place < len(order):
            other = order[place]
            row.position, other.position = other.position, row.position
            AdmittedPrompt.objects.bulk_update([row, other], ["position"])
            record(row.session, prompt_id)
    return True


def switch(session_id: str, prompt_id: str, delivery: Delivery) -> bool:
    """Let it steer, or queue it; it keeps its place among those of its new kind by its age or moves."""
    with transaction.atomic():
        row = locked().filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        row.delivery = delivery
        row.save(update_fields=["delivery"])
        record(row.session, prompt_id)
    return True


def withdraw(session_id: str, prompt_id: str) -> bool:
    """Take it back."""
    with transaction.atomic():
        row = locked().filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        record(row.session, prompt_id, withdrawn=True)
        row.delete()
    return True


Parts = list[dict[str, Any]]


def promote(
    prompt_id: str,
    *,
    agent: str,
    provider_id: str,
    model_id: str,
    variant: str = "",
    completed: Callable[[Parts], Parts] = list,
    answered: bool = False,
) -> UserMessage | None:
    """Turn an Admitted Prompt into a user message with its parts, in one transaction.

    The agent and model given are those of prompts that name none; `completed` gives what the message has of
    the prompt's parts. `answered`: a turn begins with it, and the session is busy then. None when it no
    longer waits.
    """
    with events.together():
        row = _PROMOTED.first(prompt_id)
        if row is None:
            return None
        message = _user_message(row, agent, provider_id, model_id, variant)
        messages.put_message(message, wire_parts(completed(row.parts), row.session_id, message.id))
        if message.id != row.id:
            Message.objects.filter(id=message.id).update(prompt_id=row.id)
        record(row.session, row.id, row.delivery, promoted=message.id)
        delete(row)
        if answered:
            session_store.put_status(row.session, Status(type="busy"))
    return message


_PROMOTED = Prepared(lambda prompt_id: locked().filter(id=prompt_id))


def _user_message(
    row: AdmittedPrompt, agent: str, provider_id: str, model_id: str, variant: str
) -> UserMessage:
    """Its id must sort after everything in the history, also when it waited while others were written, and
    before everything that follows, also when the client's clock is ahead."""
    last = last_id(row.session_id)
    newest = ascending("msg", after=last)
    return UserMessage.model_validate(
        {
            "id": row.id if last < row.id <= newest else newest,
            "sessionID": row.session_id,
            "time": MessageTime(created=now()),
            "agent": row.agent or agent,
            "model": {
                "providerID": row.provider_id or provider_id,
                "modelID": row.model_id or model_id,
                "variant": row.variant or variant or None,
            },
            "system": row.system or None,
            "tools": row.tools or None,
            "format": row.format,
        }
    )


def as_message(session_id: str, prompt_id: str) -> dict[str, Any] | None:
    """A prompt that waits for the next step of a turn, as the message that it becomes; None where no turn
    runs, and when it no longer waits."""
    row = find(session_id, prompt_id)
    if row is None or row.session.status.get("type", "idle") == "idle":
        return None
    last = Message.objects.filter(session_id=session_id, role="user").order_by("-id").first()
    if last is None:
        return None
    model = last.data["model"]
    message = _user_message(row, last.data["agent"], model["providerID"], model["modelID"], "")
    parts = wire_parts(row.parts, session_id, message.id)
    return {"info": message.wire(), "parts": [part.wire() for part in parts]}


BEFORE = "Stopped before the model was asked; the prompt was taken back."


def stop(session_id: str) -> int | None:
    """The turn that runs is to end, and with it what it was about to begin: the epoch of its lease. Where
    none runs, what is to go on or waits next is taken back. The stop is a row, so that it cannot be lost."""
    with transaction.atomic():
        row = Session.objects.select_for_update().filter(id=session_id).first()
        if row is None:
            return None
        if row.lease_owner and not leases.is_for_a_purpose(row.lease_owner):
            Session.objects.filter(id=session_id).update(stop_epoch=row.lease_epoch)
            return row.lease_epoch
        take_back(row, waiting=any(prompt.resume for prompt in next_when_idle(session_id)))
    return None


def take_back(session: Session, unasked: Sequence[str] = (), *, waiting: bool) -> None:
    """Remove from the history the `unasked` messages that a person wrote, and do not go on with the turn that
    is due; or with `waiting`, where there are none, remove from the inbox what would be promoted next. Call
    it inside `atomic`."""
    was_due = resumption.withdraw(session.id)
    found = [row for row in Message.objects.filter(id__in=unasked).order_by("id") if _written(_parts(row))]
    for row in found:
        _offer(session, row.prompt_id or row.id, _parts(row))
        record(session, row.prompt_id or row.id, withdrawn=True, stopped=True)
    if found:
        messages.remove_messages(session.id, found[0].id)
    for prompt in next_when_idle(session.id) if waiting and not unasked and not was_due else ():
        _offer(session, prompt.id, prompt.parts)
        record(session, prompt.id, withdrawn=True, stopped=True)
        AdmittedPrompt.objects.filter(id=prompt.id).delete()
        found.append(Message(id=prompt.id))
    if found:
        error = {"name": "MessageAbortedError", "data": {"message": BEFORE}}
        events.record(
            "session.error",
            {"sessionID": session.id, "error": error},
            project=session.project_id,
            session=session.id,
        )


def withdraw_own(session: Session) -> None:
    """Remove from the inbox what the turn admitted for itself (a plan's approval, what goes on after a
    compaction): it belongs to that turn, which was stopped or cut off. Call it inside `atomic`."""
    for prompt in AdmittedPrompt.objects.filter(session=session).order_by("position"):
        if all(OWN & (part.get("metadata") or {}).keys() for part in prompt.parts):
            prompt.delete()
            record(session, prompt.id, withdrawn=True)


def stopped(session_id: str, prompt_id: str = "") -> list[Admission]:
    """The prompts that were stopped and nobody took back into the composer yet, oldest first."""
    rows = Admission.objects.filter(session_id=session_id).exclude(stopped=None)
    return list((rows.filter(id=prompt_id) if prompt_id else rows).order_by("time_created", "id"))


def let_go(session_id: str, prompt_id: str) -> bool:
    """It is in the composer again, or not wanted; False when that came too late."""
    with transaction.atomic():
        row = next(iter(stopped(session_id, prompt_id)), None)
        if row is None:
            return False
        Admission.objects.filter(id=row.id).update(stopped=None)
        record(row.session, prompt_id)
    return True


def _offer(session: Session, prompt_id: str, parts: list[dict[str, Any]]) -> None:
    """A child's prompt is its parent's, which learns of the stop by its call."""
    if session.parent_id is None and _written(parts):
        Admission.objects.filter(id=prompt_id).update(stopped=unplaced(parts))


def _written(parts: list[dict[str, Any]]) -> bool:
    return any(is_written(part) for part in parts)


def _parts(row: Message) -> list[dict[str, Any]]:
    return [part_wire(part) for part in Part.objects.filter(message=row).order_by("id")]
