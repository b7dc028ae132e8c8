"""The problems' part in live updates: the header asks anew how many there are."""

from __future__ import annotations

from sessions.models import Session
from sessions.rendering.html import html


def problems_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the count anew, and the panel if that is open."""
    return html("problems/news.html", session=session, oob=oob)
