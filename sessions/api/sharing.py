"""`/session/{id}/share`: a transcript behind a secret address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from sessions.api.base import session_of, wire
from sessions.api.described import answers
from sessions.core import sharing
from sessions.core.store.rows import session_wire
from sessions.core.wire import ours
from sessions.core.wire.session import SessionInfo

router = Router()


@router.post("/{session_id}/share", operation_id="session.share")
@answers(SessionInfo, errors=(404,))
async def share(request: HttpRequest, session_id: str) -> HttpResponse:
    """The session with `share.url`; the same one as long as it is shared. 400 where sharing is disabled."""
    try:
        return wire(ours.session(session_wire(await sharing.share(request, await session_of(session_id)))))
    except sharing.Disabled as error:
        raise HttpError(400, str(error)) from error


@router.delete("/{session_id}/share", operation_id="session.unshare")
@answers(SessionInfo, errors=(404,))
async def unshare(request: HttpRequest, session_id: str) -> HttpResponse:
    """The session without it; its page is gone at once."""
    return wire(ours.session(session_wire(await sharing.unshare(await session_of(session_id)))))
