"""`/mcp` and `/experimental/resource`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from agents.agent.offered.resources import listing
from agents.api.shapes import McpAdd, McpAuthorization, McpCode, McpStatus, Success
from agents.config.schema import McpConfig
from agents.servers.mcp import acting
from agents.servers.mcp.oauth.signing import SignInFailed
from sessions.api.base import directory_of, wire
from sessions.api.described import answers

router = Router()


@router.get("/experimental/resource", operation_id="experimental.resource.list")
@answers(dict[str, Any])
async def resources(request: HttpRequest) -> HttpResponse:
    """The resources of the connected MCP servers."""
    return wire(await asyncio.to_thread(listing, directory_of(request)))


@router.get("/mcp", operation_id="mcp.status")
@answers(dict[str, McpStatus])
async def statuses(request: HttpRequest) -> HttpResponse:
    return wire(await acting.statuses(directory_of(request)))


@router.post("/mcp", operation_id="mcp.add")
@answers(dict[str, McpStatus])
async def add(request: HttpRequest, body: McpAdd) -> HttpResponse:
    """Add a server, or change one, for this run of the program; the configuration files stay as they are."""
    return wire(await acting.add(directory_of(request), body.name, cast(McpConfig, body.config.wire())))


@router.post("/mcp/{name}/connect", operation_id="mcp.connect")
@answers(bool, errors=(404,))
async def connect(request: HttpRequest, name: str) -> HttpResponse:
    """Whether the server is connected now."""
    return await _answer(name, acting.connect(directory_of(request), name))


@router.post("/mcp/{name}/disconnect", operation_id="mcp.disconnect")
@answers(bool, errors=(404,))
async def disconnect(request: HttpRequest, name: str) -> HttpResponse:
    return await _answer(name, acting.disconnect(directory_of(request), name))


@router.post("/mcp/{name}/auth", operation_id="mcp.auth.start")
@answers(McpAuthorization, errors=(404,))
async def auth_start(request: HttpRequest, name: str) -> HttpResponse:
    """Begin a sign-in: where a person signs in. Empty where the server does not ask for it."""
    return await _answer(name, acting.start(directory_of(request), name, origin_of(request)))


@router.post("/mcp/{name}/auth/authenticate", operation_id="mcp.auth.authenticate")
@answers(McpStatus, errors=(404,))
async def authenticate(request: HttpRequest, name: str) -> HttpResponse:
    """Begin a sign-in and answer once the person has signed in; `mcp.browser.open.failed` says where."""
    return await _answer(name, acting.authenticate(directory_of(request), name, origin_of(request)))


@router.post("/mcp/{name}/auth/callback", operation_id="mcp.auth.callback")
@answers(McpStatus, errors=(404,))
async def auth_callback(request: HttpRequest, name: str, body: McpCode) -> HttpResponse:
    """End a sign-in with the code that the client has got."""
    return await _answer(name, acting.hand_over(directory_of(request), name, body.code))


@router.delete("/mcp/{name}/auth", operation_id="mcp.auth.remove")
@answers(Success, errors=(404,))
async def auth_remove(request: HttpRequest, name: str) -> HttpResponse:
    return await _answer(name, acting.sign_out(directory_of(request), name), {"success": True})


def origin_of(request: HttpRequest) -> str:
    """By which the client reaches this server; the guard knows the host."""
    return f"{request.scheme}://{request.get_host()}"


async def _answer(name: str, act: Awaitable[Any], done: Any = None) -> HttpResponse:
    """What came of it, or `done`."""
    try:
        found = await act
    except KeyError:
        text = f"MCP server not found: {name}"
        return wire({"_tag": "McpServerNotFoundError", "name": name, "message": text}, 404)
    except acting.NoneWaits as error:
        raise HttpError(400, f"code: {error}") from error
    except SignInFailed as error:
        return wire({"error": str(error)}, 400)
    return wire(done or found)
