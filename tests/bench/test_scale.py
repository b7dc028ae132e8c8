"""The simulation of a team against teams that were measured, and against what must follow from its rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench import scale
from bench.costs import BEAT_SECONDS, COSTS, MIX, MIXED_TURNS
from bench.scale import FULL, LIMITS, OF_EACH, Load, Simulation, Team

COSTS_OF = scale.known()
FILE = json.loads(COSTS.read_text())
MEASURED: dict[str, Any] = FILE["teams"]
SECONDS = 600.0


def as_measured(nodes: int) -> tuple[Team, Load]:
    """As many turns of the same kind as so many nodes took on."""
    measured = MEASURED[str(nodes)]
    tools = {name: count for name, count in MIX.items() if name != "delta"}
    calls = sum(tools.values())
    load = Load(
        sessions=1,
        turns=MIXED_TURNS,
        calls=calls,
        spread=1,
        tools={name: count / calls for name, count in tools.items()},
        deltas=MIX["delta"] / (calls + 1),
        pages=0,
    )
    rate = measured["turns"] / measured["seconds"]
    return Team(nodes, fronts=0), replace(load, sessions=rate / load.turns_a_second)


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_it_gives_what_was_measured(nodes: int) -> None:
    team, load = as_measured(nodes)
    seen = Simulation(team, load, COSTS_OF, seconds=SECONDS).run()
    for what in ("statements", "rows", "transactions"):
        assert getattr(seen.cost, what) / seen.turns == pytest.approx(MEASURED[str(nodes)][what], rel=0.1)


def test_connections_are_as_many_as_were_counted() -> None:
    assert FILE["facts"]["connections of a node"] == FILE["facts"]["connections of a front"] == OF_EACH


def test_what_is_more_than_there_is_makes_others_wait() -> None:
    load = Load(sessions=20_000)
    waits = [
        Simulation(Team(100, viewers=0, cores=cores), load, COSTS_OF, seconds=5).run().wait_ms
        for cores in (1, 16)
    ]
    assert waits[0] > 2 * waits[1]


def test_what_is_full_is_moved_until_nothing_is() -> None:
    rungs = scale.ladder(Team(400), Load(sessions=4_000), COSTS_OF, seconds=1)
    assert all(max(rung.used.values()) > FULL for rung in rungs[:-1])
    assert max(rungs[-1].used.values()) <= FULL
    assert set(rungs[0].used) == set(LIMITS)
    lines = scale.table(rungs).splitlines()
    assert len(lines) == 2 + len(rungs)
    assert len({line.count("|") for line in lines}) == 1


def test_plots_are_of_all_limits(tmp_path: Path) -> None:
    teams = [scale.ladder(Team(nodes), Load(sessions=nodes), COSTS_OF, seconds=1) for nodes in (10, 40)]
    scale.plot(tmp_path, teams)
    for path in tmp_path.iterdir():
        lines = ElementTree.parse(path).findall(".//{http://www.w3.org/2000/svg}polyline")  # noqa: S314 (ours)
        assert len(lines) in (4, len(LIMITS))


def test_beats_come_as_often_as_they_are_sent() -> None:
    source = Path(scale.__file__).parents[1] / "opencode_web" / "nodes" / "heartbeat.py"
    assert f"SECONDS = {BEAT_SECONDS}\n" in source.read_text()
