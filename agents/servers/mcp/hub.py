"""Which connections to MCP servers there are, and who shares them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, NoReturn

from django.conf import settings

from agents.config.configuration import load
from agents.config.schema import Config, McpConfig
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.server import CONNECTING, DISABLED, REQUEST_SECONDS, Server, State, parse
from agents.toolkit.children.loop import at_exit, background
from sessions.core import bus
from sessions.core.repository import Repository
from sessions.core.sentences import sentence_of

# Connections to MCP servers; the SDK is loaded with the first of them, which takes half a second.


def connection_to(server: Server, root: Path) -> Connection:
    """One that is not begun, for the worktree of a project."""
    return Connection(server, root, _hold)


async def _hold(connection: Connection) -> NoReturn:
    await (await asyncio.to_thread(_loaded))(connection)


def _loaded() -> Callable[[Connection], Awaitable[NoReturn]]:
    from agents.servers.mcp.link.hold import hold

    return hold


logger = logging.getLogger(__name__)

TOOLS_CHANGED = "mcp.tools.changed"
"""OpenCode's event."""
CHANGED = "mcp.changed"
"""Ours, for pages: something about a server is new."""


class Key(NamedTuple):
    """A connection belongs to all sessions of a project that ask for the same one."""

    root: Path
    name: str
    fingerprint: str


