"""What a team costs beside one machine: `python -m bench.team [front restart beats nodes far] [--quick]`.

`front`: a node asked directly and through a front, in turn. `restart`: an answer that streams through a front
which ends and begins again meanwhile. `beats`: what PostgreSQL does for the beats of 200 nodes. `nodes`: what
a turn costs where four nodes work, beside one. `far`: a turn where PostgreSQL is a millisecond away, beside
SQLite. All machines, PostgreSQL and the model are on this one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from itertools import pairwise
from time import perf_counter

from httpx import HTTPError
from psycopg import connect

from bench.client import Client
from bench.cost import EXTENSION, Cost, Meter
from bench.costs import START_SECONDS, Count
from bench.listening import listening
from bench.machines import Machines, beating, machines, postgres, process
from bench.model import prompt
from bench.stats import median, percentile
from bench.targets import ROOT
from bench.turns import STAMP, TURN_SECONDS, Driver, TurnFailed, check_count, driving, stamps
from tests.postgres_server import ACCOUNT
from tests.server import Server, parts_of
from tests.team import ROWS, begun, through

ROUNDS = 6
DELTAS, TURNS = 1000, 40
SPACING_SECONDS = 0.005
BEATING, NODES = 200, 4
_BEATING_SECONDS = 40.0
AWAY_MS = 1.0
RESTARTED = 400
"""Deltas of an answer, eight seconds of them."""
_RESTART_SPACING = 0.02
_AGAIN_SECONDS = 0.05


class Figures:
    """Of one way to the node."""

    def __init__(self) -> None:
        self.deltas: list[float] = []
        self.turns: list[float] = []

    async def take(self, driver: Driver, quick: int) -> None:
        await self.take_turns(driver, quick)
        count = DELTAS // quick
        seen = await driver.turn(await driver.session(), prompt(deltas=count, delay=SPACING_SECONDS))
        check_count([seen], count)
        self.deltas += seen.latencies_ms

    async def take_turns(self, driver: Driver, quick: int) -> None:
        session = await driver.session()
        await driver.turn(session)
        self.turns += [(await driver.turn(session)).wall_ms for _ in range(TURNS // quick)]

    def lines(self, way: str) -> list[str]:
        return [
            f"{way}: a delta {median(self.deltas):.2f} ms p50, {percentile(self.deltas, 95):.2f} ms p95",
            f"{way}: a turn of one delta {median(self.turns):.1f} ms p50",
        ]


async def front(team: Machines, quick: int) -> list[str]:
    direct, passed_on = Figures(), Figures()
    async with (
        team.nodes(1) as (one,),
        team.front() as door,
        one.client() as straight,
        through(door, "n0") as round_about,
    ):
        meter = Meter(team.postgres, [process(one)], [process(door)])
        before = meter.read(begins=True)
        for number in range(ROUNDS):
            figures, client = (passed_on, round_about) if number % 2 else (direct, straight)
            async with driving(client) as driver:
                await figures.take(driver, quick)
        spent = meter.read() - before
    return [
        *direct.lines("directly"),
        *passed_on.lines("through a front"),
        f"CPU: the node {spent.node_ms / 1000:.1f} s, the front {spent.front_ms / 1000:.1f} s, "
        f"of which {len(passed_on.deltas)} deltas had a part",
    ]


class Stream:
    """The text that streams to a client which asks again as soon as it is cut off."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.received: list[int] = []
        self.flows = asyncio.Event()

    async def follow(self) -> None:
        """Until the turn has ended."""
        while True:
            with suppress(HTTPError):
                async with self._client.events() as events:
                    async for event in events:
                        self.received += [received for _, received in stamps(event)]
                        if len(self.received) > RESTARTED // 4:
                            self.flows.set()
                        if event.type == "session.idle":
                            return
            await asyncio.sleep(_AGAIN_SECONDS)

    @property
    def longest_ms(self) -> float:
        """Without a word."""
        return max(after - before for before, after in pairwise(self.received)) / 1e6


