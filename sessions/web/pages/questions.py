"""The answers to the agent's questions, as their form sends them."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.models import QuestionRequest
from sessions.core.store import questions
from sessions.core.wire.questions import QuestionInfo
from sessions.rendering import questions as rendering
from sessions.web.access import stop_url
from sessions.web.approvals.cards import INBOX
from sessions.web.respond import beside, fragment, late, place

_CANCELLED = gettext_noop("The turn was stopped; this question no longer waits for an answer.")


@require_POST
async def reply(request: HttpRequest, request_id: str) -> HttpResponse:
    """For question n: `q<n>` are the choices, `own<n>` the person's own words."""
    row = await _known(request_id)
    where = place(request, row.id, INBOX)
    asked = questions.questions_of(row)
    answers = [_answer(request.POST, index, question) for index, question in enumerate(asked)]
    for index, question in enumerate(asked):
        if not answers[index] and not question.multiple:
            return beside(where, gettext("“%(header)s” has no answer yet.") % {"header": question.header})
    try:
        return await given(row.id, answers)
    except questions.AnswerRefused as problem:
        return beside(where, str(problem))


@require_POST
async def reject(request: HttpRequest, request_id: str) -> HttpResponse:
    row = await _known(request_id)
    if await actions.dismiss(row.id) is None:
        row = await _known(request_id)
        return late(_settled(row), stop=stop_url(row.session) if row.state == "answered" else "")
    return HttpResponse("")


@require_GET
async def card(request: HttpRequest, request_id: str) -> HttpResponse:
    """The form, as the inbox of approvals shows it."""
    row = await _known(request_id)
    shown = await in_db(rendering.request, row, row.session, INBOX)
    return fragment("questions/request.html", request=shown)


async def given(request_id: str, answers: list[list[str]]) -> HttpResponse:
    """Answer, or say in a toast what was answered already. Raises AnswerRefused."""
    if await actions.answer(request_id, answers) is None:
        return late(_settled(await _known(request_id)))
    return HttpResponse("")


async def _known(request_id: str) -> QuestionRequest:
    row = await in_db(questions.get, request_id)
    if row is None or row.session.time_deleted is not None:
        raise Http404(gettext("This question is not known here."))
    return row


def _settled(row: QuestionRequest) -> str:
    """Why its questions can no longer be answered."""
    asked = questions.questions_of(row)
    about = f"“{asked[0].header}”" if asked else gettext("This")
    if row.state == "rejected":
        return gettext("%(about)s was dismissed already.") % {"about": about}
    if row.state != "answered":
        return gettext(_CANCELLED)
    answers = "; ".join(", ".join(answer) for answer in row.answers if answer)
    return (
        gettext("%(about)s was answered already: %(answers)s.") % {"about": about, "answers": answers}
        if answers
        else gettext("%(about)s was answered already.") % {"about": about}
    )


def _answer(form: QueryDict, index: int, question: QuestionInfo) -> list[str]:
    """Labels in their order, then own words; where one answer is asked for, words are it."""
    chosen = form.getlist(f"q{index}")
    labels = [option.label for number, option in enumerate(question.options) if str(number) in chosen]
    words = form.get(f"own{index}", "").strip()
    if not words:
        return labels
    return [*labels, words] if question.multiple else [words]
