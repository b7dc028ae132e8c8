"""How far a team goes, by simulation: `python -m bench.scale [--quick]`.

Nodes, fronts and a PostgreSQL do, for some seconds of the busiest hour of a day, what `bench.costs` found
that turns, pages and beats cost, and wait for one another. It prints a table for each size of a team: what
goes on there, what is full first, what moves that, and what is full next; and draws the plots of
docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import simpy

from bench import plots
from bench.cost import Cost
from bench.costs import BEAT_SECONDS, COSTS
from bench.stats import percentile

Process = Generator[simpy.Event, Any, None]

PLOTS = Path(__file__).parent.parent / "docs" / "scale"
NODES = (10, 100, 1_000, 10_000)
SESSIONS = 100
"""A day, by the node: a million at ten thousand nodes."""
_SECONDS = 5.0
_BEFORE = 400.0
"""So long before them turns began of which some still run."""
_DAY = (1, 1, 1, 1, 1, 1, 2, 4, 8, 11, 11, 10, 7, 9, 11, 11, 9, 6, 3, 2, 2, 2, 1, 1)
"""How the sessions of a working day are spread over its hours, as parts."""
_VIEW_SECONDS = 3.0
"""How often the page of a front asks anew (templates/nodes/machines.html)."""
FULL = 0.7
"""What is used more than this is full: beyond it what waits grows fast."""


@dataclass(frozen=True, slots=True)
class Load:
    """What people and models do. `sessions` begin in a day. The others are means: of turns in a session, of
    calls of tools in a turn (log-normal: one turn of twenty has `spread` times the median), of deltas in a
    step (exponential), of the seconds that a model thinks and a tool works (exponential), of pages that are
    opened by the turn. `tools` is how calls are divided.
    """

    sessions: float
    turns: float = 4.0
    calls: float = 8.0
    spread: float = 4.0
    tools: Mapping[str, float] = field(default_factory=lambda: {"read": 0.5, "bash": 0.3, "edit": 0.2})
    deltas: float = 100.0
    deltas_a_second: float = 50.0
    think_seconds: float = 3.0
    tool_seconds: float = 3.0
    pages: float = 2.0

    @property
    def turns_a_second(self) -> float:
        """That begin in the busiest hour."""
        return self.sessions * self.turns * max(_DAY) / sum(_DAY) / 3600


@dataclass(frozen=True, slots=True)
class Team:
    """What there is, and how it is set. A team that is split into `cells` has a PostgreSQL of its own in
    each, with so many `cores` and `connections` (each takes some megabytes), and its part of the nodes and
    fronts.

    `sync_ms` is a write to the disk of the log, which takes `log_mb` a second; `trip_ms` the way from a node
    to PostgreSQL and back. `viewers` have a front's page open at a time, by the hundred nodes. A front that
    keeps its list for `list_seconds` makes it once for all of them.
    """

    nodes: int
    cells: int = 1
    fronts: int = 2
    viewers: float = 2.0
    cores: int = 8
    connections: int = 1_000
    sync_ms: float = 1.0
    log_mb: float = 200.0
    trip_ms: float = 0.5
    beat_seconds: float = BEAT_SECONDS
    list_seconds: float = 0.0
    checkpoint_seconds: float = 300.0


@dataclass(slots=True)
class Seen:
    """Of the cell that was looked at, by the second: the sum of all costs, turns that begin, lists that are
    made; `waits` are those of single transactions for the others (ms)."""

    cost: Cost = field(default_factory=Cost)
    turns: float = 0.0
    lists: float = 0.0
    waits: list[float] = field(default_factory=list)

    @property
    def wait_ms(self) -> float:
        """Nineteen of twenty transactions wait less."""
        return round(percentile(self.waits, 95), 3) if self.waits else 0.0


class Log:
    """What is committed while the disk writes is written with the next one."""

    def __init__(self, env: simpy.Environment, sync_ms: float) -> None:
        self._env = env
        self._seconds = sync_ms / 1000
        self._waiting: list[simpy.Event] = []
        self._writes = False

    def commit(self) -> simpy.Event:
        """What happens when it is on the disk."""
        written = self._env.event()
        self._waiting.append(written)
        if not self._writes:
            self._writes = True
            self._env.process(self._write())
        return written

    def _write(self) -> Process:
        while self._waiting:
            group, self._waiting = self._waiting, []
            yield self._env.timeout(self._seconds)
            for written in group:
                written.succeed()
        self._writes = False


class Simulation:
    """One cell of a team, for `seconds`. `costs` are by name, as in the file."""

    def __init__(
        self, team: Team, load: Load, costs: Mapping[str, Cost], *, seconds: float = _SECONDS, seed: int = 1
    ) -> None:
        self._team = team
        self._load = load
        self._costs = costs
        self._seconds = seconds
        self._random = random.Random(seed)
        self._env = simpy.Environment()
        self._fronts = team.fronts / team.cells
        self._nodes = [simpy.Resource(self._env) for _ in range(round(team.nodes / team.cells))]
        """By the thread of each that asks the database one thing after the other."""
        self._cores = simpy.Resource(self._env, team.cores)
        self._log = Log(self._env, team.sync_ms)
        self._seen = Seen()

    def run(self) -> Seen:
        self._go_on()
        self._env.process(self._begin())
        for _ in self._nodes:
            self._env.process(self._beat())
        for _ in range(round(self._fronts) if self._team.viewers else 0):
            self._env.process(self._show())
        self._env.run(until=self._seconds)
        seen, seconds = self._seen, self._seconds
        rest = self._costs["second of a node"] - self._costs["beat"] * (1 / BEAT_SECONDS)
        always = rest * len(self._nodes) + self._costs["second of a front"] * self._fronts
        always += self._costs["checkpoint"] * (self._at_work() / self._team.checkpoint_seconds)
        seen.cost = seen.cost * (1 / seconds) + always
        seen.turns, seen.lists = seen.turns / seconds, seen.lists / seconds
        return seen

    def _at_work(self) -> float:
        """Nodes in which a turn begins between two checkpoints."""
        mean = self._rate / len(self._nodes) * self._team.checkpoint_seconds
        return len(self._nodes) * -math.expm1(-mean)

    @property
    def _rate(self) -> float:
        return self._load.turns_a_second / self._team.cells

    def _go_on(self) -> None:
        """With the turns that began before, of which some still run."""
        moment = 0.0
        while (moment := moment - self._random.expovariate(self._rate)) > -_BEFORE:
            self._env.process(self._turn(moment))

    def _begin(self) -> Process:
        while True:
            yield self._env.timeout(self._random.expovariate(self._rate))
            self._seen.turns += 1
            self._env.process(self._turn(self._env.now))

    def _turn(self, moment: float) -> Process:
        """From when it began on."""
        node = self._random.choice(self._nodes)
        for seconds, cost in self._steps():
            moment += seconds
            if moment >= 0:
                yield self._env.timeout(max(0.0, moment - self._env.now))
                yield from self._work(node, cost)
                moment = self._env.now

    def _steps(self) -> Iterator[tuple[float, Cost]]:
        """What a turn costs, each after so many seconds."""
        load, draw, costs = self._load, self._random, self._costs
        yield 0.0, costs["turn"] + (costs["session"] if draw.random() < 1 / load.turns else Cost())
        yield 0.0, (costs["page"] + costs["list"]) * (load.pages / 2)
        tools, shares = zip(*load.tools.items(), strict=True)
        for tool in draw.choices(tools, shares, k=_calls(load, draw)):
            yield self._answer()
            yield draw.expovariate(1 / load.tool_seconds), costs[tool]
        yield self._answer()

    def _answer(self) -> tuple[float, Cost]:
        """What a model says in a step."""
        load, draw = self._load, self._random
        deltas = draw.expovariate(1 / load.deltas)
        seconds = draw.expovariate(1 / load.think_seconds) + deltas / load.deltas_a_second
        return seconds, self._costs["delta"] * deltas

    def _work(self, node: simpy.Resource, cost: Cost) -> Process:
        """A transaction after the other; what is only read is read between them."""
        self._seen.cost += cost
        pieces = max(1, self._whole(cost.transactions))
        for _ in range(pieces):
            yield from self._transact(node, cost * (1 / pieces))

    def _transact(self, node: simpy.Resource, cost: Cost) -> Process:
        asked, seconds = self._env.now, (cost.trips * self._team.trip_ms) / 1000
        with node.request() as turn:
            yield turn
            yield self._env.timeout(seconds)
            yield from self._compute(cost.postgres_ms / 1000)
            yield self._log.commit()
        alone = seconds + cost.postgres_ms / 1000 + self._team.sync_ms / 1000
        self._seen.waits.append((self._env.now - asked - alone) * 1000)

    def _compute(self, seconds: float) -> Process:
        with self._cores.request() as core:
            yield core
            yield self._env.timeout(seconds)

    def _beat(self) -> Process:
        """By a thread and a connection of its own."""
        beat = self._costs["beat"]
        yield self._env.timeout(self._random.uniform(0, self._team.beat_seconds))
        while True:
            self._seen.cost += beat
            yield from self._compute(beat.postgres_ms / 1000)
            yield self._log.commit()
            yield self._env.timeout(self._team.beat_seconds)

    def _show(self) -> Process:
        """The page of a front, as often as it is asked for: a query after the other, to each of the nodes."""
        viewers = self._team.viewers * self._team.nodes / 100 / self._team.fronts
        every = max(_VIEW_SECONDS / viewers, self._team.list_seconds)
        cost = a_list(self._costs, len(self._nodes))
        yield self._env.timeout(self._random.uniform(0, every))
        while True:
            self._seen.lists += 1
            self._seen.cost += cost
            self._env.process(self._compute(cost.postgres_ms / 1000))
            yield self._env.timeout(every)

    def _whole(self, number: float) -> int:
        """One of the two whole numbers beside it, so that the mean is kept."""
        return int(number) + (self._random.random() < number % 1)


def _calls(load: Load, draw: random.Random) -> int:
    """Of a turn."""
    spread = math.log(load.spread) / 1.645
    return round(draw.lognormvariate(math.log(load.calls) - spread**2 / 2, spread))


def a_list(costs: Mapping[str, Cost], nodes: float) -> Cost:
    """What the page of a front shows of so many."""
    return costs["overview"] + costs["overview, by the node"] * (nodes - 1)


def limits(team: Team, seen: Seen, costs: Mapping[str, Cost]) -> dict[str, float]:
    """How much of each thing is used, 1 being all of it; the scarcest first."""
    nodes, fronts = team.nodes / team.cells, team.fronts / team.cells
    shown = a_list(costs, nodes)
    used = {
        CONNECTIONS: OF_EACH * (nodes + fronts) / team.connections,
        CORES: seen.cost.postgres_ms / 1000 / team.cores,
        LOG: seen.cost.wal_bytes / 1e6 / team.log_mb,
        LISTS: seen.lists / fronts * (shown.trips * team.trip_ms + shown.postgres_ms) / 1000,
        FRONT: seen.cost.front_ms / 1000 / fronts,
        NODE: seen.cost.node_ms / 1000 / nodes,
    }
    return dict(sorted(used.items(), key=lambda item: -item[1]))


CONNECTIONS = "connections to PostgreSQL"
CORES = "PostgreSQL's cores"
LOG = "the disk of its log"
LISTS = "a front's list of machines"
FRONT = "a front's core"
NODE = "a node's core"
OF_EACH = 2
"""Connections of a node, and of a front."""
LIMITS = (CONNECTIONS, CORES, LOG, LISTS, FRONT, NODE)


def move(team: Team, limit: str, used: float) -> tuple[str, Team]:
    """What there has to be more of, or less often, where this is full: in words, and the team that has it."""
    times = math.ceil(used / FULL)
    if limit == CONNECTIONS and team.connections < _MOST_CONNECTIONS:
        more = min(_MOST_CONNECTIONS, times * team.connections)
        return f"`max_connections={more}`", replace(team, connections=more)
    if limit == CORES and team.cores < _MOST_CORES:
        cores = min(_MOST_CORES, times * team.cores)
        return f"{cores} cores for PostgreSQL", replace(team, cores=cores)
    if limit == LOG and team.checkpoint_seconds < _LONGEST_CHECKPOINT:
        return "a checkpoint every 15 minutes", replace(team, checkpoint_seconds=_LONGEST_CHECKPOINT)
    if limit in (LISTS, FRONT) and team.list_seconds < _OLDEST_LIST:
        older = _OLDEST_LIST if team.list_seconds else _VIEW_SECONDS
        return f"a list made once in {older:.0f} s for all viewers", replace(team, list_seconds=older)
    if limit in (LISTS, FRONT):
        return f"{times * team.fronts} fronts", replace(team, fronts=times * team.fronts)
    if limit == NODE:
        return "the same work on more nodes", replace(team, nodes=times * team.nodes)
    cells = times * team.cells
    return f"{cells} cells, each with a PostgreSQL", replace(
        team, cells=cells, fronts=max(team.fronts, 2 * cells)
    )


_MOST_CONNECTIONS = 4_000
_MOST_CORES = 32
_LONGEST_CHECKPOINT = 900.0
_OLDEST_LIST = 30.0


@dataclass(frozen=True, slots=True)
class Rung:
    """A team, what was seen of it, and what leads to the next one; empty where nothing is full."""

    team: Team
    seen: Seen
    used: Mapping[str, float]
    moved: str = ""


def ladder(team: Team, load: Load, costs: Mapping[str, Cost], seconds: float) -> list[Rung]:
    """From a team as it is, what is full moved one after the other."""
    rungs: list[Rung] = []
    while True:
        seen = Simulation(team, load, costs, seconds=seconds).run()
        used = limits(team, seen, costs)
        first = next(iter(used))
        if used[first] <= FULL:
            return [*rungs, Rung(team, seen, used)]
        moved, larger = move(team, first, used[first])
        rungs.append(Rung(team, seen, used, moved))
        team = larger


def known() -> dict[str, Cost]:
    """What was measured, by name."""
    return {name: Cost(**cost) for name, cost in json.loads(COSTS.read_text())["costs"].items()}


def counted(costs: Mapping[str, Cost]) -> str:
    """What was measured, as Markdown."""
    rows = ["| | messages | transactions | rows | log KB | hints | CPU ms: node, front, PostgreSQL |"]
    rows.append("|---|" + " ---: |" * 6)
    for name, cost in costs.items():
        values = (cost.trips, cost.transactions, cost.rows, cost.wal_bytes / 1000, cost.hints)
        ms = ", ".join(_number(each) for each in (cost.node_ms, cost.front_ms, cost.postgres_ms))
        rows.append(f"| {name} | {' | '.join(map(_number, values))} | {ms} |")
    return "\n".join(rows)


def table(rungs: Sequence[Rung]) -> str:
    """Markdown: a line for each, of the whole team."""
    head = "nodes | cells | fronts | statements/s | rows/s | hints/s | log MB/s"
    more = "cores: PostgreSQL, fronts, nodes | p95 wait ms | full first | then | what moves it"
    rows = [f"| {head} | {more} |", "|" + " ---: |" * 9 + " --- |" * 3]
    rows += [f"| {' | '.join(_cells(rung))} |" for rung in rungs]
    return "\n".join(rows)


def _cells(rung: Rung) -> list[str]:
    team, cost = rung.team, rung.seen.cost * rung.team.cells
    cores = (_number(ms / 1000) for ms in (cost.postgres_ms, cost.front_ms, cost.node_ms))
    first, then, *_ = rung.used.items()
    return [
        *(f"{number:,}" for number in (team.nodes, team.cells, team.fronts)),
        *map(_number, (cost.statements, cost.rows, cost.hints, cost.wal_bytes / 1e6)),
        ", ".join(cores),
        "grows" if rung.used[CORES] > 1 else f"{rung.seen.wait_ms:.2f}",
        *(f"{name} {used:,.0%}" for name, used in (first, then)),
        rung.moved or "–",
    ]


def _number(value: float) -> str:
    """Two digits are all that is known."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value >= 0.01 else "0"


