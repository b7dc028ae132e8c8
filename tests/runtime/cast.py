"""A model with a part for every conversation, and what tests of subagents wait for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.client import Client, Event
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import EXHAUSTED, Body, ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, until

LOOKING = {"mode": "subagent", "description": "Looks around."}
AGENTS: dict[str, Any] = {"explore": LOOKING, "worker": {**LOOKING, "description": "Does things."}}


Played = Turn | Callable[[Body], Turn]


class Cast:
    """A model that answers each conversation by the word that its first prompt has in it."""

    def __init__(self, **turns: Sequence[Played]) -> None:
        self._turns: dict[str, Iterator[Played]] = {word: iter(played) for word, played in turns.items()}
        self.bodies: dict[str, list[Body]] = {word: [] for word in turns}

    def __call__(self, body: Body) -> Turn:
        first = next(message for message in body["messages"] if message["role"] == "user")
        word = next(word for word in self._turns if word in str(first["content"]))
        self.bodies[word].append(body)
        played = next(self._turns[word], Turn(fault=EXHAUSTED))
        return played if isinstance(played, Turn) else played(body)

    def told(self, word: str, request: int) -> str:
        """What the last message of a conversation's n-th request (from 0) says."""
        return str(self.bodies[word][request]["messages"][-1])


def task(word: str, agent: str = "explore", **more: str) -> ToolUse:
    """A call whose child's conversation begins with a word."""
    return ToolUse("task", {"description": f"look at {word}", "prompt": word, "subagent_type": agent, **more})


@asynccontextmanager
async def cast(
    home: Path, project: Path, cast: Cast, **config: Any
) -> AsyncIterator[tuple[Client, OpenAIServer, Server]]:
    async with OpenAIServer(cast) as model:
        server = Server(home, project, model_config(model.base_url, **{"agent": AGENTS, **config}))
        async with running(server) as client:
            yield client, model, server


async def task_parts(client: Client, session_id: str) -> list[dict[str, Any]]:
    parts = parts_of(await client.messages(session_id), "tool")
    return [part for part in parts if part["tool"] == "task"]


async def until_card(events: AsyncIterator[Event], session_id: str, **metadata: Any) -> Mapping[str, Any]:
    """The metadata of a running `task` card once it has these values."""
    while True:
        part = (await until(events, "message.part.updated", sessionID=session_id)).properties["part"]
        shown = (part.get("state") or {}).get("metadata") or {}
        if part.get("tool") == "task" and metadata.items() <= shown.items():
            return shown


async def until_output(events: AsyncIterator[Event], text: str) -> None:
    """Until a running command has said this."""
    while True:
        part = (await until(events, "message.part.updated")).properties["part"]
        if text in ((part.get("state") or {}).get("metadata") or {}).get("output", ""):
            return
