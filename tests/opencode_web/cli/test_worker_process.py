"""One process for the pages, two for the turns, joined by a real Redis: `serve --no-worker` and `worker`."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from opencode_web.cli import main
from opencode_web.cli.setup import check_redis
from opencode_web.cli.terminal import Stop
from sessions.core import variables
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, Script, ToolUse, Turn, Wait
from tests.redis_server import RedisServer
from tests.runtime.conftest import home, project
from tests.server import PATIENCE, Process, Server, model_config, parts_of, until

__all__ = ["home", "project"]

BRIEF = "2"
"""Seconds of a lease where one is to be lost; on a busy machine it is so sooner or later anyway."""
EDIT = ToolUse("edit", {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"})


@dataclass
class Cluster:
    server: Server
    client: Client
    model: OpenAIServer
    workers: dict[int, Process]

    def holder(self, session_id: str) -> Process:
        """The worker that holds the session's lease."""
        with closing(sqlite3.connect(self.server.data / "db.sqlite3")) as database:
            query = "select lease_owner from opencode_sessions_session where id = ?"
            (owner,) = database.execute(query, [session_id]).fetchone()
        return self.workers[int((self.server.data / "workers" / owner).read_text())]


@asynccontextmanager
async def cluster(
    redis: RedisServer, home: Path, project: Path, script: Script, *, lease: str = "30", **config: Any
) -> AsyncIterator[Cluster]:
    """All of it, stopped in order at the end; workers still there must end with status 0. `lease` is in
    seconds."""
    async with OpenAIServer(script) as model:
        environ = {"REDIS_URL": redis.url, "OPENCODE_WEB_LEASE_SECONDS": lease}
        server = Server(home, project, model_config(model.base_url, **config), environ)
        await asyncio.to_thread(server.start, "--no-worker")
        workers = await asyncio.gather(start_worker(server), start_worker(server))
        try:
            async with server.client() as client:
                yield Cluster(server, client, model, {worker.pid: worker for worker in workers})
        finally:
            endings = await asyncio.gather(*(asyncio.to_thread(end_worker, worker) for worker in workers))
            await asyncio.to_thread(server.stop)
        assert set(endings) <= {0, -signal.SIGKILL}


async def start_worker(server: Server) -> Process:
    """One that waits for prompts."""
    return await asyncio.to_thread(_start_worker, server)


def _start_worker(server: Server) -> Process:
    worker = server.run("worker", "--print-logs")
    assert worker.stdout is not None
    assert "waiting for prompts" in worker.stdout.readline()
    return worker


def end_worker(worker: Process) -> int:
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


async def test_an_answer_that_is_waited_for_is_whole_though_redis_is_started_again(
    redis: RedisServer, home: Path, project: Path
) -> None:
    script = [Turn(text=["one ", Wait("go"), "two"])]
    async with cluster(redis, home, project, script) as all_, all_.client.events() as events:
        session = await all_.client.create_session(title="named")
        waiting = asyncio.create_task(all_.client.prompt(session["id"], "Count."))
        await until(events, "message.part.delta", delta="one ")
        await asyncio.to_thread(redis.stop)
        await asyncio.to_thread(redis.start)
        async for event in events:
            if event.type == "server.resync":
                break
        assert not waiting.done()
        all_.model.gate("go").open()
        answer = await asyncio.wait_for(waiting, PATIENCE)
        assert "error" not in answer["info"]
        assert parts_of([answer], "text")[-1]["text"] == "one two"
        assert answer["info"]["time"]["completed"]


async def test_a_session_that_moved_is_heard_of_in_its_new_folder(
    redis: RedisServer, home: Path, project: Path
) -> None:
    (project / "sub").mkdir()
    script = [Turn(text="Here."), Turn(text="There.")]
    async with cluster(redis, home, project, script) as all_:
        await asyncio.to_thread(end_worker, next(iter(all_.workers.values())))
        session = await all_.client.create_session(title="named")
        await all_.client.prompt(session["id"], "Where?")
        body = {"sessionID": session["id"], "destination": {"directory": str(project / "sub")}}
        await all_.client.post("/experimental/control-plane/move-session", body)
        there = all_.server.client()
        there.http.headers["x-opencode-directory"] = str(project / "sub")
        async with there, there.events() as events:
            await there.prompt_async(session["id"], "And now?")
            await until(events, "message.part.delta", delta="There.")
            await until(events, "session.idle")


