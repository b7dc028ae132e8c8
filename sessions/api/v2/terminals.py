"""`/api/pty`: terminals, in the second protocol; one that has exited stays until it is removed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions.api.base import directory_of
from sessions.api.described import answers
from sessions.api.terminal_requests import PtyId, found, may_have_ticket, opened, ticket_for
from sessions.api.v2.base import InvalidRequest, Tagged, located
from sessions.core.wire.v2.base import Located
from sessions.terminals.registry import terminals
from sessions.terminals.shapes import Pty, PtyCreate, PtyTicket, PtyUpdate

router = Router()


@router.get("", operation_id="v2.pty.list")
@answers(Located[list[Pty]])
async def listing(request: HttpRequest) -> HttpResponse:
    known = terminals.of(directory_of(request))
    return await located(request, [terminal.info.wire() for terminal in known])


@router.post("", operation_id="v2.pty.create")
@answers(Located[Pty])
async def create(request: HttpRequest, wanted: PtyCreate) -> HttpResponse:
    return await located(request, (await opened(request, wanted)).info.wire())


@router.get("/{pty_id}", operation_id="v2.pty.get")
@answers(Located[Pty], errors=(404,))
async def get(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    return await located(request, found(request, pty_id).info.wire())


@router.put("/{pty_id}", operation_id="v2.pty.update")
@answers(Located[Pty], errors=(404,))
async def update(request: HttpRequest, pty_id: PtyId, wanted: PtyUpdate) -> HttpResponse:
    terminal = found(request, pty_id)
    terminals.update(terminal, wanted)
    return await located(request, terminal.info.wire())


@router.delete("/{pty_id}", operation_id="v2.pty.remove")
@answers(status=204, errors=(404,))
async def remove(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    await terminals.remove(found(request, pty_id))
    return HttpResponse(status=204)


@router.post("/{pty_id}/connect-token", operation_id="v2.pty.connectToken")
@answers(Located[PtyTicket], errors=(403, 404))
async def connect_token(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    if not may_have_ticket(request):
        raise Tagged(403, "ForbiddenError", "A ticket needs the header x-opencode-ticket: 1.")
    return await located(request, ticket_for(found(request, pty_id)).wire())


@router.get("/{pty_id}/connect", operation_id="v2.pty.connect")
@answers(errors=(403, 404))
async def connect(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    """A WebSocket (`socket.py`); this answers who asks without an upgrade."""
    found(request, pty_id)
    raise InvalidRequest("This address is a WebSocket.")
