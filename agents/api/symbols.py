"""`/find/symbol`: the symbols of a project by name."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.servers.lsp.uses.symbols import find_symbols
from agents.servers.lsp.uses.symbols import wire as symbols_wire
from sessions.api.base import directory_of, wire
from sessions.api.described import answers
from sessions.core.wire.files import Symbol

router = Router()


@router.get("/find/symbol", operation_id="find.symbols")
@answers(list[Symbol])
async def find_symbol(request: HttpRequest, query: str) -> HttpResponse:
    """The ten best, of the language servers that run."""
    return wire(symbols_wire(await find_symbols(directory_of(request), query)))