async def test_the_next_attempt_is_hastened_at_the_worker_that_waits_for_it(
    redis: RedisServer, home: Path, project: Path
) -> None:
    later = Turn(fault=HttpError(429, "The model is busy", headers={"retry-after": "3600"}))
    script = [later, later, later, later, Turn(text="At last.")]
    async with cluster(redis, home, project, script) as all_, all_.client.events() as events:
        session = await all_.client.create_session()
        await all_.client.prompt_async(session["id"], "Try.")
        for attempt in range(1, 5):
            async for event in events:
                status = event.properties.get("status", {})
                if event.type == "session.status" and status.get("attempt") == attempt:
                    break
            await all_.client.post(f"/p/{session['projectID']}/s/{session['id']}/hasten")
        await until(events, "session.idle")
        texts = parts_of(await all_.client.messages(session["id"]), "text")
        assert texts[-1]["text"] == "At last."


async def test_the_turn_of_a_killed_worker_is_settled_by_another_and_goes_on_there(
    redis: RedisServer, home: Path, project: Path
) -> None:
    script = [Turn(text=["cut", Wait("never")]), Turn(text=" off"), Turn(text="after")]
    async with cluster(redis, home, project, script, lease=BRIEF) as all_, all_.client.events() as events:
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


@pytest.mark.long
async def test_a_worker_that_stood_still_writes_nothing_more(
    redis: RedisServer, home: Path, project: Path
) -> None:
    """Stopped for longer than its lease, taken over, and woken in the middle of a stream."""
    words = [f"word{number} " for number in range(2000)]
    first = iter([Turn(text=["begun ", *words], delay=0.005), Turn(text="after")])
    async with (
        cluster(redis, home, project, lambda _: next(first), lease=BRIEF) as all_,
        all_.client.events() as events,
    ):
        session = await all_.client.create_session(title="named")
        await all_.client.prompt_async(session["id"], "Talk.")
        await until(events, "message.part.delta", delta="begun ")
        paused = all_.holder(session["id"])
        paused.send_signal(signal.SIGSTOP)
        await until(events, "session.idle")
        settled = await all_.client.messages(session["id"])
        assert "server ended" in settled[-1]["info"]["error"]["data"]["message"]
        paused.send_signal(signal.SIGCONT)
        lost = f"the lease of session {session['id']}"
        async with asyncio.timeout(PATIENCE):
            async for event in events:
                assert event.type == "server.heartbeat" or event.properties.get("sessionID") != session["id"]
                if lost in all_.server.log():
                    break
        assert await all_.client.messages(session["id"]) == settled
        answer = await all_.client.prompt(session["id"], "And now?")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["after"]
        assert (await all_.client.messages(session["id"]))[: len(settled)] == settled


async def test_a_worker_that_is_ended_saves_its_turn_and_another_goes_on(
    redis: RedisServer, home: Path, project: Path
) -> None:
    script = [Turn(text=["partial", Wait("never")]), Turn(text="after")]
    async with cluster(redis, home, project, script) as all_, all_.client.events() as events:
        session = await all_.client.create_session()
        await all_.client.prompt_async(session["id"], "Talk.")
        await until(events, "message.part.delta", delta="partial")
        assert await asyncio.to_thread(end_worker, all_.holder(session["id"])) == 0
        answer = await all_.client.prompt(session["id"], "And now?")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["after"]
        texts = parts_of(await all_.client.messages(session["id"]), "text")
        assert [part["text"] for part in texts] == ["Talk.", "partial", "And now?", "after"]


@pytest.mark.parametrize("argv", [["worker"], ["serve", "--no-worker"]])
def test_without_redis_processes_cannot_be_joined(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variables.NO_WORKER.name, "")  # `serve` sets it, which goes with the test
    assert main(argv) == 2
    assert "REDIS_URL" in capsys.readouterr().err


@pytest.mark.parametrize(("url", "status"), [("redis://127.0.0.1:1", 1), ("nonsense", 2)])
def test_a_redis_that_is_not_there_is_named(
    url: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    assert main(["worker"]) == status
    assert "REDIS_URL" in capsys.readouterr().err


def test_two_secrets_on_one_redis_refuse(redis: RedisServer) -> None:
    environ = {"REDIS_URL": redis.url}
    check_redis(environ, "one secret")
    check_redis(environ, "one secret")
    with pytest.raises(Stop, match="another secret"):
        check_redis(environ, "another")
    check_redis({"REDIS_URL": f"{redis.url}/1"}, "another")