async def restart(team: Machines, quick: int) -> list[str]:
    """The texts of the answers have to be whole."""
    found = []
    async with team.nodes(1), team.front(anew=True) as door, through(door, "n0") as client:
        async with driving(client) as driver:
            await driver.warm_up()
        for _ in range(max(2, ROUNDS // quick)):
            session = str((await client.create_session(title="bench"))["id"])
            stream = Stream(client)
            following = asyncio.create_task(stream.follow())
            await client.prompt_async(session, prompt(deltas=RESTARTED, delay=_RESTART_SPACING))
            await stream.flows.wait()
            await asyncio.to_thread(door.stop)
            await asyncio.to_thread(door.start, "--port", door.url.rpartition(":")[2], verb="front")
            async with asyncio.timeout(START_SECONDS + TURN_SECONDS):
                await following
            text = "".join(part["text"] for part in parts_of(await client.messages(session), "text")[1:])
            if len(STAMP.findall(text)) != RESTARTED:
                raise TurnFailed(f"{len(STAMP.findall(text))} of {RESTARTED} deltas are there")
            found.append(stream.longest_ms)
    return [
        f"a front begins again: nothing comes for {median(found):.0f} ms p50, {max(found):.0f} at most, and "
        f"{len(found)} of {len(found)} answers are whole"
    ]


async def beats(team: Machines, quick: int) -> list[str]:
    async with team.nodes(1) as (one,):
        await asyncio.sleep(START_SECONDS)
        count = Count(Meter(team.postgres), quick)
        count.rest = await count.second(_BEATING_SECONDS)
        with beating(one, BEATING) as pid:
            count.meter = Meter(team.postgres, [pid])
            second = await count.second(_BEATING_SECONDS)
    return [
        f"{BEATING} nodes that beat: PostgreSQL {second.postgres_ms / 10:.2f} % of a core, "
        f"{second.trips:.0f} messages and {second.wal_bytes / 1000:.0f} KB of its log a second; "
        f"the nodes together {second.node_ms / 10:.1f} %"
    ]


async def nodes(team: Machines, quick: int) -> list[str]:
    async with team.nodes(NODES) as servers, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(server.client()) for server in servers]
        drivers = [await stack.enter_async_context(driving(client)) for client in clients]
        await asyncio.gather(*(driver.warm_up() for driver in drivers))
        await asyncio.sleep(START_SECONDS)
        count = Count(Meter(team.postgres, [process(server) for server in servers]), quick)
        count.rest = await count.second()
        one, four = Cost(), Cost()
        for _ in range(ROUNDS):
            one += await count.once(Figures().take_turns(drivers[0], quick))
            four += await count.once(_all_at_once(drivers, quick))
    turns = ROUNDS * (TURNS // quick + 1)
    costs = [one * (1 / turns), four * (1 / turns / NODES)]
    ms = [cost.node_ms + cost.postgres_ms for cost in costs]
    return [
        f"{name}: {total:.1f} ms of CPU a turn, {cost.node_ms:.1f} of it the node's, {cost.postgres_ms:.1f} "
        f"PostgreSQL's; {cost.statements:.1f} statements in {cost.transactions:.1f} transactions and beside"
        for name, cost, total in zip(("one node works", f"{NODES} nodes work"), costs, ms, strict=True)
    ] + [f"{NODES} to one: {ms[1] / ms[0]:.2f}"]


async def _all_at_once(drivers: Sequence[Driver], quick: int) -> None:
    await asyncio.gather(*(Figures().take_turns(driver, quick) for driver in drivers))


async def far(team: Machines, quick: int) -> list[str]:
    socket = team.postgres.folder / ".s.PGSQL.5432"
    command = [sys.executable, "-m", "bench.delay", str(socket), str(AWAY_MS)]
    async with listening(command, ROOT, os.environ, team.folder / "delay.log") as way:
        url = f"postgres://{ACCOUNT}@{way.url.removeprefix('http://')}/{ROWS}"
        servers = {
            "SQLite": team.alone("sqlite"),
            "PostgreSQL here": team.node("here"),
            "PostgreSQL away": team.node("away", {"OPENCODE_WEB_DATABASE": url}),
        }
        async with begun(*servers.values()):
            found = await _in_turn(servers, quick)
        trip = await asyncio.to_thread(_trip_ms, url)
    base = median(found["SQLite"].turns)
    return [f"away: {trip:.2f} ms to PostgreSQL and back"] + [
        f"{name}: a turn of one delta {median(figures.turns):.1f} ms p50, "
        f"{median(figures.turns) / base:.2f} of SQLite's"
        for name, figures in found.items()
    ]


async def _in_turn(servers: Mapping[str, Server], quick: int) -> dict[str, Figures]:
    found = {name: Figures() for name in servers}
    for _ in range(ROUNDS):
        for name, server in servers.items():
            async with server.client() as client, driving(client) as driver:
                await found[name].take_turns(driver, quick)
    return found


def _trip_ms(url: str) -> float:
    times = []
    with connect(url, autocommit=True) as connection:
        for _ in range(100):
            began = perf_counter()
            connection.execute("SELECT 1")
            times.append((perf_counter() - began) * 1000)
    return median(times)


MEASURES: dict[str, Callable[[Machines, int], Awaitable[list[str]]]] = {
    "front": front,
    "restart": restart,
    "beats": beats,
    "nodes": nodes,
    "far": far,
}


async def measure(names: Sequence[str], quick: int) -> None:
    """Print what was found, a line each."""
    with postgres(EXTENSION) as server:
        server.query("CREATE EXTENSION pg_stat_statements")
        async with machines(server) as team:
            for name in names:
                for line in await MEASURES[name](team, quick):
                    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.team", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASURES)}; else all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    options = parser.parse_args()
    asyncio.run(measure(options.names or list(MEASURES), 10 if options.quick else 1))


if __name__ == "__main__":
    main()
