"""Approve the plan of a session, or have it worked on further (seed 004 §8.5)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from sessions import actions
from sessions.db import in_db
from sessions.models import Session
from sessions.plans import APPROVE, KEEP_PLANNING, plan_text, shown_path
from sessions.rendering.plan import is_planning
from sessions.store import questions

from .access import session_of
from .questions import given
from .respond import REFUSED, beside, done

BUILDER = "build"


@require_POST
async def approve(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Answers the question of `plan_exit` that `question` names; without one the plan is the next prompt."""
    session = await session_of(project_id, session_id)
    if request_id := request.POST.get("question", ""):
        return await _answered(session, request_id, APPROVE)
    if not await in_db(is_planning, session):
        return beside("plan", "The agent is at work, or no longer in plan mode.")
    if not await in_db(plan_text, session):
        return beside("plan", f"There is no plan at {shown_path(session)} any more.")
    text = f"The plan at {shown_path(session)} is approved. Carry it out."
    await actions.prompt(session, [{"type": "text", "text": text}], agent=BUILDER)
    return done()


@require_POST
async def keep(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Answers the question of `plan_exit` with no, or with the person's `words`."""
    session = await session_of(project_id, session_id)
    words = request.POST.get("words", "").strip()
    return await _answered(session, request.POST.get("question", ""), words or KEEP_PLANNING)


async def _answered(session: Session, request_id: str, answer: str) -> HttpResponse:
    """Only this session's question, and only one that `plan_exit` asked."""
    row = await in_db(questions.get, request_id)
    if row is None or row.session_id != session.id or row.tool != "plan_exit":
        return beside("plan", "The agent no longer asks about the plan.")
    try:
        answered = await given(row.id, [[answer]])
    except questions.AnswerRefused as problem:
        return beside("plan", str(problem))
    if answered.status_code == REFUSED:
        answered["HX-Retarget"] = "#plan-problem"
        return answered
    return done()
