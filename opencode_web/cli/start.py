"""`opencode-web [DIR]` and `opencode-web serve [DIR]`: the server, from checks to the launch link."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from agents.config.loader import load
from agents.config.schema import ServerConfig
from opencode_web import team
from opencode_web.cli.link import DEFAULT_HOSTNAME, DEFAULT_PORT, link_to, open_link, place, project_page
from opencode_web.cli.setup import check_redis, prepare_django, project_directory, tell_problems
from opencode_web.cli.terminal import Stop, say
from opencode_web.site import logs, served
from opencode_web.site.security.asgi import Application
from opencode_web.site.security.guard import Guard
from opencode_web.site.security.hosts import is_loopback, is_wildcard
from opencode_web.site.security.launch import launch_url
from opencode_web.site.security.people import People
from opencode_web.site.security.policy import Policy, policy_for
from opencode_web.site.server import PortTaken, find_port, listen, resolve, serve
from sessions.core import paths, variables
from sessions.core.heap import permanent
from sessions.core.holding import Held, hold

PORTS_TRIED = 100


@dataclass(frozen=True, slots=True)
class Network:
    """`hostname` as the user wrote it, `address` to bind to, a port that was free a moment ago, and the path
    below which all is (`team.base_path`)."""

    hostname: str
    address: str
    port: int
    cors: list[str]
    base: str = ""

    @property
    def url(self) -> str:
        """Where this machine reaches the server."""
        name = DEFAULT_HOSTNAME if is_wildcard(self.hostname) else self.hostname
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}{self.base}"

    @property
    def node_address(self) -> str:
        """Where other machines reach it, without the path."""
        if given := variables.NODE_ADDRESS.read():
            return given.rstrip("/")
        name = socket.gethostname() if is_wildcard(self.hostname) else self.hostname
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"


def choose(arguments: argparse.Namespace, config: ServerConfig, environ: Mapping[str, str]) -> Network:
    """Raise Stop when the port is taken, or others could reach the server and there is no password, and
    ImproperlyConfigured."""
    hostname: str = arguments.hostname or config.hostname or DEFAULT_HOSTNAME
    if not is_loopback(hostname) and not variables.PASSWORD.read(environ):
        raise Stop(
            f"{hostname} can be reached from other machines: set OPENCODE_SERVER_PASSWORD first, "
            f"or leave --hostname out to listen on this machine only",
            2,
        )
    wanted = config.port if arguments.port is None else arguments.port
    try:
        address = resolve(hostname)
        port = find_port(address, DEFAULT_PORT, PORTS_TRIED) if wanted is None else find_port(address, wanted)
    except PortTaken as error:
        raise Stop(str(error)) from error
    return Network(hostname, address, port, [*config.cors, *arguments.cors], team.base_path(environ))


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal; where a server has the data folder already, print a link to the project there.
    Raise Stop when neither can be done."""
    if arguments.directory is not None or _begins(arguments):
        os.environ[variables.DIRECTORY.name] = str(project_directory(arguments.directory or "."))
    if arguments.no_worker:
        os.environ[variables.NO_WORKER.name] = "1"
    check_redis(os.environ, paths.secret(), needed_by="" if team.is_front(os.environ) else _apart())
    logs.set_up(print_logs=arguments.print_logs, level=arguments.log_level)
    opened = variables.DIRECTORY.read()
    tell_problems(Path(opened) if opened else None)
    network = choose(arguments, load(None).config.server, os.environ)
    name = f"the server at {network.url} (process {os.getpid()})"
    try:
        hold(paths.data_directory(), name, os.environ, network.url)
    except Held as error:
        return _open_there(error, arguments)
    policy = _policy(network)
    with permanent():
        prepare_django()
        from opencode_web.site.loading import Loading

        served.begin(served.Served(network.hostname, network.url, policy, listen))
        people = _people()
        application = Loading(lambda: _application(policy), policy.base)
        guard = door(application, policy, people)

    # A client, or a browser, takes its time as well; a front asks what the rows say of its machines.
    at_once = not (_begins(arguments) or team.schema(os.environ))

    async def on_ready() -> None:
        if at_once:
            _announce(network, guard, "/", with_browser=not arguments.no_open)
        with permanent():
            await application.load()
            if await application.settle():
                await _sockets()
            await asyncio.to_thread(import_module, "opencode_web.site.background")
        await begin()
        await _begin_beside(network, people)
        application.begun()
        with permanent():
            await _sockets()
        if not at_once:
            target = await _target(arguments, network.url, policy.password)
            _announce(network, guard, target, with_browser=not arguments.no_open)

    try:
        serve(guard, network.address, network.port, on_ready=on_ready, on_shutdown=end)
    except PortTaken as error:
        raise Stop(str(error)) from error
    finally:
        place(network.port).unlink(missing_ok=True)


