"""A team of machines: nodes with a home and a folder each, and fronts, on one PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.client import Client
from sessions.core.wire import ours
from tests.postgres_server import PostgresServer
from tests.server import PASSWORD, Server

ROWS = "team"
LEASE_SECONDS = "2"


def environment(postgres: PostgresServer) -> dict[str, str]:
    """What makes a server one of the team, but for its name."""
    if not postgres.has(ROWS):
        postgres.make(ROWS)
    return {
        "OPENCODE_WEB_DATABASE": postgres.url(ROWS),
        "OPENCODE_WEB_SECRET": "a secret that all of a team have",
        "OPENCODE_WEB_LEASE_SECONDS": LEASE_SECONDS,
    }


def node(
    folder: Path, postgres: PostgresServer, name: str, project: Path, config: Mapping[str, Any]
) -> Server:
    """With a home in `folder`."""
    home = folder / f"home-{name}"
    home.mkdir(exist_ok=True)
    return Server(home, project, config, {**environment(postgres), "OPENCODE_WEB_NODE": name})


def front(folder: Path, postgres: PostgresServer, name: str = "front") -> Server:
    home = folder / f"home-{name}"
    home.mkdir(exist_ok=True)
    return Server(home, home, {}, environment(postgres))


def through(door: Server, name: str) -> Client:
    """A client of a node that knows the front alone."""
    client = Client(f"{door.url}/n/{name}", PASSWORD)
    client.http.headers[ours.HEADER] = "1"
    return client


@asynccontextmanager
async def begun(*servers: Server, verb: str = "serve") -> AsyncIterator[None]:
    """They run meanwhile; who was ended in between is not started again."""
    for server in servers:
        await asyncio.to_thread(server.start, verb=verb)
    try:
        yield
    finally:
        for server in servers:
            await asyncio.to_thread(server.stop)
