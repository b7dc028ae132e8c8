"""The button of sharing in the session's head: it says whether the session is shared."""

from __future__ import annotations

from sessions.models import Session
from sessions.rendering.html import html

from .mode import mode


def share_button(session: Session, *, oob: bool = True) -> str:
    """Empty where sharing is disabled and nothing is shared."""
    shared = bool(session.share_token)
    hidden = not shared and mode(session.directory) == "disabled"
    base = f"/p/{session.project_id}/s/{session.id}"
    return html("sharing/button.html", shared=shared, hidden=hidden, base=base, oob=oob)
