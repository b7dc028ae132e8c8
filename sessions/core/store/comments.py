"""Comments on lines of a diff (`ReviewComment`): drafts collect until they are sent as one prompt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db import transaction
from django.forms import model_to_dict

from sessions.core.ids import ascending, now
from sessions.core.models import AdmittedPrompt, Message, ReviewComment, Session
from sessions.core.models.ledger import pack_path, unpack_path

from . import ledger


@dataclass(frozen=True, slots=True)
class Thread:
    """A comment and how it stands with it: `draft`, `sent` (not answered yet) or `answered`."""

    comment: ReviewComment
    state: str


def add(session: Session, **columns: Any) -> ReviewComment:
    """A new draft; the columns are those of the model that say where and what."""
    moment = now()
    with transaction.atomic():
        row = ReviewComment.objects.create(
            id=ascending("cmt"), session=session, time_created=moment, time_updated=moment, **columns
        )
        ledger.changed(session)
    return row


def get(session_id: str, comment_id: str) -> ReviewComment | None:
    return ReviewComment.objects.filter(session_id=session_id, id=comment_id).first()


def reword(session: Session, comment_id: str, text: str) -> bool:
    """Give a draft another text; False when it is sent or gone."""
    with transaction.atomic():
        known = {draft.id for draft in drafts(session.id)} & {comment_id}
        done = ReviewComment.objects.filter(id__in=known).update(text=text, time_updated=now())
        ledger.changed(session)
    return bool(done)


def remove(session: Session, comment_id: str) -> dict[str, Any] | None:
    """Take a comment away, sent or not; what the agent was told it keeps. Its columns, by which it comes
    back; None where it is gone."""
    with transaction.atomic():
        row = get(session.id, comment_id)
        if row is None:
            return None
        columns = {**model_to_dict(row, exclude=["session"]), "path": pack_path(row.path)}
        row.delete()
        ledger.changed(session)
    return columns


def restore(session: Session, columns: Mapping[str, Any]) -> None:
    """One that was removed."""
    with transaction.atomic():
        if get(session.id, columns["id"]) is None:
            ReviewComment.objects.create(session=session, **{**columns, "path": unpack_path(columns["path"])})
            ledger.changed(session)


def drafts(session_id: str) -> list[ReviewComment]:
    """What waits to be sent, by file and line."""
    every = chain.from_iterable(threads(session_id).values())
    return [thread.comment for thread in every if thread.state == "draft"]


def sent(session: Session, ids: Collection[str], message_id: str) -> None:
    """These drafts went to the agent with a prompt."""
    with transaction.atomic():
        rows = ReviewComment.objects.filter(session=session, id__in=list(ids))
        rows.update(message_id=message_id, time_updated=now())
        ledger.changed(session)


def threads(session_id: str) -> dict[str, tuple[Thread, ...]]:
    """All comments of a session, by path. One whose prompt was withdrawn from the inbox, or undone for good
    with its turn, is a draft again."""
    rows = list(ReviewComment.objects.filter(session_id=session_id).order_by("path", "start", "id"))
    states = _states({row.message_id for row in rows if row.message_id})
    found: dict[str, list[Thread]] = {}
    for row in rows:
        found.setdefault(row.path, []).append(Thread(row, states.get(row.message_id, "draft")))
    return {path: tuple(own) for path, own in found.items()}


def _states(prompts: Collection[str]) -> Mapping[str, str]:
    """By prompt: `answered` once an answer to it was completed, else `sent`."""
    waiting = AdmittedPrompt.objects.filter(id__in=prompts).values_list("id", flat=True)
    told = Message.objects.filter(id__in=prompts).values_list("id", flat=True)
    states = dict.fromkeys([*waiting, *told], "sent")
    answers = Message.objects.filter(role="assistant", data__parentID__in=list(prompts))
    for data in answers.values_list("data", flat=True):
        if data.get("time", {}).get("completed") and data.get("finish") not in ("tool-calls", None):
            states[data["parentID"]] = "answered"
    return states
