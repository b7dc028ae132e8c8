"""The notices above a conversation: pulled from the room above, and pulled anew when there is news."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions.core.models import Session

from .html import html


def news(session: Session, *, oob: bool = True) -> str:
    """An empty element that, when it arrives by the socket, has the page pull its notices."""
    return html("conversation/news.html", session=session, oob=oob)


def alarm(error: Mapping[str, Any]) -> str:
    """A note over the page, for what has no place in it."""
    note = html("fragments/toast.html", text=error["data"]["message"])
    return f'<div hx-swap-oob="beforeend:#toasts">{note}</div>'
