"""The plan of a session: edited, and approved where no question asks about it."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from sessions.changes import actions
from sessions.core import plans
from sessions.core.db import in_db
from sessions.core.plans import plan_text, shown_path
from sessions.rendering.plan import is_planning, plan_panel
from sessions.web.access import session_of
from sessions.web.respond import beside, done, fragment

BUILDER = "build"


@require_POST
async def approve(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The next prompt carries the plan out. Where `plan_exit` asks, its question is answered instead."""
    session = await session_of(project_id, session_id)
    if not await in_db(is_planning, session):
        return beside("plan", "The agent is at work, or no longer in plan mode.")
    if not await in_db(plan_text, session):
        return beside("plan", f"There is no plan at {shown_path(session)} any more.")
    text = f"The plan at {shown_path(session)} is approved. Carry it out."
    await actions.prompt(session, [{"type": "text", "text": text}], agent=BUILDER)
    return done()


@require_http_methods(["GET", "POST"])
async def edit(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET gives the form. POST writes `text` unless the plan is no longer the one that was `seen`; with
    `anyway` also then."""
    session = await session_of(project_id, session_id)
    try:
        if request.method != "POST":
            text = await asyncio.to_thread(plans.read_plan, session)
            return fragment(
                "plan/editor.html", base=session.get_absolute_url(), text=text, seen=plans.version(text)
            )
        text = request.POST.get("text", "").replace("\r\n", "\n")
        seen = "" if "anyway" in request.POST else request.POST.get("seen", "")
        await asyncio.to_thread(plans.write_plan, session, text, seen)
    except plans.PlanChanged:
        return beside("plan-edit", "The plan was changed since you opened it here.", "plan/changed.html")
    except (OSError, UnicodeDecodeError) as error:
        return beside("plan-edit", f"The plan cannot be edited: {error}")
    return HttpResponse(await in_db(plan_panel, session, oob=False))
