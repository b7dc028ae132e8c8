"""The answers to the agent's questions, as their form sends them."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

from sessions import actions
from sessions.approvals.cards import INBOX
from sessions.db import in_db
from sessions.models import QuestionRequest
from sessions.rendering import questions as rendering
from sessions.store import questions
from sessions.wire.questions import QuestionInfo

from .respond import beside, fragment, place

OWN = "own"
"""The value of the choice "in own words"; the others are the numbers of the options."""

_SETTLED = {
    "answered": "This was answered already.",
    "rejected": "This was dismissed already.",
    "cancelled": "The turn was stopped; this question no longer waits for an answer.",
}


@require_POST
async def reply(request: HttpRequest, request_id: str) -> HttpResponse:
    """For question n: `q<n>` are the choices, `own<n>` the person's own words."""
    row = await _known(request_id)
    where = place(request, row.id, INBOX)
    asked = questions.questions_of(row)
    answers = [_answer(request.POST, index, question) for index, question in enumerate(asked)]
    for index, question in enumerate(asked):
        if not answers[index] and not question.multiple:
            return beside(where, f"“{question.header}” has no answer yet.")
    try:
        return await given(row.id, answers, where)
    except questions.AnswerRefused as problem:
        return beside(where, str(problem))


@require_POST
async def reject(request: HttpRequest, request_id: str) -> HttpResponse:
    row = await _known(request_id)
    if await actions.dismiss(row.id) is None:
        return beside(place(request, row.id, INBOX), await _why_not(row.id))
    return HttpResponse("")


@require_GET
async def card(request: HttpRequest, request_id: str) -> HttpResponse:
    """The form, as the inbox of approvals shows it."""
    row = await _known(request_id)
    shown = await in_db(rendering.request, row, row.session, INBOX)
    return fragment("questions/request.html", request=shown)


async def given(request_id: str, answers: list[list[str]], where: str = "") -> HttpResponse:
    """Answer, or say beside the buttons (of the form `where`) why that cannot be done any more. Raises
    AnswerRefused."""
    if await actions.answer(request_id, answers) is None:
        return beside(where or request_id, await _why_not(request_id))
    return HttpResponse("")


async def _known(request_id: str) -> QuestionRequest:
    row = await in_db(questions.get, request_id)
    if row is None or row.session.time_deleted is not None:
        raise Http404("This question is not known here.")
    return row


async def _why_not(request_id: str) -> str:
    row = await in_db(questions.get, request_id)
    return _SETTLED.get(row.state if row else "", _SETTLED["cancelled"])


def _answer(form: QueryDict, index: int, question: QuestionInfo) -> list[str]:
    """Labels in their order, then own words; words alone count, also when nothing is chosen beside them."""
    chosen = form.getlist(f"q{index}")
    labels = [option.label for number, option in enumerate(question.options) if str(number) in chosen]
    words = form.get(f"own{index}", "").strip()
    own = [words] if words and (OWN in chosen or not labels) else []
    return labels + own
