"""What is done to a server that is there: switched, started again, tested, removed.

A change is written into the file that has the server, where the page may write that; else it holds for this
run of the program, as what API clients change does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from agents.config.problem import Refused, Unreadable
from agents.config.schema import McpConfig
from agents.config.writing import change
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.hub import connection_to, hub
from agents.servers.mcp.oauth import signing
from agents.servers.mcp.server import Offers, Server, State, parse
from agents.toolkit.children.loop import background
from agents.web.mcp.listing import Row, counted, place_id
from agents.web.mcp.views import row_of
from sessions.core.repository import Repository
from sessions.core.sentences import message_of
from sessions.core.sharing import base_of
from sessions.core.text import terminal
from sessions.web.places import place_of
from sessions.web.respond import beside, done, fragment

RENEW = "servers:renew"
"""Told to the page: read the list again."""
ELSEWHERE = gettext_noop("The sign-in is from OpenCode's own file; sign out there.")
HELD = gettext_noop("Its file waits for your trust: look at that first.")


@require_POST
async def switch(request: HttpRequest) -> HttpResponse:
    """`on` enables, without it the server is disabled."""
    return await _turned(request, _switch, gettext("enabled"), gettext("disabled"))


@require_POST
async def apps(request: HttpRequest) -> HttpResponse:
    """`on` shows the apps of its tools, without it none is shown."""
    return await _turned(
        request, _show_apps, gettext("its apps are shown"), gettext("its apps are not shown")
    )


@require_POST
async def restart(request: HttpRequest) -> HttpResponse:
    row = await row_of(request.POST)
    directory = (await place_of(request.POST)).directory
    try:
        await asyncio.to_thread(hub.restart, directory, row.name)
    except KeyError:
        return beside(row.place, gettext("It is not running."))
    return renewed(row.name, gettext("starting again"))


@require_POST
async def test(request: HttpRequest) -> HttpResponse:
    """Connect once more, beside the connection that is in use."""
    row = await row_of(request.POST)
    if row.held:
        return beside(row.place, gettext(HELD))
    directory = (await place_of(request.POST)).directory
    configured = (await asyncio.to_thread(hub.configured, directory)).get(row.name)
    result = await result_of(row.name, configured or {}, directory)
    if isinstance(result, str):
        return beside(row.place, result)
    return fragment("mcp/result.html", result=result, place=row.place)


@require_GET
async def removal(request: HttpRequest) -> HttpResponse:
    """The dialog that asks whether to."""
    place = await place_of(request.GET)
    return fragment("mcp/remove.html", row=await row_of(request.GET), project=place.id)


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    """With `sign_out` its sign-in is forgotten too, unless another file has the same server."""
    row = await row_of(request.POST)
    directory = (await place_of(request.POST)).directory
    try:
        await asyncio.to_thread(_remove, row, directory)
    except (Refused, Unreadable) as error:
        return beside("server-dialog", message_of(error))
    if row.connection is None or "sign_out" not in request.POST:
        return renewed(row.name, gettext("removed"))
    return renewed(
        row.name,
        gettext("removed, %(what)s") % {"what": await _signed_out(row.connection.server, directory)},
    )


async def result_of(name: str, config: McpConfig, directory: Path) -> Result | str:
    """What connecting once gives, or why the entry makes no server."""
    try:
        server = parse(name, config)
        root = (await asyncio.to_thread(Repository.of, directory)).worktree
    except (ValueError, OSError) as error:
        return message_of(error)
    return await tried(server, root)


def renewed(name: str, said: str) -> HttpResponse:
    """`said` is read out; other pages are told by the hub."""
    return done(**{RENEW: {"place": place_id(name), "said": f"{name}: {said}"}})


def write(own: bool, directory: Path, name: str, entry: Any) -> None:
    """Into the user's own file or the project's; then only the configuration counts. Blocks; raises as
    `change`."""
    change(None if own else directory, {"mcp": {name: entry}})
    hub.forget(directory, name)


async def _turned(
    request: HttpRequest, turn: Callable[[Row, Path, bool], None], on: str, off: str
) -> HttpResponse:
    """Something of a server, by `on` in the form; `on` and `off` say what came of it. `turn` blocks."""
    row, is_on = await row_of(request.POST), "on" in request.POST
    if row.held:
        return beside(row.place, gettext(HELD))
    directory = (await place_of(request.POST)).directory
    try:
        await asyncio.to_thread(turn, row, directory, is_on)
    except (Refused, Unreadable) as error:
        return beside(row.place, message_of(error))
    return renewed(row.name, on if is_on else off)


def _switch(row: Row, directory: Path, on: bool) -> None:
    if row.writable:
        write(row.scope == "user", directory, row.name, {"enabled": on})
    else:
        with suppress(KeyError):
            hub.switch(directory, row.name, on)


def _show_apps(row: Row, directory: Path, on: bool) -> None:
    if row.writable:
        write(row.scope == "user", directory, row.name, {"apps": on})
    elif (config := hub.configured(directory).get(row.name)) is not None:
        hub.add(directory, row.name, {**config, "apps": on})


async def _signed_out(server: Server, directory: Path) -> str:
    """What came of it, in words."""
    left = (await asyncio.to_thread(hub.configured, directory)).get(server.name)
    if left is not None and left.get("url") == server.url:
        return gettext("still signed in, as another file has it too")
    try:
        return gettext("signed out") if await signing.sign_out(server) else gettext(ELSEWHERE)
    except signing.SignInFailed as error:
        return message_of(error)


def _remove(row: Row, directory: Path) -> None:
    if row.writable:
        write(row.scope == "user", directory, row.name, None)
    elif row.scope == "client":
        hub.forget(directory, row.name)
    else:
        raise Refused(gettext("It is written in %(file)s: take it out there.") % {"file": row.file})


def config_of(values: Any, name: str) -> McpConfig:
    """The entry of a server in a configuration's values."""
    return cast(McpConfig, (values.get("mcp") or {}).get(name) or {})


