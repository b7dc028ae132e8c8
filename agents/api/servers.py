"""`/mcp`, `/lsp`, `/formatter`, `/experimental/resource`: what is connected."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from agents.api import mcp
from agents.api.listings import formatters_of
from agents.api.shapes import (
    FormatterInfo,
    LanguageServer,
    McpAdd,
    McpAuthorization,
    McpCode,
    McpStatus,
    Success,
)
from agents.config import McpConfig
from sessions.api.base import directory_of, wire
from sessions.api.described import answers

router = Router()


@router.get("/formatter", operation_id="formatter.status")
@answers(list[FormatterInfo])
async def formatters(request: HttpRequest) -> HttpResponse:
    return wire(await asyncio.to_thread(formatters_of, directory_of(request)))


@router.get("/lsp", operation_id="lsp.status")
@answers(list[LanguageServer])
async def language_servers(request: HttpRequest) -> HttpResponse:
    """Empty: this program runs no language servers."""
    directory_of(request)
    return wire([])


@router.get("/experimental/resource", operation_id="experimental.resource.list")
@answers(dict[str, Any])
async def resources(request: HttpRequest) -> HttpResponse:
    """The resources of the connected MCP servers."""
    directory_of(request)
    return wire({})


@router.get("/mcp", operation_id="mcp.status")
@answers(dict[str, McpStatus])
async def mcp_statuses(request: HttpRequest) -> HttpResponse:
    return wire(await asyncio.to_thread(mcp.statuses, directory_of(request)))


@router.post("/mcp", operation_id="mcp.add")
@answers(dict[str, McpStatus])
async def mcp_add(request: HttpRequest, body: McpAdd) -> HttpResponse:
    """Add a server, or change one, for this run of the program; the configuration files stay as they are."""
    directory = directory_of(request)
    await asyncio.to_thread(mcp.add, directory, body.name, cast(McpConfig, body.config.wire()))
    return wire(await asyncio.to_thread(mcp.statuses, directory))


@router.post("/mcp/{name}/connect", operation_id="mcp.connect")
@answers(bool, errors=(404,))
async def mcp_connect(request: HttpRequest, name: str) -> HttpResponse:
    """Whether the server is connected now."""
    return await _switched(request, name, True)


@router.post("/mcp/{name}/disconnect", operation_id="mcp.disconnect")
@answers(bool, errors=(404,))
async def mcp_disconnect(request: HttpRequest, name: str) -> HttpResponse:
    return await _switched(request, name, False)


@router.post("/mcp/{name}/auth", operation_id="mcp.auth.start")
@answers(McpAuthorization, errors=(404,))
async def mcp_auth_start(request: HttpRequest, name: str) -> HttpResponse:
    return await _unauthorized(request, name)


@router.post("/mcp/{name}/auth/authenticate", operation_id="mcp.auth.authenticate")
@answers(McpStatus, errors=(404,))
async def mcp_authenticate(request: HttpRequest, name: str) -> HttpResponse:
    return await _unauthorized(request, name)


@router.post("/mcp/{name}/auth/callback", operation_id="mcp.auth.callback")
@answers(McpStatus, errors=(404,))
async def mcp_auth_callback(request: HttpRequest, name: str, body: McpCode) -> HttpResponse:
    """Refused: no authorization was begun that a code could end."""
    if await _server(request, name) is None:
        return _unknown(name)
    raise HttpError(400, f"code: no authorization of the MCP server {name} is under way")


@router.delete("/mcp/{name}/auth", operation_id="mcp.auth.remove")
@answers(Success, errors=(404,))
async def mcp_auth_remove(request: HttpRequest, name: str) -> HttpResponse:
    """Nothing is kept of a server that was never signed in to."""
    return wire({"success": True}) if await _server(request, name) else _unknown(name)


async def _server(request: HttpRequest, name: str) -> McpConfig | None:
    return (await asyncio.to_thread(mcp.servers, directory_of(request))).get(name)


async def _switched(request: HttpRequest, name: str, on: bool) -> HttpResponse:
    try:
        return wire(await asyncio.to_thread(mcp.switch, directory_of(request), name, on))
    except KeyError:
        return _unknown(name)


async def _unauthorized(request: HttpRequest, name: str) -> HttpResponse:
    server = await _server(request, name)
    if server is None:
        return _unknown(name)
    if server.get("type") == "remote":
        return wire({"error": f"MCP server {name}: {mcp.NOT_CONNECTED}"}, 400)
    return wire({"error": f"MCP server {name} does not support OAuth"}, 400)


def _unknown(name: str) -> HttpResponse:
    text = f"MCP server not found: {name}"
    return wire({"_tag": "McpServerNotFoundError", "name": name, "message": text}, 404)
