"""What the page shows beside the messages; each fragment is read from the rows when it is rendered.

A function takes a session and gives the HTML of its fragment, marked for an out-of-band swap
unless `oob` is False.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString

from sessions.models import AdmittedPrompt, Message, Project, Session
from sessions.store import inbox, permissions, todos
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
    items = [{"session": row, "state": state_of(row, row.id in waiting)} for row in rows]
    return html("sidebar/list.html", items=items, current=current, project=project, search=search)


def sidebar_item(session_id: str, *, current: str = "", oob: bool = True) -> str:
    """One session of the list; empty for one the list does not show."""
    session = session_store.get(session_id)
    if session is None or session.parent_id or session.time_archived:
        return ""
    state = state_of(session, bool(permissions.pending(session_id=session_id)))
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


def _busy(session: Session) -> bool:
    return bool((session.status or {}).get("type", "idle") != "idle")


def meter(session: Session, *, oob: bool = True) -> str:
    """Tokens in the context now, their share of the model's window, and what the session cost."""
    rows = Message.objects.filter(session_id=session.id, role="assistant", data__tokens__output__gt=0)
    if session.revert:
        rows = rows.filter(id__lt=session.revert["messageID"])
    last = rows.order_by("-id").first()
    used = _context_tokens(last.data["tokens"]) if last else 0
    window = _window(last.data["providerID"], last.data["modelID"]) if last else None
    return html("composer/meter.html", session=session, used=used, window=window, oob=oob)


def _context_tokens(tokens: dict[str, Any]) -> int:
    cache = tokens.get("cache") or {}
    parts = (
        tokens.get("input"),
        tokens.get("output"),
        tokens.get("reasoning"),
        cache.get("read"),
        cache.get("write"),
    )
    return sum(part or 0 for part in parts)


def _window(provider_id: str, model_id: str) -> int | None:
    """The model's context window, asked of whoever the settings name (this room knows no models)."""
    path = getattr(settings, "CONTEXT_WINDOW", "")
    if not path or not model_id:
        return None
    module, _, name = path.rpartition(".")
    window: int | None = getattr(import_module(module), name)(provider_id, model_id)
    return window


def todo_panel(session: Session, *, oob: bool = True) -> str:
    rows = todos.listing(session.id)
    done = sum(row.status in ("completed", "cancelled") for row in rows)
    return html("conversation/todos.html", todos=rows, done=done, open=done < len(rows), oob=oob)


def queue(session: Session, *, oob: bool = True) -> str:
    """Prompts that wait for the turn to end."""
    prompts = [{"id": row.id, "text": _text_of(row)} for row in inbox.waiting(session.id)]
    return html("conversation/queue.html", prompts=prompts, session=session, oob=oob)


def _text_of(row: AdmittedPrompt) -> str:
    texts = [part.get("text", "") for part in row.parts if part.get("type") == "text"]
    files = sum(part.get("type") == "file" for part in row.parts)
    return " ".join(texts)[:300] + (f" (+ {files} attached)" if files else "")


def reverted(session: Session, *, oob: bool = True) -> str:
    """The notice that part of the conversation is undone, with the way back."""
    start = (session.revert or {}).get("messageID", "")
    count = Message.objects.filter(session=session, id__gte=start, role="user").count() if start else 0
    return html("conversation/reverted.html", session=session, start=start, count=count, oob=oob)
