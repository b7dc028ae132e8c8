"""The review panel's part in live updates: it asks for itself again when the ledger has something new."""

from __future__ import annotations

from sessions.models import Session
from sessions.rendering.html import html


def review_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the panel anew in the scope and view it is in."""
    return html("review/news.html", session=session, oob=oob)
