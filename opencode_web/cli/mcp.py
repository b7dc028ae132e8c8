"""`opencode-web mcp`: an MCP server over the HTTP API, for other agents and editors."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from opencode_web.cli.setup import project_directory
from opencode_web.cli.terminal import Stop
from opencode_web.cli.verbs import verb

SIGN_INS = {
    "auth": "sign in to a remote MCP server (`mcp auth list`: where you are signed in)",
    "logout": "sign out of a remote MCP server",
    "debug": "what is known of a remote MCP server's sign-in",
}


def add(commands: Any) -> None:
    """Add `mcp` to the command line's parser; without a command of its own behind it, it serves."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "mcp", help="be an MCP server on standard input and output, or list and add those of the agent"
    )
    parser.add_argument("--url", help="the server to use (OPENCODE_BASE_URL, or http://127.0.0.1:4096)")
    parser.add_argument("--directory", metavar="DIR", help="the project (the current directory)")
    parser.add_argument("--no-start", action="store_true", help="never start a server")
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(metavar="COMMAND")
    verb(
        actions.add_parser(
            "list", aliases=["ls"], help="the MCP servers the agent uses, and whether they are connected"
        ),
        "mcp",
        "list",
    )
    added = actions.add_parser("add", help="give the agent an MCP server")
    added.add_argument("name", help="what to call it")
    added.epilog = (
        "A server on this machine: its command comes last, after --, as in: mcp add NAME -- npx some-server"
    )
    added.add_argument("--url", help="the address of a server elsewhere")
    added.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="environment of the command"
    )
    added.add_argument(
        "--header", action="append", default=[], metavar="NAME=VALUE", help="a header sent to the address"
    )
    added.add_argument(
        "--global", dest="globally", action="store_true", help="for all projects, in your own configuration"
    )
    verb(added, "mcp", "add")
    for name, summary in SIGN_INS.items():
        parser = actions.add_parser(name, help=summary)
        parser.add_argument("name", nargs=None if name == "debug" else "?", help="of the server")
        verb(parser, "mcp", name)


def run(arguments: argparse.Namespace) -> None:
    """Serve until standard input is closed. Raise Stop for a wrong argument."""
    from opencode_web.bridge.remote.launcher import wanted
    from opencode_web.bridge.run import run as serve

    try:
        server = wanted(
            os.environ, arguments.url, _directory(arguments.directory), start=not arguments.no_start
        )
    except ValueError as error:
        raise Stop(str(error), 2) from error
    serve(server)


def _directory(name: str | None) -> str | None:
    """The project; none where the client has started us in no project, but in the root or the home."""
    if name is not None:
        return str(project_directory(name))
    here = Path.cwd()
    return None if here in (Path(here.anchor), Path.home()) else str(here)
