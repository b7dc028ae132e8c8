"""`opencode-web mcp list` and `mcp add`: the MCP servers of a folder's configuration."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from agents.config.loader import load
from agents.config.problem import Refused, Unreadable
from agents.config.schema import McpConfig
from agents.config.trust.wants import HOW
from agents.config.writing import change
from agents.servers.mcp import acting
from agents.servers.mcp.hub import hub
from agents.servers.mcp.server import parse
from agents.toolkit.children.loop import close_all
from opencode_web.cli.terminal import Stop, plain, say, table


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """Connects to them all, and ends them again; names those of the project that wait for trust."""
    known = hub.configured(directory)
    standing = asyncio.run(_statuses(directory))
    rows = [(name, _where(known[name]), _state(standing[name])) for name in known]
    if rows:
        table(("Name", "Address or command", "State"), rows)
    say(f"{len(rows)} configured" if rows else "0 configured; `opencode-web mcp add` gives the agent one")
    for name in _untrusted(directory):
        say(f"{plain(name)} is not used until you trust it {HOW}")


def _untrusted(directory: Path) -> list[str]:
    wishes = [wish for want in load(directory).wants if not want.trusted for wish in want.wishes]
    return [wish.key.removeprefix("mcp.") for wish in wishes if wish.key.startswith("mcp.")]


def add(arguments: argparse.Namespace, directory: Path) -> None:
    """Write a server into the configuration of the folder, or the user's own. Raise Stop for a wrong one."""
    command: list[str] = getattr(arguments, "command", [])
    if bool(arguments.url) == bool(command):
        raise Stop("a server needs either --url ADDRESS or, after --, the command that starts it", 2)
    server: dict[str, Any]
    if arguments.url:
        server = {"type": "remote", "url": arguments.url, "headers": _pairs("--header", arguments.header)}
    else:
        environment = _pairs("--env", arguments.env)
        server = {"type": "local", "command": command, "environment": environment}
    given = cast(McpConfig, {key: value for key, value in server.items() if value})
    try:
        parse(arguments.name, given)
    except ValueError as error:
        raise Stop(str(error), 2) from error
    try:
        change(None if arguments.globally else directory, {"mcp": {arguments.name: given}})
    except (Refused, Unreadable) as error:
        raise Stop(str(error)) from error
    say(f"{arguments.name} is configured")


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in given]
    if wrong := [item for item, (name, equals, _) in zip(given, pairs, strict=True) if not (name and equals)]:
        raise Stop(f"{option} takes NAME=VALUE, not {wrong[0].partition('=')[0]!r}", 2)
    return {name: value for name, _, value in pairs}


def _where(server: Any) -> str:
    return str(server.get("url") or " ".join(server.get("command") or ()))


def _state(status: dict[str, Any]) -> str:
    return ": ".join(filter(None, (status["status"], status.get("error", ""))))


async def _statuses(directory: Path) -> acting.Statuses:
    try:
        return await acting.statuses(directory, acting.SETTLED_SECONDS)
    finally:
        await close_all()
