"""What clients of the API and the command line do with MCP servers, in the wire's shapes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from agents.config.schema import McpConfig
from agents.servers.mcp.hub import hub
from agents.servers.mcp.oauth import signing
from agents.servers.mcp.oauth.signing import Attempt, NotAsked, SignInFailed, attempt_of
from agents.servers.mcp.server import Server, State, parse
from agents.toolkit.children.loop import background
from sessions.core import bus
from sessions.core.sentences import Sentence, sentence_of

Statuses = dict[str, dict[str, str]]

LISTED_SECONDS = 5.0
"""That the list waits for servers on their first way up; then they are what they are."""
SETTLED_SECONDS = 60.0
"""That a client waits which has just asked for a server to be connected."""
NOT_OPENED = "mcp.browser.open.failed"
"""OpenCode's event: the address that a person has to open. We open no browser, which would be one on the
server's machine: whoever listens shows the address."""


class NoneWaits(SignInFailed):
    """A code came, and no sign-in waits for one."""


async def statuses(directory: Path, within: float = LISTED_SECONDS) -> Statuses:
    """`{name: {"status": …}}`."""
    await hub.ready(directory, within)
    found = await asyncio.to_thread(hub.statuses, directory)
    return {name: state.wire() for name, state in found.items()}


async def server_of(directory: Path, name: str) -> Server:
    """Raises KeyError for a name that nobody knows, ValueError for an entry that is wrong."""
    return parse(name, (await asyncio.to_thread(hub.configured, directory))[name])


async def add(directory: Path, name: str, config: McpConfig) -> Statuses:
    """Add a server, or change one, for this run of the program."""
    await asyncio.to_thread(hub.add, directory, name, config)
    await settled(directory, name)
    return await statuses(directory)


async def connect(directory: Path, name: str) -> bool:
    """Whether the server is connected now. Raises KeyError."""
    await asyncio.to_thread(hub.switch, directory, name, True)
    connection = (await asyncio.to_thread(hub.connections, directory)).get(name)
    if connection is not None and connection.state.status not in ("connected", "connecting"):
        await connection.restart()
    return (await settled(directory, name)).status == "connected"


async def disconnect(directory: Path, name: str) -> bool:
    """Raises KeyError."""
    await asyncio.to_thread(hub.switch, directory, name, False)
    return True


async def start(directory: Path, name: str, origin: str) -> dict[str, str]:
    """Begin a sign-in: where a person signs in, and its state. Raises KeyError and SignInFailed."""
    try:
        attempt = await _begun(directory, name, origin)
    except NotAsked:
        return {"authorizationUrl": "", "oauthState": ""}
    return {"authorizationUrl": attempt.url, "oauthState": attempt.state}


async def authenticate(directory: Path, name: str, origin: str) -> dict[str, str]:
    """Begin a sign-in, tell whoever listens where a person signs in, and wait until they have; how the server
    stands then. Raises KeyError, and SignInFailed where nobody can sign in."""
    server = await _server(directory, name)
    if reason := signing.reason_against(server):
        raise SignInFailed(reason)
    try:
        attempt = await _begun(directory, name, origin)
        told = {"mcpName": name, "url": attempt.url}
        bus.publish(bus.Event(NOT_OPENED, told, directory=str(directory)))
        await signing.finish(attempt)
    except NotAsked:
        pass
    except SignInFailed as error:
        return State("failed", sentence_of(error)).wire()
    return (await settled(directory, name)).wire()


async def hand_over(directory: Path, name: str, code: str) -> dict[str, str]:
    """End the sign-in that waits with the code; how the server stands then. Raises KeyError and NoneWaits."""
    attempt = attempt_of(await _server(directory, name))
    if attempt is None or attempt.status != "pending":
        raise NoneWaits(gettext("no authorization of the MCP server %(name)s is under way") % {"name": name})
    signing.hand_over(attempt, code)
    try:
        await signing.finish(attempt)
    except SignInFailed as error:
        return State("failed", sentence_of(error)).wire()
    return (await settled(directory, name)).wire()


async def sign_out(directory: Path, name: str) -> bool:
    """Whether there was something to forget. Raises KeyError and SignInFailed."""
    return await signing.sign_out(await _server(directory, name))


async def state_of(directory: Path, name: str) -> State:
    """Raises KeyError."""
    return (await asyncio.to_thread(hub.statuses, directory))[name]


async def settled(directory: Path, name: str) -> State:
    """How a server stands once its first try has ended. Raises KeyError."""
    connection = (await asyncio.to_thread(hub.connections, directory)).get(name)
    if connection is not None:
        await background.ask(_within(connection.settled()))
    return await state_of(directory, name)


async def _begun(directory: Path, name: str, origin: str) -> Attempt:
    """Raises NotAsked also where the server is connected: it is signed in to, or asks for nothing."""
    server = await _server(directory, name)
    if (await state_of(directory, name)).status == "connected":
        raise NotAsked(gettext("The MCP server %(name)s is connected.") % {"name": name})
    return await signing.begin(server, origin)


async def _server(directory: Path, name: str) -> Server:
    try:
        return await server_of(directory, name)
    except ValueError as error:
        raise SignInFailed(Sentence("MCP server %(name)s: %(error)s", name=name, error=error)) from error


async def _within(settled: Coroutine[Any, Any, None]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLED_SECONDS):
            await settled