async def _sockets() -> None:
    """Have them ready: a page opens one at once; who asks for no page waits for none."""
    await asyncio.to_thread(import_module, "opencode_web.site.sockets")


async def begin() -> None:
    """Begin to work, once the server listens."""
    from opencode_web.site import background

    await background.start()


async def end() -> None:
    """End the work, however far it has begun."""
    from opencode_web.site import background

    await background.stop()


async def _begin_beside(network: Network, people: People | None) -> None:
    from opencode_web.site import background, logins
    from opencode_web.site.preview.previews import previews

    background.at_end(previews.close)
    if people:
        background.beside(logins.watch(people))
    if team.schema(os.environ):
        from opencode_web.nodes import taking_part  # with models that are there in a team alone

        background.at_end(await taking_part.start(network.node_address))


def door(application: Application, policy: Policy, people: People | None) -> Guard:
    """What is in front of the application; Django is set up."""
    from opencode_web.site import logins
    from sessions.core.platform.peers import commands
    from sessions.terminals.tickets import tickets

    if team.is_front(os.environ):
        from opencode_web.nodes import front

        return front.build(application, policy, people)
    logins.read()
    return Guard(
        application,
        policy,
        redeem=tickets.redeem,
        logins=logins.logins,
        own=commands().own,
        people=people,
    )


async def _application(policy: Policy) -> Application:
    """What is behind the door, loaded in a thread, so that the loop goes on."""
    application = await asyncio.to_thread(_pages, policy)
    from sessions.changes import unfinished

    await unfinished.finish()
    return application


def _pages(policy: Policy) -> Application:
    from opencode_web import asgi
    from sessions.transfer.writing.redact import conceal

    conceal(policy.password)  # exports and shared pages never show it
    return asgi.whole()


def run_front(arguments: argparse.Namespace) -> None:
    """The same for a front, which has no folders and runs no turns. Raise Stop."""
    os.environ[variables.FRONT.name] = os.environ[variables.NO_WORKER.name] = "1"
    run(arguments)


def _open_there(held: Held, arguments: argparse.Namespace) -> None:
    """The server that is there takes the project in. Raise Stop where what was asked for needs one of its
    own."""
    if not held.url or arguments.no_open or arguments.port is not None or arguments.hostname is not None:
        raise Stop(str(held)) from held
    directory = variables.DIRECTORY.read()
    password = variables.PASSWORD.read() or paths.secret()
    target = asyncio.run(_target(arguments, held.url, password))
    if directory and target == "/":
        target = project_page(held.url, directory)
    link = link_to(held.url, target)
    say(f"opencode-web runs already at {held.url}; {directory or 'it'} opens there.")
    say(f"Open {link}")
    if has_desktop():
        webbrowser.open(link)


def _begins(arguments: argparse.Namespace) -> bool:
    """Whether it says what the page begins with. `serve` cannot."""
    names = ("last", "session", "fork", "model", "agent", "prompt")
    return any(getattr(arguments, name, None) for name in names)


async def _target(arguments: argparse.Namespace, url: str, password: str) -> str:
    """The path of the page to open. Raise Stop for what it is to begin with and is not there."""
    if not _begins(arguments):
        return "/"
    from opencode_web.cli.landing import landing

    return await landing(arguments, url, password)


def _apart() -> str:
    """What keeps the turns out of this process, if anything does."""
    return "a server without a worker (--no-worker)" if variables.NO_WORKER.read() else ""


def _people() -> People | None:
    """Whom the guard asks who somebody is, where the server has people; Django is set up."""
    if not team.has_people(os.environ):
        return None
    from opencode_web.people.known import Known

    return Known()


def _policy(network: Network) -> Policy:
    try:
        policy = policy_for(network.hostname, network.port, paths.secret(), os.environ, network.cors)
    except ValueError as error:
        raise Stop(str(error), 2) from error
    # What the agent starts inherits the environment and has no need of the password.
    os.environ.pop(variables.PASSWORD.name, None)
    return policy


def _announce(network: Network, guard: Guard, target: str, *, with_browser: bool) -> None:
    tokens = guard.launch_tokens
    link = launch_url(network.url, tokens.issue(), target)
    say(f"opencode-web server listening on {network.url}")
    say(f"Open {link}")
    if with_browser and has_desktop():
        token = tokens.issue()
        open_link(launch_url(network.url, token, target), network.port, lambda: tokens.waits(token))


def has_desktop() -> bool:
    """Without one, `webbrowser` would start a browser in the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
