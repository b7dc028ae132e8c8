"""The notices above a conversation: pulled from the room above, and pulled anew when there is news."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from sessions.core.models import Session

from .html import html


def news(session: Session, *, oob: bool = True) -> str:
    """An empty element that, when it arrives by the socket, has the page pull its notices."""
    return html("conversation/news.html", session=session, oob=oob)


def alarm(error: Mapping[str, Any]) -> str:
    """A note over the page, for what has no place in it."""
    return _over(html("fragments/toast.html", text=error["data"]["message"]))


def moved(info: Mapping[str, Any]) -> str:
    """For a page whose session (wire) has gone to another project: the way there."""
    return _over(html("fragments/moved.html", url=reverse("session", args=(info["projectID"], info["id"]))))


def _over(note: str) -> str:
    return f'<div hx-swap-oob="beforeend:#toasts">{note}</div>'
