"""Kills at random moments, prompts the moment `session.idle` is heard: nothing stays open, nothing twice."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from tests.conftest import USER_ENVIRON
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.cli.test_worker_process import end_worker, start_worker
from tests.redis_server import RedisServer
from tests.server import Server, model_config

pytestmark = pytest.mark.long

KILLS = int(USER_ENVIRON.get("OPENCODE_WEB_KILLS") or 6)
"""For each of the two tests."""
SESSIONS = 6
PATIENCE = 90.0
OPEN = {
    "busy": "select id from opencode_sessions_session where coalesce(status ->> 'type', 'idle') != 'idle'",
    "leased": "select id from opencode_sessions_session where lease_owner != ''",
    "open": "select id from opencode_sessions_message "
    "where role = 'assistant' and data -> 'time' -> 'completed' is null",
    "calls": "select id from opencode_sessions_part "
    "where type = 'tool' and data -> 'state' ->> 'status' in ('pending', 'running')",
    "waiting": "select id from opencode_sessions_admittedprompt",
}


def answer(body: Any) -> Turn:
    """A command for every third prompt, else some words that take a while."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Turn(text="Done. ")
    if str(last["content"]).strip().endswith("0"):
        return Turn(text="I run it. ", tools=[ToolUse("bash", {"command": "echo said >> said.txt"})])
    return Turn(text=[f"word{number} " for number in range(12)], delay=0.01)


@dataclass
class Chat:
    """Sessions that are talked to as fast as they are idle; `answered` counts what was heard since a kill."""

    sessions: list[str]
    sent: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    async def say(self, client: Client, session_id: str) -> None:
        self.sent[session_id] += 1
        text = f"{session_id} says {self.sent[session_id]} {self.sent[session_id] % 3}"
        await client.prompt_async(session_id, text)

    async def go_on(self, client: Client, until: Callable[[], bool]) -> None:
        """Prompt each session now, and again whenever it is idle, as long as it is not time to stop."""
        async with client.events() as events:
            await asyncio.gather(*(self.say(client, session_id) for session_id in self.sessions))
            async for event in events:
                if event.type == "session.idle" and event.properties["sessionID"] in self.sessions:
                    self.answered[event.properties["sessionID"]] += 1
                    if until():
                        return
                    await self.say(client, event.properties["sessionID"])
                elif until():
                    return

    @property
    def all_answered(self) -> bool:
        return all(self.answered[session_id] for session_id in self.sessions)


def after_events() -> Callable[[], bool]:
    """True from a random number of calls on."""
    left = iter(range(random.randint(1, 250)))
    return lambda: next(left, None) is None


@contextmanager
def database(server: Server) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{server.data / 'db.sqlite3'}?mode=ro", uri=True)) as found:
        yield found


def left_open(server: Server) -> dict[str, list[str]]:
    with database(server) as rows:
        found = {name: [str(row[0]) for row in rows.execute(query)] for name, query in OPEN.items()}
    return {name: ids for name, ids in found.items() if ids}


async def comes_to_rest(server: Server, client: Client) -> dict[str, list[str]]:
    """What is still open when nothing happens any more; empty as soon as nothing is."""
    try:
        async with asyncio.timeout(PATIENCE), client.events() as events:
            while left_open(server):
                await asyncio.wait_for(anext(events), PATIENCE)  # a heartbeat at the latest
    except TimeoutError:
        pass
    return left_open(server)


def asked_twice(model: OpenAIServer) -> list[str]:
    """The conversations that the model was sent more than once."""
    sent = Counter(json.dumps(request.body["messages"][1:]) for request in model.requests)
    return [said[-300:] for said, times in sent.items() if times > 1]


async def kill_and_look(
    chat: Chat, kill: Callable[[], Awaitable[Client]], server: Server, client: Client
) -> dict[str, list[str]]:
    """One round; `kill` gives the client to go on with."""
    due = after_events()
    await chat.go_on(client, due)
    client = await kill()
    chat.answered.clear()
    try:
        async with asyncio.timeout(PATIENCE):
            await chat.go_on(client, lambda: chat.all_answered)
    except TimeoutError:
        return {"silent": [key for key in chat.sessions if not chat.answered[key]], **left_open(server)}
    return await comes_to_rest(server, client)


async def test_of_the_server(home: Path, project: Path) -> None:
    async with OpenAIServer(answer) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        unclean: dict[int, Any] = {}
        async with server.client() as first:
            made = [await first.create_session(title="named") for _ in range(SESSIONS)]
        chat = Chat([str(session["id"]) for session in made])
        for number in range(KILLS):

            async def kill() -> Client:
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)
                return await opened.enter_async_context(server.client())

            async with AsyncExitStack() as opened:
                client = await opened.enter_async_context(server.client())
                if found := await kill_and_look(chat, kill, server, client):
                    unclean[number] = found
        await asyncio.to_thread(server.stop)
        assert unclean == {}
        assert asked_twice(model) == []


async def test_of_a_worker(redis: RedisServer, home: Path, project: Path) -> None:
    async with OpenAIServer(answer) as model:
        environ = {"REDIS_URL": redis.url, "OPENCODE_WEB_LEASE_SECONDS": "3"}
        server = Server(home, project, model_config(model.base_url), environ)
        await asyncio.to_thread(server.start, "--no-worker")
        workers = [asyncio.create_task(start_worker(server)) for _ in range(2)]
        await asyncio.gather(*workers)
        unclean: dict[int, Any] = {}
        async with server.client() as client:
            made = [await client.create_session(title="named") for _ in range(SESSIONS)]
            chat = Chat([str(session["id"]) for session in made])

            async def kill() -> Client:
                await asyncio.wait(workers)
                victim = workers.pop(random.randrange(2)).result()
                victim.kill()
                await asyncio.to_thread(victim.wait)
                workers.append(asyncio.create_task(start_worker(server)))
                return client

            for number in range(KILLS):
                if found := await kill_and_look(chat, kill, server, client):
                    unclean[number] = found
        for worker in workers:
            await asyncio.to_thread(end_worker, await worker)
        await asyncio.to_thread(server.stop)
        assert unclean == {}
        assert asked_twice(model) == []
