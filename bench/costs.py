"""What a turn and the rest of a team's work cost, counted: `python -m bench.costs [--quick]`.

A node is driven through a front, with its rows in a PostgreSQL that keeps what it is given, all on this
machine. What it finds is kept in `bench/costs.json`, which `bench.scale` goes by. These are counts, not
times: another program at work here changes little of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import proc
from bench.client import Client
from bench.cost import EXTENSION, UNSENT, Cost, Meter, statements
from bench.machines import Machines, beating, machines, postgres, process
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.turns import Driver, driving
from tests.loopback.script import ToolUse
from tests.postgres_server import PostgresServer
from tests.redis_server import RedisServer
from tests.server import Server
from tests.team import ROWS, begun, through

COSTS = Path(__file__).with_name("costs.json")
TEAMS = (1, 2, 4)
"""How many nodes work at once to see whether their costs add up."""
MIX = {"read": 2, "bash": 1, "edit": 1, "delta": 50}
"""What a turn of theirs is made of."""
MIXED_TURNS = 12
"""Of the one session that each of them has."""
_TURNS, _CALLS, _DELTAS, _PAGES, _REST_SECONDS, _BEATING_SECONDS = 40, 20, 500, 20, 16, 40
_PACE_SECONDS = 0.02
"""Between two deltas, as of a model that says fifty a second."""
BEATING = 100
BEAT_SECONDS = 2.0
"""Between two beats of a node (opencode_web/nodes/heartbeat.py), which needs settings to be imported."""
START_SECONDS = 6
"""What a server does once it has begun is over then."""
_EDITED, _MIXED = 7, 8
"""Files of the project. Each of their sixty lines is edited once."""
_SESSIONS = 6
"""More than the page of a front shows of a project."""
_HTML = {"Accept": "text/html"}
_SCHEMA = (
    "SELECT count(*), sum(pg_relation_size(pg_class.oid)) FROM pg_class "
    "JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname = 'opencode_node_n0'"
)
"""What is there of a node: tables, indexes and sequences, and their bytes."""


@dataclass(slots=True)
class Count:
    """`rest` is what goes on in a second anyway, and is not counted in."""

    meter: Meter
    quick: int
    rest: Cost = field(default_factory=Cost)

    def of(self, full: int) -> int:
        """How often to do what is done so often in a full run."""
        return max(2, full // self.quick)

    async def once(self, work: Awaitable[object]) -> Cost:
        before, began = self.meter.read(begins=True), time.monotonic()
        await work
        seconds = time.monotonic() - began
        return self.meter.read() - before - self.rest * seconds

    async def each(self, full: int, work: Callable[[], Awaitable[object]]) -> Cost:
        """Of one, where it is done so often."""
        times = self.of(full)

        async def all_of_them() -> None:
            for _ in range(times):
                await work()

        return await self.once(all_of_them()) * (1 / times)

    async def second(self, full: float = _REST_SECONDS) -> Cost:
        """Of a second of so many in which nobody asks for anything."""
        seconds = full / self.quick
        return await self.once(asyncio.sleep(seconds)) * (1 / seconds)


async def measure(quick: int) -> dict[str, Any]:
    """What is kept in the file."""
    with postgres(EXTENSION) as server, _redis() as redis:
        server.query("CREATE EXTENSION pg_stat_statements")
        async with machines(server) as team:
            costs, more = await _alone(team, quick)
            hints = await _hints(team, redis, quick)
            costs["beat"] = await _beat(team, quick)
            teams = {str(count): await _together(team, count, quick) for count in TEAMS}
        version = server.query("SHOW server_version")[0][0].split()[0]
    costs = {name: replace(cost, hints=hints.get(name, Cost()).hints) for name, cost in costs.items()}
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"PostgreSQL {version}",
        "costs": {name: cost.rounded() for name, cost in costs.items()},
        **more,
        "teams": teams,
    }


async def _alone(team: Machines, quick: int) -> tuple[dict[str, Cost], dict[str, Any]]:
    """What a node and a front cost, by what is done; and what else is known of them."""
    async with team.nodes(1) as (one,):
        await asyncio.sleep(START_SECONDS)
        second = await Count(Meter(team.postgres, [process(one)]), quick).second()
        of_a_node = len(_connections(team.postgres))
        async with team.front() as door, through(door, "n0") as client, driving(client) as driver:
            count = Count(Meter(team.postgres, [process(one)], [process(door)]), quick)
            await driver.warm_up()
            await asyncio.sleep(START_SECONDS)
            count.rest = await count.second()
            found = {"second of a node": second, "second of a front": count.rest - second}
            found |= await _turns(count, driver, one.project)
            found["checkpoint"] = await _checkpoint(count, driver, one.project)
            found |= await _pages(count, client, door)
            profile = await _profile(count, driver)
            facts = _facts(team.postgres, of_a_node)
    found["overview, by the node"] = await _overviews(team, quick) - found["overview"]
    return found, {"facts": facts, "statements of a turn": profile}


async def _turns(count: Count, driver: Driver, folder: Path) -> dict[str, Cost]:
    """Of a turn of one delta, and of what may be in one beside that."""
    session = await driver.session()
    await driver.turn(session)
    turn = await count.each(_TURNS, lambda: driver.turn(session))

    async def begin() -> None:
        await driver.turn(await driver.session())

    found = {"turn": turn, "session": await count.each(_TURNS, begin) - turn}
    await driver.turn(session, prompt(tools=[_read(folder, _EDITED)]))  # only what was read is edited
    for name, uses in _calls(folder, count.of(_CALLS)).items():
        done = await count.once(driver.turn(session, prompt(tools=uses)))
        found[name] = (done - turn) * (1 / len(uses))
    deltas = count.of(_DELTAS)
    done = await count.once(driver.turn(session, prompt(deltas=deltas, delay=_PACE_SECONDS)))
    found["delta"] = (done - turn) * (1 / deltas)
    return found


async def _checkpoint(count: Count, driver: Driver, folder: Path) -> Cost:
    """What a node that is at work logs once more after each one: pages go there as a whole, once."""
    session = await driver.session()
    await driver.turn(session, mixed(folder, 0))
    count.meter.postgres.query("CHECKPOINT")
    first = await count.once(driver.turn(session, mixed(folder, 1)))
    return first - await count.once(driver.turn(session, mixed(folder, 2)))


async def _pages(count: Count, client: Client, door: Server) -> dict[str, Cost]:
    """Of a list of sessions for programs, of a page with one, and of the page of a front with one machine."""
    session = (await client.sessions())[0]
    page = f"/p/{session['projectID']}/s/{session['id']}"
    found = {"list": await count.each(_PAGES, lambda: client.sessions(limit=50))}
    found["page"] = await count.each(_PAGES, lambda: client.http.get(page, headers=_HTML))
    async with door.client() as visitor:
        found["overview"] = await count.each(_PAGES, lambda: visitor.http.get("/", headers=_HTML))
    return found


async def _overviews(team: Machines, quick: int) -> Cost:
    """Of the page of a front with one machine more."""
    async with team.nodes(2) as nodes, team.front() as door, door.client() as visitor:
        count = Count(Meter(team.postgres, [], [process(door)]), quick)
        async with nodes[1].client() as client, driving(client) as driver:
            for _ in range(_SESSIONS):
                await driver.turn(await driver.session())
        await asyncio.sleep(START_SECONDS)
        count.rest = await count.second()
        return await count.each(_PAGES, lambda: visitor.http.get("/", headers=_HTML))


async def _profile(count: Count, driver: Driver) -> dict[str, float]:
    """How often a turn of one delta sends each kind of statement, the most frequent first."""
    session, server = await driver.session(), count.meter.postgres
    await driver.turn(session)
    before = statements(server)
    for _ in range(count.of(_TURNS)):
        await driver.turn(session)
    found: dict[str, float] = {}
    for query, (calls, _) in statements(server).items():
        calls -= before.get(query, (0, None))[0]
        found[_kind(query)] = found.get(_kind(query), 0) + calls / count.of(_TURNS)
    often = {kind: round(calls, 2) for kind, calls in found.items() if kind and calls >= 0.1}
    return dict(sorted(often.items(), key=lambda item: -item[1]))


def _kind(query: str) -> str:
    """What it does, and to which table first; empty for what nobody sent."""
    if UNSENT.match(query):
        return ""
    table = re.search(r"opencode_(?:sessions_)?(\w+)", query)
    return f"{query.split()[0]} {table[1] if table else ''}".strip()


def _connections(server: PostgresServer) -> list[int]:
    """The processes that serve them."""
    found = server.query(f"SELECT pid FROM pg_stat_activity WHERE datname = '{ROWS}'")  # noqa: S608
    return [int(pid) for (pid,) in found]


def _facts(server: PostgresServer, of_a_node: int) -> dict[str, float]:
    """Of a node and a front that run: connections and their memory, and of a node what is there of it."""
    pids = _connections(server)
    relations, size = server.query(_SCHEMA, ROWS)[0]
    return {
        "connections of a node": of_a_node,
        "connections of a front": len(pids) - of_a_node,
        "memory of a connection (MB)": round(median([proc.memory(pid) for pid in pids]), 1),
        "relations of a node": relations,
        "rows and indexes of a node (MB)": round(int(size) / 1e6, 1),
    }


async def _beat(team: Machines, quick: int) -> Cost:
    """Of one, among those of a hundred nodes."""
    async with team.nodes(1) as (one,):
        await asyncio.sleep(START_SECONDS)
        rest = await Count(Meter(team.postgres), quick).second(_BEATING_SECONDS)
        with beating(one, BEATING) as pid:
            second = await Count(Meter(team.postgres, [pid]), quick, rest).second(_BEATING_SECONDS)
    return second * (BEAT_SECONDS / BEATING)


async def _hints(team: Machines, redis: RedisServer, quick: int) -> dict[str, Cost]:
    """The same turns of a node that has other processes beside it."""
    one = team.node("hinted", {"REDIS_URL": redis.url})
    async with begun(one), one.client() as client, driving(client) as driver:
        await driver.warm_up()
        return await _turns(Count(Meter(team.postgres, redis=redis), quick), driver, one.project)


async def _together(team: Machines, nodes: int, quick: int) -> dict[str, float]:
    """What so many nodes that work at once cost, by the turn, with all that they do beside."""
    async with team.nodes(nodes) as servers:
        meter = Meter(team.postgres, [process(server) for server in servers])
        await asyncio.sleep(START_SECONDS)
        turns = Count(meter, quick).of(MIXED_TURNS)
        before, began = meter.read(begins=True), time.monotonic()
        await asyncio.gather(*(_work(server, turns) for server in servers))
        seconds, cost = time.monotonic() - began, meter.read() - before
    each = cost * (1 / (turns * nodes))
    worked = {"turns": turns * nodes, "seconds": round(seconds, 1)}
    return {**worked, "statements": round(each.statements, 1), **each.rounded()}


async def _work(server: Server, turns: int) -> None:
    async with server.client() as client, driving(client) as driver:
        session = await driver.session()
        for number in range(turns):
            await driver.turn(session, mixed(server.project, number))


def mixed(folder: Path, number: int) -> str:
    """A turn of a bit of everything (`MIX`), the so many-th in this folder."""
    tools = [_read(folder, number) for _ in range(MIX["read"] - 1)]
    tools += [_read(folder, _MIXED), _edit(folder, _MIXED, number), _bash(number)]
    return prompt(tools=tools, deltas=MIX["delta"], delay=_PACE_SECONDS)


def _calls(folder: Path, count: int) -> dict[str, list[ToolUse]]:
    return {
        "read": [_read(folder, number) for number in range(count)],
        "bash": [_bash(number) for number in range(count)],
        "edit": [_edit(folder, _EDITED, number) for number in range(count)],
    }


def _read(folder: Path, number: int) -> ToolUse:
    return ToolUse("read", {"filePath": str(file(folder, number))})


def _bash(number: int) -> ToolUse:
    return ToolUse("bash", {"command": f"echo {number}", "description": "Print a number"})


def _edit(folder: Path, number: int, index: int) -> ToolUse:
    path, old = str(file(folder, number)), line(number, index)
    return ToolUse("edit", {"filePath": path, "oldString": old, "newString": f"{old}  # changed"})


@contextmanager
def _redis() -> Iterator[RedisServer]:
    program = shutil.which("redis-server")
    if program is None:
        sys.exit("Redis is not installed; `make machine` installs it where there is apt")
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(program, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.costs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of it, which is not kept")
    quick = parser.parse_args().quick
    text = json.dumps(asyncio.run(measure(10 if quick else 1)), indent=2)
    sys.stdout.write(f"{text}\n")
    if not quick:
        COSTS.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
