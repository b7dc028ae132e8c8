"""The real server as a subprocess on a home of its own, driven over HTTP; it can be killed and restarted."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

from bench.client import Client, Event
from sessions.core import holding
from sessions.core.wire import ours
from tests import on_postgres
from tests.forkserver import Forked, ForkServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Script

ROOT = Path(__file__).parent.parent
PASSWORD = "a password for tests"
Process = subprocess.Popen[str] | Forked
LISTENING = "opencode-web server listening on "
PATIENCE = 30.0
NOWHERE = "http://127.0.0.1:9"
"""The port of the discard protocol, where no HTTP server is."""

NODE = "OPENCODE_WEB_NODE"
APPLICATIONS = {
    "OPENCODE_WEB_TEAM": {"OPENCODE_WEB_TEAM": "1"},
    "OPENCODE_WEB_OIDC_ISSUER": {
        "OPENCODE_WEB_OIDC_ISSUER": NOWHERE,
        "OPENCODE_WEB_OIDC_CLIENT_ID": "nobody",
    },
    NODE: {NODE: "nowhere", "OPENCODE_WEB_DATABASE": "postgres://nobody@127.0.0.1:9/none"},
}
"""Variables that have more of Django's applications installed, with an environment that does."""


@dataclass
class Server:
    """`project` is the opened folder, `home` everything else; `config` becomes OPENCODE_CONFIG_CONTENT."""

    home: Path
    project: Path
    config: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    launch_url: str = ""
    process: Process | None = None
    anew: bool = False
    """Whether it starts as a person's does, not forked off a process that has imported it."""
    module: str = "opencode_web"
    """What `python -m` is given."""
    prefix: Sequence[str] = ()
    """A program that runs the rest of its arguments, and what it is given."""

    @property
    def data(self) -> Path:
        return self.home / ".local" / "share" / "opencode-web"

    def start(self, *arguments: str, verb: str = "serve") -> None:
        """Return when it answers. Raises RuntimeError with what it said when it ends before that."""
        if not self.data.exists():
            self.data.mkdir(mode=0o700, parents=True)
            if "OPENCODE_WEB_DATABASE" not in self.environment():
                shutil.copy(_migrated(_applications(self.environment())), self.data)
        folder = [str(self.project)] if verb != "front" else []
        self.process = self.run(verb, *folder, "--port", "0", "--print-logs", *arguments)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(LISTENING):
                self.url = line.removeprefix(LISTENING).strip()
            elif line.startswith("Open "):
                self.launch_url = line.removeprefix("Open ").strip()
                return
        raise RuntimeError(f"the server ended: {self.log()}")

    def run(self, *arguments: str) -> Process:
        """A command of the program's, whose errors go to the log."""
        reading, writing = os.pipe()
        with (
            Path(os.devnull).open() as nothing,
            os.fdopen(writing, "w") as out,
            (self.home / "stderr.log").open("a") as errors,
        ):
            process = self._process(arguments, ROOT, self.environment(), (nothing, out, errors))
        process.stdout = os.fdopen(reading)
        return process

    def command(
        self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """One in the project's folder, to its end."""
        with ExitStack() as stack:
            given, out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3))
            given.write(stdin)
            given.seek(0)
            environ = {**self._apart(), **self.environment(), "PYTHONPATH": str(ROOT), **(environ or {})}
            process = self._process(arguments, self.project, environ, (given, out, err))
            status = process.wait(PATIENCE)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, status, out.read(), err.read())

    def _apart(self) -> dict[str, str]:
        """Where none of this home runs, a command is not to look at the usual port: somebody may have one
        there."""
        there = self.data.exists() and holding.server(self.data)
        return {} if there else {"OPENCODE_BASE_URL": NOWHERE}

    def _process(
        self, arguments: Sequence[str], cwd: Path, environ: Mapping[str, str], files: Sequence[IO[str]]
    ) -> Process:
        if self._can_be_forked():
            forks = _fork_server(_applications(environ, *arguments))
            return forks.start(self.module, arguments, environ, cwd, files)
        command = [*self.prefix, sys.executable, "-m", self.module, *arguments]
        stdin, stdout, stderr = files
        return subprocess.Popen(
            command, cwd=cwd, env=environ, stdin=stdin, stdout=stdout, stderr=stderr, text=True
        )

    def _can_be_forked(self) -> bool:
        if self.anew or self.prefix or not hasattr(os, "pidfd_open"):
            return False
        return not any(name.startswith(("PYTHON", "LD_")) for name in self.environ)

    def log(self) -> str:
        return (self.home / "stderr.log").read_text()

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def client(self) -> Client:
        """It asks for what is ours."""
        client = Client(self.url, PASSWORD)
        client.http.headers[ours.HEADER] = "1"
        return client

    def environment(self) -> dict[str, str]:
        """What its processes are started with: nothing of the tester's but where programs are."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "OPENCODE_SERVER_PASSWORD": PASSWORD,
            "OPENCODE_CONFIG_CONTENT": json.dumps(self.config),
            "OPENCODE_WEB_NO_DISCOVERY": "1",
            **on_postgres.environment(self.home),
            **self.environ,
        }


def _applications(environ: Mapping[str, str], *arguments: str) -> frozenset[str]:
    """What else of Django's applications a process has, as `APPLICATIONS` names them."""
    front = arguments[:1] == ("front",) or "OPENCODE_WEB_FRONT" in environ
    return frozenset(name for name in APPLICATIONS if name in environ or (front and name == NODE))


