"""Review mode beside the composer: its switch, and what waits."""

from __future__ import annotations

from sessions.changes.review.staged import seals
from sessions.core.models import Session
from sessions.core.store import staging
from sessions.rendering.html import html


def staging_switch(session: Session, *, oob: bool = True) -> str:
    """Turns review mode on and off; a subagent's session has none, as it stages into the one above."""
    return html("staging/switch.html", session=session, base=session.get_absolute_url(), oob=oob)


def staged_bar(session: Session, *, oob: bool = True) -> str:
    """Above the composer: that review mode is on, and what can be done about what waits."""
    files = [] if session.parent_id else staging.files(session)
    return html(
        "staging/bar.html",
        session=session,
        base=session.get_absolute_url(),
        count=len(files),
        drawn=seals(files),
        own=sum(row.guarded for row in files),
        on=session.staging and not session.parent_id,
        oob=oob,
    )
