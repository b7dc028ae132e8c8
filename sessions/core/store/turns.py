"""Turns: prompts with what answers them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from sessions.core.models import Admission, FileChange, Message, Part, Session


def last_prompt(session_id: str) -> str:
    """The last user message that is not undone; empty when there is none."""
    rows = _standing(session_id).filter(role="user").order_by("-id")
    return rows.values_list("id", flat=True).first() or ""


def unasked(session_id: str) -> list[str]:
    """The prompts that ask for an answer and that no answer was begun for, oldest first."""
    rows = _standing(session_id)
    answers = rows.filter(role="assistant").order_by("-id")
    last = answers.values_list("id", flat=True).first() or ""
    behind = {row.prompt_id or row.id: row.id for row in rows.filter(role="user", id__gt=last).order_by("id")}
    asking = set(Admission.objects.filter(id__in=behind, no_reply=False).values_list("id", flat=True))
    return [message_id for prompt_id, message_id in behind.items() if prompt_id in asking]


def _standing(session_id: str) -> QuerySet[Message]:
    """The messages that are not undone."""
    revert = Session.objects.filter(id=session_id).values_list("revert", flat=True).first()
    rows = Message.objects.filter(session_id=session_id)
    return rows.filter(id__lt=revert["messageID"]) if revert else rows


def changed_files(session_id: str, part_id: str) -> bool:
    """Whether a tool call changed files, itself or through a subagent."""
    own, below = Q(session_id=session_id, part_id=part_id), Q(for_session_id=session_id, for_part_id=part_id)
    return FileChange.objects.filter(own | below, operation=None).exists()


def from_prompt(session_id: str, message_id: str) -> tuple[int, str]:
    """How many prompts there are from one on, and its text."""
    count = Message.objects.filter(session_id=session_id, role="user", id__gte=message_id).count()
    parts = Part.objects.filter(message_id=message_id, session_id=session_id, type="text").order_by("id")
    texts = [part.data.get("text", "") for part in parts if not part.data.get("synthetic")]
    return count, "\n".join(texts)


def has_called(session_id: str, tool: str) -> bool:
    """Whether the last turn that is not undone called a tool; what steered a turn belongs to it."""
    prompt_id = last_prompt(session_id)
    answers = Message.objects.filter(session_id=session_id, role="assistant").order_by("-id")
    while (before := answers.filter(id__lt=prompt_id).first()) and before.data.get("finish") == "tool-calls":
        prompt_id = str(before.data["parentID"])
    calls = Part.objects.filter(session_id=session_id, message_id__gt=prompt_id, type="tool")
    return calls.filter(data__tool=tool).exists()


@dataclass(frozen=True, slots=True)
class Deed:
    """What an agent did in a turn: a call of `tool`, or thinking, which has none. `subject` is the file or
    the patch that the call names; `start` and `end` are milliseconds, None while it is not that far."""

    tool: str
    status: str
    subject: str
    start: int | None
    end: int | None


def deeds(session_id: str, prompt_ids: Iterable[str]) -> dict[str, list[Deed]]:
    """What was done in the turns that these prompts began, by their ids, in order."""
    found: dict[str, list[Deed]] = {prompt_id: [] for prompt_id in prompt_ids}
    if not found:
        return found
    answers = Message.objects.filter(session_id=session_id, id__gt=min(found), role="assistant")
    rows = Part.objects.filter(
        message__in=answers.filter(data__parentID__in=list(found)), type__in=("tool", "reasoning")
    )
    for turn, tool, status, span, path, patch, thought in rows.order_by("message_id", "id").values_list(
        "message__data__parentID",
        "data__tool",
        "data__state__status",
        "data__state__time",
        "data__state__input__filePath",
        "data__state__input__patchText",
        "data__time",
    ):
        time = span or thought or {}
        subject = str(path or patch or "")
        found[turn].append(Deed(tool or "", status or "", subject, time.get("start"), time.get("end")))
    return found


def begun_by(message_ids: Collection[str]) -> list[str]:
    """The prompts that answers belong to, in order; what is no answer has none."""
    rows = Message.objects.filter(id__in=list(message_ids), role="assistant")
    return sorted({str(prompt) for prompt in rows.values_list("data__parentID", flat=True) if prompt})


def begun(session_id: str) -> int | None:
    """When the turn began, or was gone on with, that is under way (ms); None when none is."""
    last = Message.objects.filter(session_id=session_id).order_by("-id").first()
    if last is None:
        return None
    prompt_id = last.id if last.role == "user" else str(last.data["parentID"])
    rows = Message.objects.filter(session_id=session_id, id__gte=prompt_id).order_by("id")
    start: int | None = None
    for time, finish, error in rows.values_list("time_created", "data__finish", "data__error"):
        start = None if error or finish not in (None, "tool-calls") else start or time
    return start
