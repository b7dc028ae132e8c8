"""`/question`: what the agent asks the person, and the answers, in OpenCode's shapes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions.api.base import project_of, wire
from sessions.api.described import answers
from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.store import questions
from sessions.core.wire.base import Wire
from sessions.core.wire.questions import QuestionRequestInfo

router = Router()


class QuestionReply(Wire):
    answers: list[list[str]]


@router.get("", operation_id="question.list")
@answers(list[QuestionRequestInfo])
async def list_requests(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    rows = await in_db(questions.pending, project_id=project.id)
    return wire([questions.info(row).wire() for row in rows])


@router.post("/{request_id}/reply", operation_id="question.reply")
@answers(bool, errors=(404,))
async def reply(request: HttpRequest, request_id: str, body: QuestionReply) -> HttpResponse:
    """404 also for questions that were answered already or whose turn was stopped."""
    try:
        row = await actions.answer(request_id, body.answers)
    except questions.AnswerRefused as problem:
        return wire({"_tag": "InvalidRequestError", "message": str(problem), "field": "answers"}, 400)
    return wire(True) if row else _gone(request_id)


@router.post("/{request_id}/reject", operation_id="question.reject")
@answers(bool, errors=(404,))
async def reject(request: HttpRequest, request_id: str) -> HttpResponse:
    row = await actions.dismiss(request_id)
    return wire(True) if row else _gone(request_id)


def _gone(request_id: str) -> HttpResponse:
    message = f"No question {request_id} waits for an answer."
    return wire({"_tag": "QuestionNotFoundError", "requestID": request_id, "message": message}, 404)
