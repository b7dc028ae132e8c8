"""`opencode-web [DIR]` and `opencode-web serve [DIR]`: the server, from checks to the launch link."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import webbrowser
from collections.abc import Awaitable, Callable

from opencode_web import logs, paths
from opencode_web.cli.directory import project_directory
from opencode_web.cli.django import prepare_django, wired
from opencode_web.cli.network import DEFAULT_PORT, Network, choose
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import say
from opencode_web.config import load
from opencode_web.security import Guard, Policy
from opencode_web.security.launch import launch_url
from opencode_web.security.policy import policy_for
from opencode_web.server import PortTaken, serve

__all__ = ["DEFAULT_PORT", "run"]

BUILD = "opencode_web.asgi.build"
"""Takes the policy and gives the guarded application."""
STARTUP = "opencode_web.asgi.startup"
SHUTDOWN = "opencode_web.asgi.shutdown"


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal. Raise Stop when it cannot begin."""
    if arguments.directory is not None:
        os.environ["OPENCODE_WEB_DIRECTORY"] = str(project_directory(arguments.directory))
    logs.set_up(print_logs=arguments.print_logs)
    network = choose(arguments, load(None).config.server, os.environ)
    policy = _policy(network)
    prepare_django()
    guard: Guard = wired(BUILD)(policy)
    startup: Callable[[], Awaitable[None]] = wired(STARTUP)

    async def on_ready() -> None:
        await startup()
        _announce(network, guard, with_browser=not arguments.no_open)

    try:
        serve(guard, network.address, network.port, on_ready=on_ready, on_shutdown=wired(SHUTDOWN))
    except PortTaken as error:
        raise Stop(str(error)) from error


def _policy(network: Network) -> Policy:
    try:
        policy = policy_for(network.hostname, network.port, paths.secret(), os.environ, network.cors)
    except ValueError as error:
        raise Stop(str(error), 2) from error
    # What the agent starts inherits the environment and has no need of the password.
    os.environ.pop("OPENCODE_SERVER_PASSWORD", None)
    return policy


def _announce(network: Network, guard: Guard, *, with_browser: bool) -> None:
    link = launch_url(network.url, guard.launch_tokens.issue())
    say(f"opencode-web server listening on {network.url}")
    say(f"Open {link}")
    if with_browser and _has_desktop():
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _has_desktop() -> bool:
    """Without one, `webbrowser` would start a browser in the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