@cache
def _home(applications: frozenset[str]) -> Server:
    """One that is never started: of processes with these applications."""
    home = Path(tempfile.mkdtemp(dir=Path.home(), prefix="migrated-"))
    return Server(home, home, environ={k: v for name in applications for k, v in APPLICATIONS[name].items()})


@cache
def _migrated(applications: frozenset[str]) -> Path:
    """A database as a first start makes it: servers begin with a copy, which halves their starts."""
    server = _home(applications)
    command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"]
    subprocess.run(command, env=server.environment(), check=True)
    return server.data / "db.sqlite3"


@cache
def _fork_server(applications: frozenset[str]) -> ForkServer:
    if NODE not in applications:
        _migrated(applications)
    return ForkServer(_home(applications).environment())


def model_config(base_url: str, npm: str = "@ai-sdk/openai-compatible", **more: Any) -> dict[str, Any]:
    """A configuration with one loopback model, and everything allowed unless `permission` is given."""
    limit = {"context": 200_000, "output": 8192}
    model = {"name": "Fake", "tool_call": True, "attachment": True, "limit": limit}
    options = {"baseURL": base_url, "apiKey": "x"}
    provider = {"npm": npm, "name": "Fake", "options": options, "models": {"fake": model}}
    return {"model": "fake/fake", "provider": {"fake": provider}, "permission": {"*": "allow"}, **more}


def parts_of(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """All parts of one type in a history."""
    return [part for message in messages for part in message["parts"] if part["type"] == kind]


async def until(events: AsyncIterator[Event], type: str, **properties: Any) -> Event:
    """The next event of a type whose properties have these values; fails loudly after a while."""
    async with asyncio.timeout(PATIENCE):
        async for event in events:
            if event.type == type and properties.items() <= event.properties.items():
                return event
    raise AssertionError(f"the stream ended before {type}")


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[Client]:
    """The server, started, with a client; stopped at the end."""
    await asyncio.to_thread(server.start)
    try:
        async with server.client() as client:
            yield client
    finally:
        await asyncio.to_thread(server.stop)


@asynccontextmanager
async def serving(
    home: Path, project: Path, script: Script, **config: Any
) -> AsyncIterator[tuple[Client, OpenAIServer]]:
    """A client of the real server, and the loopback model behind it."""
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url, **config))) as client,
    ):
        yield client, model
