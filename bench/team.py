"""What a front costs, and a database that others have, too: `python -m bench.team [--quick]`.

A node with its rows in a PostgreSQL of its own is asked directly and through a front, in turn. Both, the
database and the model are on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench import proc, project
from bench.client import Client
from bench.lab import configuration
from bench.listening import listening
from bench.model import prompt
from bench.stats import median, percentile
from bench.targets import ROOT
from bench.turns import Driver, check_count, driving
from tests.postgres_server import PostgresServer, programs
from tests.team import begun, front, node, through

ROUNDS = 6
DELTAS, TURNS = 1000, 40
SPACING_SECONDS = 0.005
_FILES = 200


class Figures:
    """Of one way to the node."""

    def __init__(self) -> None:
        self.deltas: list[float] = []
        self.turns: list[float] = []

    async def take(self, driver: Driver, quick: int) -> None:
        session = await driver.session()
        await driver.turn(session)
        self.turns += [(await driver.turn(session)).wall_ms for _ in range(TURNS // quick)]
        count = DELTAS // quick
        seen = await driver.turn(session, prompt(deltas=count, delay=SPACING_SECONDS))
        check_count([seen], count)
        self.deltas += seen.latencies_ms

    def lines(self, way: str) -> list[str]:
        return [
            f"{way}: a delta {median(self.deltas):.2f} ms p50, {percentile(self.deltas, 95):.2f} ms p95",
            f"{way}: a turn of one delta {median(self.turns):.1f} ms p50",
        ]


async def measure(quick: int) -> list[str]:
    """A line each."""
    direct, passed_on = Figures(), Figures()
    async with _team() as (straight, round_about, processes):
        before = [proc.cpu(pid) for pid in processes]
        for number in range(ROUNDS):
            figures, client = (passed_on, round_about) if number % 2 else (direct, straight)
            async with driving(client) as driver:
                await figures.take(driver, quick)
        spent = [proc.cpu(pid) - was for pid, was in zip(processes, before, strict=True)]
    streamed = len(passed_on.deltas)
    return [
        *direct.lines("directly"),
        *passed_on.lines("through a front"),
        f"CPU: the node {spent[0]:.1f} s, the front {spent[1]:.1f} s, of which {streamed} deltas had a part",
    ]


@asynccontextmanager
async def _team() -> AsyncIterator[tuple[Client, Client, list[int]]]:
    """The ways to a node, and the processes of the node and of the front."""
    there = programs()
    if there is None:
        sys.exit("PostgreSQL is not installed; `make machine` installs it where there is apt")
    postgres = PostgresServer(there)
    postgres.create()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            project.build(folder / "project", _FILES)
            model = [sys.executable, "-m", "bench.model"]
            async with listening(model, ROOT, os.environ, folder / "model.log") as answers:
                one = node(folder, postgres, "one", folder / "project", configuration(answers.url))
                door = front(folder, postgres)
                async with begun(one), begun(door, verb="front"):
                    processes = [server.process.pid for server in (one, door) if server.process]
                    async with one.client() as straight, through(door, "one") as round_about:
                        yield straight, round_about, processes
    finally:
        postgres.remove()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.team", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    for line in asyncio.run(measure(10 if parser.parse_args().quick else 1)):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
