"""Turns driven to their end, with what a client saw of them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bench.client import Client, Event
from bench.model import prompt
from tests.loopback.script import ToolUse

STAMP = re.compile(r"\d{19}")
TURN_SECONDS = 180


class TurnFailed(Exception):
    """The turn did not do what its prompt scripted, so its time means nothing."""


@dataclass(slots=True)
class Seen:
    """One turn: `time.time_ns()` of its prompt and its end, and (sent, received) of each delta."""

    prompted_ns: int
    ended_ns: int = 0
    deltas: list[tuple[int, int]] = field(default_factory=list)

    @property
    def wall_ms(self) -> float:
        return (self.ended_ns - self.prompted_ns) / 1e6

    @property
    def asked_ms(self) -> float:
        """From the prompt until the model was asked: it stamps its first delta at once."""
        return (self.deltas[0][0] - self.prompted_ns) / 1e6

    @property
    def latencies_ms(self) -> list[float]:
        return [(received - sent) / 1e6 for sent, received in self.deltas]


class Driver:
    """Runs turns of any number of sessions over one subscription to `/event`."""

    def __init__(self, client: Client, events: AsyncIterator[Event]) -> None:
        self._client = client
        self._events = events

    async def session(self) -> str:
        """A new session with a title, so that no title is asked for."""
        return str((await self._client.create_session(title="bench"))["id"])

    async def turn(self, session_id: str, text: str | None = None) -> Seen:
        """One turn of one session; one delta without `text`."""
        return (await self.turns([session_id], text or prompt()))[0]

    async def warm_up(self) -> None:
        """A session with ten tool steps: a server's first ones cost several times as much as the rest."""
        uses = [ToolUse("bash", {"command": f"echo {n}", "description": "Warm up"}) for n in range(10)]
        await self.turn(await self.session(), prompt(tools=uses))

    async def turns(self, session_ids: list[str], text: str) -> list[Seen]:
        """The same prompt to all sessions at once; returns when each has become idle."""
        async with asyncio.timeout(TURN_SECONDS):
            seen = {session_id: Seen(time.time_ns()) for session_id in session_ids}
            async with asyncio.TaskGroup() as group:
                for session_id in session_ids:
                    group.create_task(self._client.prompt_async(session_id, text))
                await self._follow(seen)
        return list(seen.values())

    async def _follow(self, seen: dict[str, Seen]) -> None:
        running = len(seen)
        async for event in self._events:
            turn = seen.get(event.session_id)
            if turn is None:
                continue
            turn.deltas += stamps(event)
            _check(event)
            if event.type == "session.idle":
                turn.ended_ns = event.received_ns
                running -= 1
                if running == 0:
                    return
        raise TurnFailed("the event stream ended")


@asynccontextmanager
async def driving(client: Client) -> AsyncIterator[Driver]:
    async with client.events() as events:
        yield Driver(client, events)


def check_count(turns: list[Seen], deltas: int) -> None:
    """Raises TurnFailed unless every turn has seen each of its deltas."""
    for turn in turns:
        if len(turn.deltas) != deltas:
            raise TurnFailed(f"{len(turn.deltas)} of {deltas} deltas came")


def stamps(event: Event) -> Iterator[tuple[int, int]]:
    """A server may put several of the model's deltas into one event: each counts."""
    if event.type == "message.part.delta" and event.properties.get("field") == "text":
        for stamp in STAMP.findall(event.properties["delta"]):
            yield int(stamp), event.received_ns


def _check(event: Event) -> None:
    if event.type == "session.error":
        raise TurnFailed(f"the turn failed: {event.properties.get('error')}")
    part = event.properties.get("part", {})
    if part.get("type") == "tool" and part["state"]["status"] == "error":
        raise TurnFailed(f"{part['tool']} failed: {part['state'].get('error')}")
