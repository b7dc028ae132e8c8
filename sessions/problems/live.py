"""The problems' part in live updates: the header asks anew how many there are."""

from __future__ import annotations

from collections.abc import Collection

from sessions.models import Session
from sessions.rendering.html import html

SAID = "lsp.client.diagnostics"


def problems_said(paths: Collection[str]) -> str:
    """Tells the page of whose files a server said something: it knows whether a diff of one is shown."""
    return html("problems/said.html", paths=sorted(paths))


def problems_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the count anew, and the panel if that is open."""
    return html("problems/news.html", session=session, oob=oob)
