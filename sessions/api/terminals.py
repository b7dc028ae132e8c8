"""`/pty`: terminals. As in OpenCode, one that has exited is unknown here; `/api/pty` still shows it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions.api.base import directory_of, wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, Tagged
from sessions.terminals.registry import terminals
from sessions.terminals.shapes import Pty, PtyCreate, PtyTicket, PtyUpdate, Shell
from sessions.terminals.shells import shells

from .terminal_requests import PtyId, found, may_have_ticket, opened, ticket_for

router = Router()

View = Callable[..., Awaitable[HttpResponse]]


def _as_opencode(view: View) -> View:
    """The errors of terminals have a `_tag` in the first protocol too, but for a bad request."""

    @wraps(view)
    async def answered(*arguments: Any, **named: Any) -> HttpResponse:
        try:
            return await view(*arguments, **named)
        except InvalidRequest as error:
            message = f"{error.body['field']}: {error}" if "field" in error.body else str(error)
            return wire({"name": "BadRequest", "data": {"message": message, "kind": "Payload"}}, error.status)
        except Tagged as error:
            return wire(error.body, error.status)

    return answered


@router.get("/shells", operation_id="pty.shells")
@answers(list[Shell])
async def list_shells(request: HttpRequest) -> HttpResponse:
    return wire([shell.wire() for shell in shells()])


@router.get("", operation_id="pty.list")
@answers(list[Pty])
async def listing(request: HttpRequest) -> HttpResponse:
    known = terminals.of(directory_of(request))
    return wire([terminal.info.wire() for terminal in known if terminal.exit_code is None])


@router.post("", operation_id="pty.create")
@answers(Pty)
@_as_opencode
async def create(request: HttpRequest, wanted: PtyCreate) -> HttpResponse:
    return wire((await opened(request, wanted)).info.wire())


@router.get("/{pty_id}", operation_id="pty.get")
@answers(Pty, errors=(404,))
@_as_opencode
async def get(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    return wire(found(request, pty_id, running=True).info.wire())


@router.put("/{pty_id}", operation_id="pty.update")
@answers(Pty, errors=(404,))
@_as_opencode
async def update(request: HttpRequest, pty_id: PtyId, wanted: PtyUpdate) -> HttpResponse:
    terminal = found(request, pty_id, running=True)
    terminals.update(terminal, wanted)
    return wire(terminal.info.wire())


@router.delete("/{pty_id}", operation_id="pty.remove")
@answers(bool, errors=(404,))
@_as_opencode
async def remove(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    await terminals.remove(found(request, pty_id, running=True))
    return wire(True)


@router.post("/{pty_id}/connect-token", operation_id="pty.connectToken")
@answers(PtyTicket, errors=(403, 404))
@_as_opencode
async def connect_token(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    if not may_have_ticket(request):
        raise Tagged(403, "PtyForbiddenError", "A ticket needs the header x-opencode-ticket: 1.")
    return wire(ticket_for(found(request, pty_id, running=True)).wire())


@router.get("/{pty_id}/connect", operation_id="pty.connect")
@answers(errors=(403, 404))
@_as_opencode
async def connect(request: HttpRequest, pty_id: PtyId) -> HttpResponse:
    """A WebSocket (`socket.py`); this answers who asks without an upgrade."""
    found(request, pty_id, running=True)
    raise InvalidRequest("This address is a WebSocket.")
