"""Machines of a team under measurement, all on this one: nodes with a project each, and a PostgreSQL and a
model that they share."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import project
from bench.lab import configuration
from bench.listening import NotRunning, listening
from bench.targets import ROOT
from tests.postgres_server import PostgresServer, programs
from tests.server import Server
from tests.team import begun, node
from tests.team import front as front_of

_FILES = 200
_AS_CONFIGURED = {"OPENCODE_WEB_LEASE_SECONDS": ""}
"""Of what tests set the default."""
AS_IN_USE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "400"}
"""Settings of a PostgreSQL that keeps what it was given."""


@dataclass(frozen=True, slots=True)
class Machines:
    """`folder` has their homes and projects."""

    folder: Path
    postgres: PostgresServer
    model_url: str

    def node(self, name: str, environ: Mapping[str, str] | None = None) -> Server:
        """One that is not yet started, on a repository of its own."""
        made = node(self.folder, self.postgres, name, self._project(name), configuration(self.model_url))
        made.environ = {**made.environ, **_AS_CONFIGURED, **(environ or {})}
        return made

    def alone(self, name: str) -> Server:
        """A server that is no node, with its rows in a file."""
        home = self.folder / f"home-{name}"
        home.mkdir(exist_ok=True)
        return Server(home, self._project(name), configuration(self.model_url), anew=True)

    def _project(self, name: str) -> Path:
        folder = self.folder / f"project-{name}"
        if not folder.exists():
            project.build(folder, _FILES)
        return folder

    @asynccontextmanager
    async def nodes(self, count: int) -> AsyncIterator[Sequence[Server]]:
        """So many, at work."""
        made = [self.node(f"n{number}") for number in range(count)]
        async with begun(*made):
            yield made

    @asynccontextmanager
    async def front(self, *, anew: bool = False) -> AsyncIterator[Server]:
        """At work; `anew`: it starts as a person's does (`Server.anew`)."""
        door = front_of(self.folder, self.postgres)
        door.anew = anew
        async with begun(door, verb="front"):
            yield door


@contextmanager
def postgres(settings: Mapping[str, str] | None = None) -> Iterator[PostgresServer]:
    """One that runs. Ends the program where none is installed."""
    there = programs()
    if there is None:
        sys.exit("PostgreSQL is not installed; `make machine` installs it where there is apt")
    server = PostgresServer(there, settings=tuple({**AS_IN_USE, **(settings or {})}.items()))
    server.create()
    try:
        yield server
    finally:
        server.remove()


@asynccontextmanager
async def machines(server: PostgresServer) -> AsyncIterator[Machines]:
    with tempfile.TemporaryDirectory(prefix="opencode-web-bench-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        model = [sys.executable, "-m", "bench.model"]
        async with listening(model, ROOT, os.environ, folder / "model.log") as answers:
            yield Machines(folder, server, answers.url)


def process(server: Server) -> int:
    """The id of its process."""
    assert server.process is not None
    return server.process.pid


@contextmanager
def beating(server: Server, count: int) -> Iterator[int]:
    """So many nodes that only beat, in a process of which this is the id, beside a node that was started."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.beats", str(count)],
        cwd=ROOT,
        env={**server.environment(), "OPENCODE_WEB_NODE": "beats"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as beats:
        assert beats.stdin is not None
        assert beats.stdout is not None
        try:
            if not beats.stdout.readline():
                raise NotRunning("nobody beats")
            yield beats.pid
        finally:
            beats.stdin.close()
