"""The timeline's part in live updates: it asks for itself again when something has happened."""

from __future__ import annotations

from sessions.models import Session
from sessions.rendering.html import html
from sessions.store import forks


def timeline_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the list anew with the filter that is chosen."""
    return html("timeline/news.html", session=session, oob=oob)


def fork_links(session: Session, *, oob: bool = True) -> str:
    """The way to the session that this one was forked from, and to its own forks."""
    source = session.forked_from
    if source is not None and source.time_deleted is not None:
        source = None
    return html("fork/links.html", session=session, source=source, forks=forks.listing(session.id), oob=oob)
