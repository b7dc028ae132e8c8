"""Where one server is measured: a repository, an isolated home, a model, and the server started on them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import proc, project
from bench.client import Client
from bench.listening import listening
from bench.targets import OPENAI_COMPATIBLE, ROOT, Target, isolated

ANSWER_SECONDS = 30
LARGE = 50_000


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers. `ready_ms` is from the start of its process to its first 200."""

    client: Client
    pid: int
    began: float
    ready_ms: float
    environ: Mapping[str, str]

    def memory(self) -> float:
        return proc.memory(self.pid)

    def cpu(self) -> float:
        return proc.cpu(self.pid)


class Lab:
    """One target's place under `scratch`. Every `server()` finds the repository as new, and a
    home that is already set up."""

    def __init__(self, target: Target, scratch: Path, *, quick: bool = False, large: bool = False) -> None:
        self.target = target
        self.quick = quick
        self.large = large
        self.folder = scratch / target.name.lower()
        self.project = self.folder / "project"
        self.home = self.folder / "home"
        self._first_home = self.folder / "first-home"

    def count(self, full: int) -> int:
        """How often to do something that is done `full` times in a full run."""
        return max(3, full // 10) if self.quick else full

    def large_project(self) -> Path:
        """A repository of 50,000 files, built when it is first asked for."""
        folder = self.folder / "large"
        if not folder.exists():
            project.large(folder, self.count(LARGE))
        return folder

    async def prepare(self, files: int) -> None:
        """Build the repository and start once, so that no figure has the creation of the database in it."""
        project.build(self.project, files)
        self._first_home.mkdir(parents=True)
        async with self.server():
            pass
        temporary = shutil.ignore_patterns("tmp")
        shutil.copytree(self.home, self._first_home, dirs_exist_ok=True, ignore=temporary)

    @asynccontextmanager
    async def server(
        self,
        *,
        npm: str = OPENAI_COMPATIBLE,
        path: str = "/global/health",
        folder: Path | None = None,
        config: Mapping[str, object] | None = None,
        empty_home: bool = False,
    ) -> AsyncIterator[Server]:
        """The server once `path` has answered 200, working in `folder` on a model of package `npm`; `config`
        lies over the bench's configuration; an `empty_home` is that of somebody who has just installed it."""
        worked_in = folder or self.project
        shutil.rmtree(self.home, ignore_errors=True)
        if not empty_home:
            shutil.copytree(self._first_home, self.home)
        project.reset(worked_in)
        model = [sys.executable, "-m", "bench.model"]
        async with listening(model, ROOT, os.environ, self.folder / "model.log") as answers:
            environ = self._environ({**configuration(answers.url, npm), **(config or {})})
            command = self.target.argv(worked_in, _free_port())
            async with (
                listening(command, worked_in, environ, self.folder / "server.log") as started,
                Client(started.url, environ["OPENCODE_SERVER_PASSWORD"]) as client,
            ):
                as_browser = {"Accept": "text/html,*/*;q=0.8"}
                await client.http.get(path, headers=as_browser, follow_redirects=True, timeout=ANSWER_SECONDS)
                ready_ms = (time.perf_counter() - started.began) * 1000
                yield Server(client, started.pid, started.began, ready_ms, environ)

    def _environ(self, configuration: Mapping[str, object]) -> dict[str, str]:
        return {
            **isolated(self.home),
            "OPENCODE_SERVER_PASSWORD": secrets.token_urlsafe(32),
            "OPENCODE_CONFIG_CONTENT": json.dumps(configuration),
            **self.target.environ,
        }


def configuration(base_url: str, npm: str = OPENAI_COMPATIBLE) -> dict[str, object]:
    """Of a server that is measured with the bench's model."""
    model = {"name": "Bench", "tool_call": True, "limit": {"context": 10_000_000, "output": 8192}}
    options = {"baseURL": base_url, "apiKey": "none"}
    provider = {"npm": npm, "name": "Bench", "options": options, "models": {"bench": model}}
    return {
        "model": "bench/bench",
        "small_model": "bench/bench",
        "provider": {"bench": provider},
        "permission": {"*": "allow", "limit": "allow"},
        "autoupdate": False,
        "share": "disabled",
        "lsp": False,
        "formatter": False,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
