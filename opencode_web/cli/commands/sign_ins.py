"""`opencode-web mcp auth`, `mcp logout` and `mcp debug`: signing in and out at remote MCP servers."""

from __future__ import annotations

import argparse
import asyncio
import threading
import time
import webbrowser
from datetime import UTC, datetime
from pathlib import Path

from agents.servers.mcp import acting
from agents.servers.mcp.hub import hub
from agents.servers.mcp.oauth import signing, store
from agents.servers.mcp.oauth.signing import NotAsked, SignInFailed
from agents.servers.mcp.server import Server, parse
from agents.toolkit.children.loop import background, close_all
from opencode_web.cli.start import has_desktop
from opencode_web.cli.terminal import Stop, plain, say, table

_ENDS = 4
"""Characters of a token that are shown at each end."""


def auth(arguments: argparse.Namespace, directory: Path) -> None:
    """Sign in; with `list` for a name say where one is signed in."""
    if arguments.name in ("list", "ls"):
        _list(directory)
        return
    server = _server(directory, arguments.name)
    try:
        asyncio.run(_sign_in(server))
    except NotAsked as error:
        raise Stop(f"{server.name}: {error}") from error
    except SignInFailed as error:
        raise Stop(plain(str(error))) from error
    say(f"Signed in to {server.name}")


def logout(arguments: argparse.Namespace, directory: Path) -> None:
    server = _server(directory, arguments.name)
    try:
        forgotten = asyncio.run(signing.sign_out(server))
    except SignInFailed as error:
        raise Stop(plain(str(error))) from error
    if not forgotten:
        raise Stop(f"{server.name}: there is no sign-in in {store.files()[0]}")
    say(f"Signed out of {server.name}")


def debug(arguments: argparse.Namespace, directory: Path) -> None:
    """Say what is known of a server's sign-in, and whether it can be connected to."""
    server = _server(directory, arguments.name)
    say(f"URL: {plain(server.url)}")
    if reason := signing.reason_against(server):
        say(f"No sign-in: {plain(reason)}")
    for line in _tokens(store.kept(server)):
        say(line)
    for line in asyncio.run(_probe(directory, server)):
        say(plain(line))


def _tokens(kept: store.Kept | None) -> list[str]:
    if kept is None:
        return ["Signed in: no"]
    shown = f"{kept.access[:_ENDS]}…{kept.access[-_ENDS:]}" if len(kept.access) > 3 * _ENDS else "…"
    ends = datetime.fromtimestamp(kept.expires, UTC).isoformat(" ", "seconds") if kept.expires else "unknown"
    over = " (over)" if 0 < kept.expires < time.time() else ""
    return [
        "Signed in: yes",
        f"Token: {plain(shown)}, until {ends}{over}",
        f"Renewed: {'at ' + plain(kept.token_endpoint or 'the server found then') if kept.refresh else 'no'}",
        f"Client: {plain(kept.client_id) or 'unknown'}",
    ]


async def _probe(directory: Path, server: Server) -> list[str]:
    """What the server says to whoever comes, and to us."""
    try:
        lines = [] if signing.reason_against(server) else await background.ask(signing.described(server))
        state = await acting.settled(directory, server.name)
        return [*lines, ": ".join(filter(None, (f"State: {state.status}", state.error)))]
    finally:
        await close_all()


async def _sign_in(server: Server) -> None:
    """The browser comes back to a port of ours: no server of ours need be running."""
    attempt = await signing.begin(server, "")
    say(f"Sign in here, within five minutes: {plain(attempt.url)}")
    if has_desktop():
        threading.Thread(target=webbrowser.open, args=(attempt.url,), daemon=True).start()
    try:
        await signing.finish(attempt)
    finally:
        await signing.cancel(server)
        await close_all()


def _list(directory: Path) -> None:
    servers = _remote(directory)
    rows = [(name, server.url, _state(server)) for name, server in servers.items()]
    if rows:
        table(("Name", "Address", "Signed in"), rows)
    say(f"{len(rows)} remote servers")


def _state(server: Server) -> str:
    if signing.reason_against(server):
        return "not needed"
    kept = store.kept(server)
    if kept is None:
        return "no"
    return "over" if 0 < kept.expires < time.time() and not kept.refresh else "yes"


def _server(directory: Path, name: str | None) -> Server:
    """Raises Stop."""
    servers = _remote(directory)
    if name is None and len(servers) == 1:
        return next(iter(servers.values()))
    if name is None:
        raise Stop(f"say which: {', '.join(servers) or 'there is no remote server'}", 2)
    if name not in hub.configured(directory):
        raise Stop(f"MCP server not found: {plain(name)}")
    if name not in servers:
        raise Stop(f"{plain(name)} is no remote server")
    return servers[name]


def _remote(directory: Path) -> dict[str, Server]:
    found = {}
    for name, entry in hub.configured(directory).items():
        try:
            server = parse(name, entry)
        except ValueError:
            continue
        if server.kind == "remote":
            found[name] = server
    return found
