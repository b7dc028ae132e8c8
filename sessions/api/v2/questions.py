"""`/api/question` and the questions of a session."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions.api.base import project_of, wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, Tagged, checked, located, session_of
from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.store import questions
from sessions.core.wire.questions import QuestionRequestInfo
from sessions.core.wire.v2.base import Data, Located
from sessions.core.wire.v2.requests import Answers

router = Router()


@router.get("/question/request", operation_id="v2.question.request.list")
@answers(Located[list[QuestionRequestInfo]])
async def list_everywhere(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    rows = await in_db(questions.pending, project_id=project.id)
    return await located(request, [questions.info(row).wire() for row in rows])


@router.get("/session/{session_id}/question", operation_id="v2.session.question.list")
@answers(Data[list[QuestionRequestInfo]], errors=(404,))
async def list_of_session(request: HttpRequest, session_id: str) -> HttpResponse:
    await session_of(session_id)
    rows = await in_db(questions.pending, session_id=session_id)
    return wire({"data": [questions.info(row).wire() for row in rows]})


@router.post("/session/{session_id}/question/{request_id}/reply", operation_id="v2.session.question.reply")
@answers(status=204, errors=(404,))
async def reply(request: HttpRequest, session_id: str, request_id: str, body: Answers) -> HttpResponse:
    """One list of labels, or own words, for each question."""
    await _check(session_id, request_id)
    try:
        row = await actions.answer(request_id, body.answers)
    except questions.AnswerRefused as problem:
        raise InvalidRequest(f"answers: {problem}", "answers") from problem
    if row is None:
        raise _gone(request_id)
    return HttpResponse(status=204)


@router.post("/session/{session_id}/question/{request_id}/reject", operation_id="v2.session.question.reject")
@answers(status=204, errors=(404,))
async def reject(request: HttpRequest, session_id: str, request_id: str) -> HttpResponse:
    await _check(session_id, request_id)
    if await actions.dismiss(request_id) is None:
        raise _gone(request_id)
    return HttpResponse(status=204)


async def _check(session_id: str, request_id: str) -> None:
    """Raises Tagged (404), also for questions of another session."""
    await session_of(session_id)
    row = await in_db(questions.get, checked(request_id, "que", "requestID"))
    if row is None or row.session_id != session_id:
        raise _gone(request_id)


def _gone(request_id: str) -> Tagged:
    words = f"Question request not found: {request_id}"
    return Tagged(404, "QuestionNotFoundError", words, requestID=request_id)
