"""One process for the pages, two for the turns, joined by a real Redis: `serve --no-worker` and `worker`."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from opencode_web.cli import main
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Script, ToolUse, Turn, Wait
from tests.redis_server import RedisServer
from tests.runtime.conftest import home, project
from tests.server import PATIENCE, ROOT, Server, model_config, parts_of, until

__all__ = ["home", "project"]

LEASE_SECONDS = "2"
EDIT = ToolUse("edit", {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"})


@dataclass
class Cluster:
    server: Server
    client: Client
    model: OpenAIServer
    workers: dict[int, subprocess.Popen[str]]

    def holder(self, session_id: str) -> subprocess.Popen[str]:
        """The worker that holds the session's lease."""
        with closing(sqlite3.connect(self.server.data / "db.sqlite3")) as database:
            query = "select lease_owner from opencode_sessions_session where id = ?"
            (owner,) = database.execute(query, [session_id]).fetchone()
        return self.workers[int(owner.split(":")[-2])]


@asynccontextmanager
async def cluster(
    redis: RedisServer, home: Path, project: Path, script: Script, **config: Any
) -> AsyncIterator[Cluster]:
    """All of it, stopped in order at the end; workers still there must end with status 0."""
    async with OpenAIServer(script) as model:
        environ = {"REDIS_URL": redis.url, "OPENCODE_WEB_LEASE_SECONDS": LEASE_SECONDS}
        server = Server(home, project, model_config(model.base_url, **config), environ)
        await asyncio.to_thread(server.start, "--no-worker")
        workers = [_start_worker(server) for _ in range(2)]
        try:
            for worker in workers:
                assert worker.stdout is not None
                assert "waiting for prompts" in await asyncio.to_thread(worker.stdout.readline)
            async with server.client() as client:
                yield Cluster(server, client, model, {worker.pid: worker for worker in workers})
        finally:
            endings = await asyncio.gather(*(asyncio.to_thread(_end, worker) for worker in workers))
            await asyncio.to_thread(server.stop)
        assert set(endings) <= {0, -signal.SIGKILL}


def _start_worker(server: Server) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "opencode_web", "worker", "--print-logs"],
        cwd=ROOT,
        env=server.environment(),
        stdout=subprocess.PIPE,
        stderr=(server.home / "stderr.log").open("a"),
        text=True,
    )


def _end(worker: subprocess.Popen[str]) -> int:
    worker.send_signal(signal.SIGTERM)
    return worker.wait(PATIENCE)


async def test_a_turn_of_a_worker_is_seen_answered_and_stopped_through_the_server(
    redis: RedisServer, home: Path, project: Path
) -> None:
    script = [
        Turn(text=["I ask ", Wait("go"), "first."], tools=[EDIT]),
        Turn(text="Edited."),
        Turn(text=["partial", Wait("never")]),
    ]
    rules = {"edit": "ask"}
    async with (
        cluster(redis, home, project, script, permission=rules) as all_,
        all_.client.events() as events,
    ):
        session = await all_.client.create_session()
        await all_.client.prompt_async(session["id"], "Edit it.")
        await until(events, "message.part.delta", delta="I ask ")
        assert all_.holder(session["id"]).poll() is None
        all_.model.gate("go").open()
        asked = await until(events, "permission.asked")
        await all_.client.reply(asked.properties["id"], "once")
        await until(events, "session.idle")
        assert "goodbye" in (project / "hello.py").read_text()
        await all_.client.prompt_async(session["id"], "Talk.")
        await until(events, "message.part.delta", delta="partial")
        await all_.client.abort(session["id"])
        await until(events, "session.idle")
        history = await all_.client.messages(session["id"])
        assert parts_of(history, "text")[-1]["text"] == "partial"
        assert history[-1]["info"]["error"]["name"] == "MessageAbortedError"
        assert len(all_.model.requests) == 3


async def test_the_turn_of_a_killed_worker_is_settled_by_another_and_goes_on_there(
    redis: RedisServer, home: Path, project: Path
) -> None:
    script = [Turn(text=["cut", Wait("never")]), Turn(text=" off"), Turn(text="after")]
    async with cluster(redis, home, project, script) as all_, all_.client.events() as events:
        session = await all_.client.create_session()
        await all_.client.prompt_async(session["id"], "Talk.")
        await until(events, "message.part.delta", delta="cut")
        all_.holder(session["id"]).kill()
        await until(events, "session.idle")
        history = await all_.client.messages(session["id"])
        assert "server ended" in history[-1]["info"]["error"]["data"]["message"]
        await all_.client.post(f"/session/{session['id']}/resume")
        await until(events, "session.idle")
        history = await all_.client.messages(session["id"])
        assert [message["info"]["role"] for message in history] == ["user", "assistant", "assistant"]
        assert parts_of(history, "text")[-1]["text"] == " off"
        answer = await all_.client.prompt(session["id"], "And now?")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["after"]


async def test_a_worker_that_is_ended_saves_its_turn_and_another_goes_on(
    redis: RedisServer, home: Path, project: Path
) -> None:
    script = [Turn(text=["partial", Wait("never")]), Turn(text="after")]
    async with cluster(redis, home, project, script) as all_, all_.client.events() as events:
        session = await all_.client.create_session()
        await all_.client.prompt_async(session["id"], "Talk.")
        await until(events, "message.part.delta", delta="partial")
        assert await asyncio.to_thread(_end, all_.holder(session["id"])) == 0
        answer = await all_.client.prompt(session["id"], "And now?")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["after"]
        texts = parts_of(await all_.client.messages(session["id"]), "text")
        assert [part["text"] for part in texts] == ["Talk.", "partial", "And now?", "after"]


@pytest.mark.parametrize("argv", [["worker"], ["serve", "--no-worker"]])
def test_without_redis_processes_cannot_be_joined(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert "REDIS_URL" in capsys.readouterr().err


@pytest.mark.parametrize(("url", "status"), [("redis://127.0.0.1:1", 1), ("nonsense", 2)])
def test_a_redis_that_is_not_there_is_named(
    url: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    assert main(["worker"]) == status
    assert "REDIS_URL" in capsys.readouterr().err
