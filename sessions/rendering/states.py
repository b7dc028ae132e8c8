"""What the page shows beside the messages; each fragment is read from the rows when it is rendered.

A function takes a session and gives the HTML of its fragment, marked for an out-of-band swap
unless `oob` is False.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString

from sessions.models import Message, Project, Session
from sessions.store import children, permissions, questions, resumption, todos
from sessions.store import sessions as session_store

from .html import html


def state_of(session: Session, waiting: bool) -> str:
    """`idle`, `working`, `waiting` (for the person) or `failed`."""
    if waiting:
        return "waiting"
    if _busy(session):
        return "working"
    return "failed" if session.error else "idle"


def sidebar_list(
    project: Project, *, current: str = "", search: str = "", archived: bool = False
) -> SafeString:
    """The sessions of a project, newest use first."""
    rows = session_store.listing(project, roots=True, search=search, archived=archived, limit=200)
    waiting = {request.session_id for request in permissions.pending(project_id=project.id)}
    waiting |= {request.session_id for request in questions.pending(project_id=project.id)}
    above = children.roots(waiting)
    items = [{"session": row, "state": state_of(row, row.id in above)} for row in rows]
    return html("sidebar/list.html", items=items, current=current, project=project, search=search)


def sidebar_item(session_id: str, *, current: str = "", oob: bool = True) -> str:
    """One session of the list; empty for one the list does not show."""
    session = session_store.get(session_id)
    if session is None or session.parent_id or session.time_archived:
        return ""
    waiting = permissions.pending_below(session_id) or questions.pending_below(session_id)
    state = state_of(session, bool(waiting))
    return html("sidebar/item.html", session=session, state=state, current=current, oob=oob)


def head(session: Session, *, oob: bool = True) -> str:
    return html("conversation/head.html", session=session, oob=oob)


def activity(session: Session, *, oob: bool = True) -> str:
    """Send and Stop."""
    return html("composer/activity.html", session=session, busy=_busy(session), oob=oob)


def working(session: Session, *, oob: bool = True) -> str:
    """Below the messages: that the agent works, or what a retry waits for."""
    status = session.status or {}
    retry = status if status.get("type") == "retry" else None
    return html("conversation/working.html", busy=_busy(session), retry=retry, oob=oob)


def resume(session: Session, *, oob: bool = True) -> str:
    """Below the messages: the way to go on with a turn that was cut off."""
    offered = resumption.of(session) is not None and _resume_mode()(session.directory) != "off"
    return html("conversation/resume.html", session=session, offered=offered, oob=oob)


@cache
def _resume_mode() -> Callable[[str], str]:
    """What the configuration of a folder says, asked of whoever the settings name (it is above this room)."""
    return cast(Callable[[str], str], import_string(settings.RESUME_MODE))


def _busy(session: Session) -> bool:
    return bool((session.status or {}).get("type", "idle") != "idle")


def todo_panel(session: Session, *, oob: bool = True) -> str:
    rows = todos.listing(session.id)
    done = sum(row.status in ("completed", "cancelled") for row in rows)
    return html("conversation/todos.html", todos=rows, done=done, open=done < len(rows), oob=oob)


def reverted(session: Session, *, oob: bool = True) -> str:
    """The notice that part of the conversation is undone, with the way back."""
    start = (session.revert or {}).get("messageID", "")
    count = Message.objects.filter(session=session, id__gte=start, role="user").count() if start else 0
    return html("conversation/reverted.html", session=session, start=start, count=count, oob=oob)
