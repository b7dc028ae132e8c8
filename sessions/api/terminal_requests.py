"""What the operations of both protocols do with a request about a terminal."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Path

from sessions.api.base import directory_of, project_of
from sessions.api.v2.base import InvalidRequest, Tagged
from sessions.terminals.registry import CannotOpen, terminals
from sessions.terminals.shapes import PtyCreate, PtyTicket
from sessions.terminals.terminal import Terminal
from sessions.terminals.tickets import SECONDS, tickets

PtyId = Annotated[str, Path(pattern="^pty")]
TICKET_HEADER = "X-OpenCode-Ticket"
"""Has to be "1": no form and no image of another page can send it."""


async def opened(request: HttpRequest, wanted: PtyCreate) -> Terminal:
    """A new terminal in the request's folder. Raises InvalidRequest, NotFound."""
    project = await project_of(request)
    try:
        return await terminals.open(project.id, directory_of(request), wanted)
    except CannotOpen as error:
        raise InvalidRequest(str(error), error.field) from error


def found(request: HttpRequest, pty_id: str, *, running: bool = False) -> Terminal:
    """A terminal of the request's folder. Raises Tagged (404), and NotFound for no such folder."""
    terminal = terminals.get(directory_of(request), pty_id)
    if terminal is None or (running and terminal.exit_code is not None):
        raise Tagged(404, "PtyNotFoundError", f"There is no terminal {pty_id}.", ptyID=pty_id)
    return terminal


def may_have_ticket(request: HttpRequest) -> bool:
    return request.headers.get(TICKET_HEADER) == "1"


def ticket_for(terminal: Terminal) -> PtyTicket:
    return PtyTicket(ticket=tickets.issue(terminal.id), expires_in=SECONDS)
