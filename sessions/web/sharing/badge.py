"""The button of sharing in the session's head: it says whether the session is shared."""

from __future__ import annotations

from sessions.core.above import agents
from sessions.core.models import Session
from sessions.rendering.html import html


def share_button(session: Session, *, oob: bool = True) -> str:
    """Empty where sharing is disabled and nothing is shared."""
    shared = bool(session.share_token)
    hidden = not shared and agents().share_mode(session.directory) == "disabled"
    return html("sharing/button.html", shared=shared, hidden=hidden, base=session.get_absolute_url(), oob=oob)