class Hub:
    """Methods may be called from any thread. Those that are no coroutines read files: not on an event loop,
    except `warm`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._reading = threading.RLock()
        """Taken before `_lock`: what was read last is applied last."""
        self._connections: dict[Key, Connection] = {}
        self._wanted: dict[Path, dict[str, Key]] = {}
        """What each folder that was asked about has."""
        self._seen: dict[Path, Servers] = {}
        """The same, with those that do not run."""
        self._added: dict[Path, dict[str, McpConfig]] = {}
        """What clients have added or switched in this run of the program."""
        self._warming = ThreadPoolExecutor(1, "mcp")
        self._closed = False

    def configured(self, directory: Path) -> dict[str, McpConfig]:
        """By name, what clients have added or switched with it."""
        return self._configured(directory, load(directory).config)

    def _configured(self, directory: Path, config: Config) -> dict[str, McpConfig]:
        return {**config.mcp, **self._added.get(directory, {})}

    def connections(self, directory: Path) -> dict[str, Connection]:
        """Of the servers that are enabled, by name. What is configured and not there yet is started and what
        is not configured any longer is ended, both in the background. A folder that is gone keeps what it
        had: a turn may still run in it."""
        try:
            root = Repository.of(directory).worktree
        except OSError:
            with self._lock:
                return {name: self._connections[key] for name, key in self._wanted.get(directory, {}).items()}
        with self._reading:
            return self._apply(directory, root, self._servers(directory))

    def _apply(self, directory: Path, root: Path, servers: Servers) -> dict[str, Connection]:
        wanted = {
            server.name: (Key(root, server.name, server.fingerprint), server)
            for server in servers.values()
            if isinstance(server, Server) and server.enabled
        }
        with self._lock:
            if self._closed:
                return {}
            new = differing(self._seen.get(directory, servers), servers)
            before = self._wanted.get(directory, {})
            had_tools = {name for name, key in before.items() if self._connections[key].tools}
            self._seen[directory] = servers
            self._wanted[directory] = {name: key for name, (key, _) in wanted.items()}
            for key, server in wanted.values():
                if key not in self._connections:
                    self._begin(key, server)
            self._drop_unwanted()
            found = {name: self._connections[key] for name, (key, _) in wanted.items()}
        for name in new:
            _publish(directory, name, tools=name in had_tools)
        return found

    def statuses(self, directory: Path) -> dict[str, State]:
        """Of all that are configured, by name."""
        connections = self.connections(directory)
        return {
            name: _state(server, connections.get(name)) for name, server in self._servers(directory).items()
        }

    def add(self, directory: Path, name: str, config: McpConfig) -> None:
        """Add a server, or put it in the place of another, until the configuration is changed."""
        with self._lock:
            self._added.setdefault(directory, {})[name] = config
        self.connections(directory)

    def switch(self, directory: Path, name: str, on: bool) -> None:
        """Enable or disable a server, until the configuration is changed. Raises KeyError."""
        self.add(directory, name, {**self.configured(directory)[name], "enabled": on})

    def forget(self, directory: Path | None, name: str | None = None) -> None:
        """What clients have added does not count any longer: one server, all of a folder, or all (None)."""
        with self._lock:
            if directory is None:
                self._added.clear()
            elif name is None:
                self._added.pop(directory, None)
            else:
                self._added.get(directory, {}).pop(name, None)
            folders = list(self._wanted) if directory is None else [directory]
        for folder in folders:
            self.warm(folder)

    def restart(self, directory: Path, name: str) -> None:
        """Begin a connection anew. Raises KeyError where there is none."""
        background.begin(self.connections(directory)[name].restart())

    async def again(self, server: Server) -> None:
        """Begin the connections to a server anew in all projects: somebody has signed in or out."""
        with self._lock:
            found = [self._connections[key] for key in self._keys(server)]
        await asyncio.gather(*(connection.restart() for connection in found))

    async def dispose(self, directory: Path | None) -> None:
        """Begin all anew that belongs to a folder, or to any (None), with what is configured alone."""
        with self._lock:
            folders = [directory] if directory is not None else list(self._wanted)
            keys = {key for folder in folders for key in self._wanted.get(folder, {}).values()}
            found = [self._connections[key] for key in keys if key in self._connections]
        self.forget(directory)
        await asyncio.gather(*(connection.restart() for connection in found))

    def tell(self, server: Server) -> None:
        """Something about a server is new that its connections do not know."""
        for key in self._keys(server):
            self._tell(key, frozenset())

    def warm(self, directory: Path) -> None:
        """Have the servers of a folder started; returns at once and never raises. A process that runs no
        turns starts them only when somebody asks how they stand."""
        if settings.RUNS_TURNS:
            self._warming.submit(self._warm, directory)

    async def ready(self, directory: Path, within: float) -> None:
        """Until no server of a folder is on its first way up any longer, at most so many seconds."""
        connections = (await asyncio.to_thread(self.connections, directory)).values()
        if starting := [connection for connection in connections if connection.state is CONNECTING]:
            await background.ask(_settled(starting, within))

    async def close(self) -> None:
        """End all servers, for good."""
        with self._lock:
            self._closed = True
            connections = list(self._connections.values())
            self._connections.clear()
            self._wanted.clear()
            self._seen.clear()
        await asyncio.gather(*(connection.close() for connection in connections))

    def _servers(self, directory: Path) -> Servers:
        config = load(directory).config
        return parsed(self._configured(directory, config), config.experimental.get("mcp_timeout"))

    def _keys(self, server: Server) -> list[Key]:
        """Of all connections to it, whatever else is configured."""
        with self._lock:
            known = self._connections.items()
            return [key for key, one in known if (key.name, one.server.url) == (server.name, server.url)]

    def _begin(self, key: Key, server: Server) -> None:
        connection = self._connections[key] = connection_to(server, key.root)
        connection.changed.append(lambda _, new: self._tell(key, new))
        at_exit(self.close)
        background.post(connection.start)

    def _drop_unwanted(self) -> None:
        wanted = {key for keys in self._wanted.values() for key in keys.values()}
        for key in self._connections.keys() - wanted:
            background.begin(self._connections.pop(key).close())

    def _tell(self, key: Key, new: frozenset[str]) -> None:
        with self._lock:
            folders = [folder for folder, keys in self._wanted.items() if key in keys.values()]
        for folder in folders:
            _publish(folder, key.name, tools="tools" in new)

    def _warm(self, directory: Path) -> None:
        try:
            self.connections(directory)
        except Exception:
            logger.exception("the MCP servers of %s were not started", directory)


async def _settled(connections: Iterable[Connection], within: float) -> None:
    waiting = [asyncio.ensure_future(connection.settled()) for connection in connections]
    _, late = await asyncio.wait(waiting, timeout=within)
    for task in late:
        task.cancel()


def _publish(directory: Path, name: str, *, tools: bool) -> None:
    for event in (CHANGED, TOOLS_CHANGED) if tools else (CHANGED,):
        bus.publish(bus.Event(event, {"server": name}, directory=str(directory)))


def _state(server: Server | ValueError, connection: Connection | None) -> State:
    if isinstance(server, ValueError):
        return State("failed", sentence_of(server))
    return connection.state if connection is not None else DISABLED


hub = Hub()
"""Of this process."""


# The servers of a configuration as they are to be run.

Servers = dict[str, Server | ValueError]
"""By name; an error for an entry that makes no server."""


def parsed(configs: Mapping[str, McpConfig], timeout: object) -> Servers:
    """`timeout` is what is configured for those that have none of their own, in milliseconds."""
    seconds = timeout / 1000 if isinstance(timeout, int) and timeout > 0 else REQUEST_SECONDS
    return {name: _parsed(name, config, seconds) for name, config in configs.items()}


def differing(one: Servers, other: Servers) -> set[str]:
    """The names of those that are in one alone, or otherwise in both."""
    return {name for name in one.keys() | other.keys() if _comparable(one, name) != _comparable(other, name)}


def _parsed(name: str, config: McpConfig, timeout: float) -> Server | ValueError:
    """One that is disabled may have nothing else: it switches off what another file may have."""
    try:
        return parse(name, config, timeout)
    except ValueError as error:
        return error if config.get("enabled") is not False else Server(name, "local", enabled=False)


def _comparable(servers: Servers, name: str) -> Server | str | None:
    found = servers.get(name)
    return str(found) if isinstance(found, ValueError) else found
