"""Child sessions: where subagents work, how they stand to those above, what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from sessions.core.db import durable
from sessions.core.models import AdmittedPrompt, Message, Part, Session

from . import inbox
from .family import below, topmost
from .rows import message_wire, part_wire


def listing(session_id: str) -> list[Session]:
    """The sessions that a session started, the oldest first."""
    return list(
        Session.objects.filter(parent_id=session_id, time_deleted=None).order_by("time_created", "-id")
    )


def spent_below(session_id: str) -> float:
    """US dollars that the sessions below one cost, also deleted ones."""
    return sum(row.cost for row in below(session_id))


def sums(session_id: str) -> tuple[int, float]:
    """The tokens, cached ones too, and US dollars that a session and those below it used, also deleted
    ones."""
    rows = [*Session.objects.filter(id=session_id), *below(session_id)]
    return sum(_tokens(row.tokens) for row in rows), sum(row.cost for row in rows)


def _tokens(counted: Mapping[str, Any]) -> int:
    cache = counted.get("cache") or {}
    plain = sum(int(counted.get(kind) or 0) for kind in ("input", "output", "reasoning"))
    return plain + int(cache.get("read") or 0) + int(cache.get("write") or 0)


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars and output tokens."""

    cost: float
    tokens: int


def spent_elsewhere(session: Session) -> Spent:
    """By the other sessions of the conversation that a session is in: the topmost one and all below it."""
    top = topmost(session)
    rows = [row for row in (top, *below(top.id)) if row.id != session.id]
    return Spent(sum(row.cost for row in rows), sum(row.tokens.get("output", 0) for row in rows))


def at_work_below(session_id: str) -> list[str]:
    """Which of the sessions that a session started, and that those started, a worker drains; also deleted
    ones."""
    return [row.id for row in below(session_id) if row.lease_owner]


def named_by_user(session_id: str, answer_id: str, agent: str) -> dict[str, Any] | None:
    """The part of the prompt which an answer is to, where its author called for this agent, if so."""
    answer = Message.objects.filter(session_id=session_id, id=answer_id).first()
    parts = _prompted(session_id, answer.data["parentID"]) if answer else []
    return next((part for part in parts if agent in (part.get("name"), part.get("agent"))), None)


def subtasks(session_id: str, prompt_id: str) -> list[dict[str, Any]]:
    """The errands that a prompt, and those promoted with it, consist of, in order; none once it has an
    answer."""
    if Message.objects.filter(session_id=session_id, role="assistant", id__gt=prompt_id).exists():
        return []
    return [part for part in _prompted(session_id, prompt_id) if part["type"] == "subtask"]


def _prompted(session_id: str, prompt_id: str) -> list[dict[str, Any]]:
    """The agents called for and the errands of a prompt and of those promoted together with it."""
    answers = Message.objects.filter(session_id=session_id, role="assistant", id__lt=prompt_id)
    last = answers.order_by("-id").values_list("id", flat=True).first() or ""
    rows = Part.objects.filter(session_id=session_id, message_id__gt=last, message_id__lte=prompt_id)
    return [part_wire(row) for row in rows.filter(type__in=("agent", "subtask")).order_by("message_id", "id")]


def cut_off(session_id: str, metadata: Mapping[str, Any]) -> str:
    """A call of this metadata ended before its errand did: what was not begun of it is withdrawn. The child
    session that can go on with it; empty for a call that was no errand."""
    child_id, prompt_id = metadata.get("sessionId"), metadata.get("promptId")
    if not prompt_id or not Session.objects.filter(id=child_id, parent_id=session_id).exists():
        return ""
    inbox.withdraw(str(child_id), str(prompt_id))
    return str(child_id)


def is_busy(session_id: str) -> bool:
    """Whether a turn runs, or is about to."""
    row = Session.objects.filter(id=session_id).first()
    return row is not None and bool(row.lease_owner or row.status.get("type", "idle") != "idle")


def take_on(child: Session, parts: list[dict[str, Any]], **choices: Any) -> bool:
    """Admit a prompt (see `inbox.admit`) in a session that nobody works in and nothing waits in; False where
    another errand was quicker."""
    with durable(), transaction.atomic():
        Session.objects.select_for_update().filter(id=child.id).first()
        if is_busy(child.id) or AdmittedPrompt.objects.filter(session=child, resume=True).exists():
            return False
        inbox.admit(child, parts, **choices)
        return True


def is_done(session_id: str, prompt_id: str) -> bool:
    """Whether a prompt has been dealt with, or its session deleted."""
    if not Session.objects.filter(id=session_id, time_deleted=None).exists():
        return True
    return not is_busy(session_id) and not AdmittedPrompt.objects.filter(id=prompt_id).exists()


def errand_of(session: Session) -> Part | None:
    """The running call that a session works for, in the topmost session above; None when a person prompted
    it, or no session is above."""
    found = None
    while session.parent is not None:
        last = Message.objects.filter(session_id=session.parent_id).order_by("-id").first()
        calls = last.parts.filter(type="tool") if last else ()
        call = next((part for part in calls if _sent(part, session.id)), None)
        if call is None:
            break
        found, session = call, session.parent
    return found


def _sent(part: Part, session_id: str) -> bool:
    state = part.data["state"]
    return state["status"] == "running" and (state.get("metadata") or {}).get("sessionId") == session_id


def last_answer(session_id: str, prompt_id: str) -> dict[str, Any] | None:
    """The last assistant message after a prompt, without its parts."""
    rows = Message.objects.filter(session_id=session_id, role="assistant", id__gt=prompt_id)
    row = rows.order_by("-id").first()
    return message_wire(row) if row else None


def last_text(session_id: str, prompt_id: str) -> str:
    """The last thing that was said in answer to a prompt."""
    rows = Part.objects.filter(session_id=session_id, type="text", message_id__gt=prompt_id)
    said = rows.filter(message__role="assistant").order_by("-message_id", "-id")
    texts = (row.data.get("text", "").strip() for row in said.iterator() if not row.data.get("ignored"))
    return next((text for text in texts if text), "")


def last_failure(message_id: str) -> str:
    """How the last tool call of an answer failed; empty where it did not."""
    row = Part.objects.filter(message_id=message_id, type="tool").order_by("-id").first()
    state = row.data["state"] if row else {}
    return str(state.get("error", "")) if state.get("status") == "error" else ""