def plot(folder: Path, teams: Sequence[Sequence[Rung]]) -> None:
    """What is used as a team grows, as it is and with what is full moved, and what goes on then."""
    begins, ends = [rungs[0] for rungs in teams], [rungs[-1] for rungs in teams]
    for name, title, rungs in (
        ("as-it-is", "What is used, of 1: one PostgreSQL, two fronts", begins),
        ("moved", "What is used, of 1, with what is full moved", ends),
    ):
        lines = {limit: [(rung.team.nodes, rung.used[limit]) for rung in rungs] for limit in LIMITS}
        plots.draw(folder / f"{name}.svg", title, lines, across="nodes", low=0.0001, high=10_000, full=1.0)
    rates: dict[str, Callable[[Cost], float]] = {
        "statements": lambda cost: cost.statements,
        "rows": lambda cost: cost.rows,
        "hints to Redis": lambda cost: cost.hints,
        "KB of PostgreSQL's log": lambda cost: cost.wal_bytes / 1000,
    }
    lines = {
        name: [(rung.team.nodes, rate(rung.seen.cost) * rung.team.cells) for rung in ends]
        for name, rate in rates.items()
    }
    plots.draw(
        folder / "rates.svg", "In a second of the busiest hour", lines, across="nodes", low=10, high=1e6
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the seconds, and no plots")
    quick = parser.parse_args().quick
    costs, teams = known(), []
    sys.stdout.write(f"{counted(costs)}\n")
    for nodes in NODES:
        load = Load(SESSIONS * nodes)
        teams.append(ladder(Team(nodes), load, costs, _SECONDS / 10 if quick else _SECONDS))
        sys.stdout.write(f"\n{load.sessions:,.0f} sessions a day\n\n{table(teams[-1])}\n")
        sys.stdout.flush()
    if not quick:
        plot(PLOTS, teams)


if __name__ == "__main__":
    main()
