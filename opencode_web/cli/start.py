"""`opencode-web [DIR]` and `opencode-web serve [DIR]`: the server, from checks to the launch link."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Awaitable, Callable

from agents.heap import permanent
from opencode_web import logs, paths
from opencode_web.cli.directory import project_directory
from opencode_web.cli.django import prepare_django, wired
from opencode_web.cli.network import DEFAULT_PORT, Network, choose
from opencode_web.cli.opening import open_link, place
from opencode_web.cli.redis import check_redis
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import say
from opencode_web.config import load
from opencode_web.holding import Held, hold
from opencode_web.security import Guard, Policy
from opencode_web.security.launch import launch_url
from opencode_web.security.policy import policy_for
from opencode_web.server import PortTaken, serve

__all__ = ["DEFAULT_PORT", "run"]

BUILD = "opencode_web.asgi.build"
"""Takes the policy and gives the guarded application."""
CONCEAL = "sessions.transfer.writing.secrets.conceal"
"""Exports and shared pages never show the password."""
STARTUP = "opencode_web.background.start"
SHUTDOWN = "opencode_web.background.stop"


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal. Raise Stop when it cannot begin."""
    if arguments.directory is not None:
        os.environ["OPENCODE_WEB_DIRECTORY"] = str(project_directory(arguments.directory))
    if arguments.no_worker:
        os.environ["OPENCODE_WEB_NO_WORKER"] = "1"
    check_redis(os.environ, paths.secret(), needed_by=_apart())
    logs.set_up(print_logs=arguments.print_logs)
    network = choose(arguments, load(None).config.server, os.environ)
    _hold(f"the server at {network.url} (process {os.getpid()})")
    policy = _policy(network)
    with permanent():
        prepare_django()
        wired(CONCEAL)(policy.password)
        guard: Guard = wired(BUILD)(policy)
    startup: Callable[[], Awaitable[None]] = wired(STARTUP)

    async def on_ready() -> None:
        await startup()
        _announce(network, guard, with_browser=not arguments.no_open)

    try:
        serve(guard, network.address, network.port, on_ready=on_ready, on_shutdown=wired(SHUTDOWN))
    except PortTaken as error:
        raise Stop(str(error)) from error
    finally:
        place(network.port).unlink(missing_ok=True)


def _hold(name: str) -> None:
    try:
        hold(paths.data_directory(), name, os.environ)
    except Held as error:
        raise Stop(str(error)) from error


def _apart() -> str:
    """What keeps the turns out of this process, if anything does."""
    return "a server without a worker (--no-worker)" if os.environ.get("OPENCODE_WEB_NO_WORKER") else ""


def _policy(network: Network) -> Policy:
    try:
        policy = policy_for(network.hostname, network.port, paths.secret(), os.environ, network.cors)
    except ValueError as error:
        raise Stop(str(error), 2) from error
    # What the agent starts inherits the environment and has no need of the password.
    os.environ.pop("OPENCODE_SERVER_PASSWORD", None)
    return policy


def _announce(network: Network, guard: Guard, *, with_browser: bool) -> None:
    tokens = guard.launch_tokens
    link = launch_url(network.url, tokens.issue())
    say(f"opencode-web server listening on {network.url}")
    say(f"Open {link}")
    if with_browser and has_desktop():
        token = tokens.issue()
        open_link(launch_url(network.url, token), network.port, lambda: tokens.waits(token))


def has_desktop() -> bool:
    """Without one, `webbrowser` would start a browser in the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
