"""What the pages of the review room share."""

from __future__ import annotations

from sessions.models import Session


def base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}"