# Connect to a server once to see whether that works: nothing is kept, and the agent sees nothing of it.

LOG_LINES = 20
GRACE_SECONDS = 5.0
"""Beyond the server's own limit for its start."""


@dataclass(frozen=True, slots=True)
class Result:
    state: State
    offers: Offers
    log: str
    """The last lines of what the server said."""

    @property
    def offered(self) -> str:
        return counted(self.offers)


async def tried(server: Server, root: Path) -> Result:
    """From any loop. `root` is the worktree that the server is started in."""
    return await background.ask(_tried(connection_to(server, root)))


async def _tried(connection: Connection) -> Result:
    try:
        connection.start()
        async with asyncio.timeout(connection.server.start_timeout + GRACE_SECONDS):
            await connection.settled()
    except TimeoutError:
        return _result(connection, State("failed", gettext("It did not start in time.")))
    else:
        return _result(connection, connection.state)
    finally:
        await connection.close()


def _result(connection: Connection, state: State) -> Result:
    own = f"[{state.status}] "
    said = [line for line in connection.log.lines() if line.strip() and not line.startswith(own)]
    return Result(state, connection.offers, terminal("\n".join(said[-LOG_LINES:])))


GONE = gettext_noop("It is not running any longer.")


@require_POST
async def sign_in(request: HttpRequest) -> HttpResponse:
    """Begin; the address for the person's browser is in the row then."""
    row = await row_of(request.POST)
    if row.connection is None:
        return beside(row.place, gettext(GONE))
    try:
        await signing.begin(row.connection.server, base_of(request))
    except signing.SignInFailed as error:
        return beside(row.place, message_of(error))
    return renewed(row.name, gettext("waiting for you to sign in"))


@require_POST
async def cancel(request: HttpRequest) -> HttpResponse:
    row = await row_of(request.POST)
    if row.connection is not None:
        await signing.cancel(row.connection.server)
    return renewed(row.name, gettext("the sign-in is cancelled"))


@require_POST
async def sign_out(request: HttpRequest) -> HttpResponse:
    row = await row_of(request.POST)
    if row.connection is None:
        return beside(row.place, gettext(GONE))
    try:
        forgotten = await signing.sign_out(row.connection.server)
    except signing.SignInFailed as error:
        return beside(row.place, message_of(error))
    return renewed(row.name, gettext("signed out")) if forgotten else beside(row.place, gettext(ELSEWHERE))
