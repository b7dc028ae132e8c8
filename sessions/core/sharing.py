"""Sharing a session: by hand, or as soon as it is there."""

from __future__ import annotations

import asyncio

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import sharing

from .above import agents


class Disabled(Exception):
    """The configuration forbids sharing."""


async def share(request: HttpRequest, session: Session) -> Session:
    """The session with its address, which is below the one that the request was sent to. Raises Disabled."""
    if await asyncio.to_thread(agents().share_mode, session.directory) == "disabled":
        raise Disabled(gettext("Sharing is disabled by the configuration (`share`)."))
    return await in_db(sharing.share, session.id, base_of(request)) or session


async def unshare(session: Session) -> Session:
    return await in_db(sharing.unshare, session.id) or session


async def share_new(request: HttpRequest, session_id: str, directory: str) -> Session | None:
    """Share a session that a client just made in a folder, where the configuration says `auto`; None
    elsewhere. Those of subagents are parts of the page of the one above."""
    if await asyncio.to_thread(agents().share_mode, directory) != "auto":
        return None
    return await in_db(sharing.share, session_id, base_of(request))


def base_of(request: HttpRequest) -> str:
    """The address that the client knows this server by; the guard has checked the Host, and behind a proxy
    that is trusted the scheme."""
    return f"{request.scheme}://{request.headers.get('Host', '')}{settings.BASE_PATH}"
