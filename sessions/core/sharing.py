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


async def share_new(request: HttpRequest, session: Session) -> Session:
    """Share a session that a client just made, where the configuration of its folder says `auto`. Those of
    subagents are parts of the page of the one above."""
    return await in_db(shared_new, session, base_of(request))


def shared_new(session: Session, base: str) -> Session:
    """The same on the ORM's thread, for what goes on there with it."""
    if agents().share_mode(session.directory) != "auto":
        return session
    return sharing.share(session.id, base) or session


def base_of(request: HttpRequest) -> str:
    """The address that the client knows this server by; the guard has checked the Host, and behind a proxy
    that is trusted the scheme."""
    return f"{request.scheme}://{request.headers.get('Host', '')}{settings.BASE_PATH}"
