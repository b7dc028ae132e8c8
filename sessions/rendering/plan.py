"""The plan of a session, rendered, and what says that it is in plan mode."""

from __future__ import annotations

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from sessions.core.models import AdmittedPrompt, QuestionRequest, Session
from sessions.core.plans import plan_text
from sessions.core.store import questions

from .blocks import render_whole
from .html import html

PLANNER = "plan"
ASKS = "plan_exit"


def plan_badge(session: Session, *, oob: bool = True) -> str:
    """Above the composer: that nothing but the plan will be changed, and the approval of one that nobody
    asks about."""
    approvable = is_planning(session) and bool(plan_text(session)) and pending_approval(session) is None
    return html(
        "plan/badge.html",
        agent=session.agent,
        planning=session.agent == PLANNER,
        approvable=approvable,
        base=session.get_absolute_url(),
        oob=oob,
    )


def plan_html(session: Session) -> SafeString:
    """The plan as safe HTML; empty when there is none."""
    text = plan_text(session)
    return mark_safe(_rendered(text, get_language())) if text else SafeString()  # noqa: S308 (rendered Markdown, sanitised)


def pending_approval(session: Session) -> QuestionRequest | None:
    """The question of `plan_exit` that waits."""
    waiting = questions.pending(session_id=session.id)
    return next((row for row in waiting if row.tool == ASKS), None)


def is_planning(session: Session) -> bool:
    """Whether the session rests in plan mode, so that its plan can be approved without being asked."""
    idle = (session.status or {}).get("type", "idle") == "idle"
    return (
        session.agent == PLANNER
        and idle
        and not AdmittedPrompt.objects.filter(session_id=session.id).exists()
    )


@lru_cache(maxsize=64)
def _rendered(text: str, language: str | None) -> str:
    """Shown again with each change of the session's state, rendered when the text is another."""
    return str(render_whole(text))
