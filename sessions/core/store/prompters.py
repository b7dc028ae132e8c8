"""Who sent the prompts that led to something an agent does, where a server has people."""

from __future__ import annotations

from sessions.core.models import Admission, Message, Part, Session


def prompters(session: Session, message_id: str = "") -> set[str]:
    """Whose prompts the turn is in answer to that an answer belongs to (empty: the last one of the session):
    what began it, and what steered it until then. For a subagent also those of the call that it works for.
    Empty where nobody by a name has prompted."""
    found = _of_turn(session.id, message_id)
    if session.parent is not None:
        calls = Part.objects.filter(
            session=session.parent, type="tool", data__state__metadata__sessionId=session.id
        )
        if message_id:
            calls = calls.filter(message_id__lt=message_id)
        call = calls.order_by("-message_id").values_list("message_id", flat=True).first()
        found |= prompters(session.parent, call or "")
    return found


def _of_turn(session_id: str, message_id: str) -> set[str]:
    """What a turn goes on with by itself (a plan's approval, a compaction) has no sender: the prompts before
    it count then."""
    rows = Message.objects.filter(session_id=session_id).order_by("-id")
    if message_id:
        rows = rows.filter(id__lte=message_id)
    prompts: list[str] = []
    for id, role, prompt_id, finish in rows.values_list("id", "role", "prompt_id", "data__finish").iterator():
        if role == "user":
            prompts.append(prompt_id or id)
        elif prompts and finish != "tool-calls" and (found := _senders(prompts)):
            return found  # this answer is the end of the turn before
    return _senders(prompts)


def _senders(prompts: list[str]) -> set[str]:
    return set(Admission.objects.filter(id__in=prompts).exclude(actor="").values_list("actor", flat=True))
