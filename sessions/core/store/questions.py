"""Questions of tool calls, answered once (the `question` tool)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from sessions.core.db import durable
from sessions.core.ids import ascending, now
from sessions.core.models import QuestionRequest, Session
from sessions.core.sentences import grouped
from sessions.core.wire.questions import QuestionInfo, QuestionRequestInfo
from sessions.core.wire.session import ToolRef

from . import events, family, notifiers

MOST_WORDS = 10_000
"""Characters of one answer in own words."""


class AnswerRefused(ValueError):
    """These are no answers to the questions; the text is for the person who gave them."""


def ask(
    session: Session, questions: Sequence[QuestionInfo], *, message_id: str, call_id: str, tool: str
) -> QuestionRequest:
    with transaction.atomic():
        row = QuestionRequest.objects.create(
            id=ascending("que"),
            session=session,
            message_id=message_id,
            call_id=call_id,
            tool=tool,
            questions=[question.wire() for question in questions],
            time_created=now(),
        )
        _record(row, "question.asked", info(row).wire())
        notifiers.asked(session, "question", row.id)
    return row


def reply(request_id: str, answers: Sequence[Sequence[str]]) -> QuestionRequest | None:
    """Answer pending questions once, in their order; None when they are unknown, answered, cancelled or their
    session deleted. An answer that is missing is an empty one. Raises AnswerRefused.

    The answers take effect by the worker reading the row.
    """
    with durable(), transaction.atomic():
        row = _pending().select_related("session").select_for_update().filter(id=request_id).first()
        if row is None:
            return None
        row.answers = _checked(row, answers)
        _settle(row, "answered")
        _record(row, "question.replied", {**_named(row), "answers": row.answers})
    return row


def reject(request_id: str) -> QuestionRequest | None:
    """Answer none of them, once; None as for `reply`."""
    with durable(), transaction.atomic():
        row = _pending().select_related("session").select_for_update().filter(id=request_id).first()
        if row is None:
            return None
        _settle(row, "rejected")
        _record(row, "question.rejected", _named(row))
    return row


def withdraw(request_id: str) -> None:
    """Whoever asked needs no answer any longer: its questions can no longer be answered."""
    with transaction.atomic():
        row = _pending().select_related("session").select_for_update().filter(id=request_id).first()
        if row is not None:
            _settle(row, "cancelled")
            _record(row, "question.rejected", _named(row))


def cancel(session_id: str) -> None:
    """The turn ended: its pending questions can no longer be answered."""
    with transaction.atomic():
        for row in QuestionRequest.objects.filter(session_id=session_id, state="pending"):
            _settle(row, "cancelled")
            _record(row, "question.rejected", _named(row))


def pending(*, session_id: str = "", project_id: str = "") -> list[QuestionRequest]:
    rows = _pending()
    if session_id:
        rows = rows.filter(session_id=session_id)
    if project_id:
        rows = rows.filter(session__project_id=project_id)
    return list(rows.order_by("id"))


def pending_below(session_id: str) -> list[QuestionRequest]:
    """What waits for an answer in a session and in all that it started, oldest first."""
    rows = _pending().filter(session_id__in=family.of(session_id))
    return list(rows.select_related("session__project").order_by("id"))


def get(request_id: str) -> QuestionRequest | None:
    return QuestionRequest.objects.select_related("session").filter(id=request_id).first()


def info(row: QuestionRequest) -> QuestionRequestInfo:
    """As it is on the wire."""
    tool = ToolRef(message_id=row.message_id, call_id=row.call_id) if row.call_id else None
    return QuestionRequestInfo(id=row.id, session_id=row.session_id, questions=questions_of(row), tool=tool)


def questions_of(row: QuestionRequest) -> list[QuestionInfo]:
    return [QuestionInfo.model_validate(question) for question in row.questions]


def _pending() -> QuerySet[QuestionRequest]:
    return QuestionRequest.objects.filter(state="pending", session__time_deleted=None)


def _checked(row: QuestionRequest, answers: Sequence[Sequence[str]]) -> list[list[str]]:
    questions = questions_of(row)
    if len(answers) > len(questions):
        raise AnswerRefused(
            gettext("There are %(count)s answers to %(questions)s questions.")
            % {"count": len(answers), "questions": len(questions)}
        )
    given = [[text.strip() for text in answer if text.strip()] for answer in answers]
    given += [[] for _ in questions[len(given) :]]
    for question, answer in zip(questions, given, strict=True):
        if fault := question.fault_of(answer):
            raise AnswerRefused(fault)
        if any(len(text) > MOST_WORDS for text in answer):
            raise AnswerRefused(
                gettext("An answer may have %(most)s characters.") % {"most": grouped(MOST_WORDS)}
            )
    return given


def _settle(row: QuestionRequest, state: str) -> None:
    row.state, row.time_answered = state, now()
    row.save(update_fields=["state", "answers", "time_answered"])


def _named(row: QuestionRequest) -> dict[str, Any]:
    return {"sessionID": row.session_id, "requestID": row.id}


def _record(row: QuestionRequest, type: str, properties: dict[str, Any]) -> None:
    events.record(type, properties, project=row.session.project_id, session=row.session_id)
