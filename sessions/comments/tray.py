"""Above the prompt: how many comments wait to be sent."""

from __future__ import annotations

from sessions.models import Session
from sessions.rendering.html import html
from sessions.store import comments


def comment_tray(session: Session, *, oob: bool = True) -> str:
    """Empty without drafts."""
    return html("comments/tray.html", session=session, drafts=comments.drafts(session.id), oob=oob)
