"""`opencode-web acp`: an agent for editors over the Agent Client Protocol."""

from __future__ import annotations

import argparse
import os
from typing import Any

from opencode_web.cli.terminal import Stop


def add(commands: Any) -> None:
    """Add `acp` to the command line's parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "acp", help="be the agent of an editor (Zed, JetBrains, Neovim, Emacs) on standard input and output"
    )
    parser.add_argument("--url", help="the server to use (OPENCODE_BASE_URL, or the one that runs)")
    parser.add_argument("--no-start", action="store_true", help="never start a server")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Serve until standard input is closed. Raise Stop for a wrong argument."""
    from opencode_web.bridge.acp.agent import run as serve
    from opencode_web.bridge.remote.launcher import wanted

    try:
        server = wanted(os.environ, arguments.url, start=not arguments.no_start)
    except ValueError as error:
        raise Stop(str(error), 2) from error
    serve(server)
