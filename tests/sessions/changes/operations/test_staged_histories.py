"""Random histories: the agent stages, a person edits, keeps, drops, takes back. Their lines survive."""

from __future__ import annotations

import random

import pytest

from sessions.changes.operations.lock import Refused
from sessions.changes.operations.staged import drop, keep, take_back
from tests.sessions.changes.operations.stage import keys, staged, waiting
from tests.sessions.changes.review.world import World

FILES = ("a.txt", "b.txt", "c.txt")
SEEDS = range(40)


class History:
    """One history: every line anybody writes is unique, so that it can be looked for."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.mine: set[str] = set()
        self.verdicts: list[str] = []
        self.number = 0

    def line(self, who: str) -> str:
        self.number += 1
        return f"{who} {self.number}\n"

    def disk(self, name: str) -> list[str]:
        path = self.world.root / name
        return path.read_text().splitlines(keepends=True) if path.exists() else []

    async def begin(self) -> None:
        self.session = await self.world.session()
        for name in FILES[:2]:
            self.world.write(name, "".join(self.line("first") for _ in range(30)))

    async def stage(self, name: str) -> None:
        seen = await waiting(self.world, self.session)
        content = seen.get(name)
        lines = content.decode().splitlines(keepends=True) if content else self.disk(name)
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(lines))
            replaced = lines[at : at + self.random.randint(0, 1)]
            lines[at : at + (0 if self.mine.intersection(replaced) else len(replaced))] = [self.line("agent")]
        await staged(self.world, self.session, name, "".join(lines))

    async def write(self, name: str) -> None:
        """The person inserts a line of their own."""
        lines = self.disk(name)
        mine = self.line("mine")
        lines.insert(self.random.randint(0, len(lines)), mine)
        self.mine.add(mine)
        self.world.write(name, "".join(lines))

    async def judge(self, name: str) -> None:
        found = await keys(self.world, self.session, name)
        picked = self.random.sample(found, self.random.randint(1, len(found))) if found else None
        act = self.random.choice((keep, drop))
        try:
            self.verdicts.append((await act(self.session, {name: picked})).id)
        except Refused:
            return

    async def back(self, _: str) -> None:
        if not self.verdicts:
            return
        chosen = self.verdicts.pop(self.random.randrange(len(self.verdicts)))
        try:
            self.verdicts.append((await take_back(self.session, chosen)).id)
        except Refused:
            return

    def check(self) -> None:
        on_disk = {line for name in FILES for line in self.disk(name)}
        assert self.mine <= on_disk


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_persons_lines_survive_every_history(world: World, seed: int) -> None:
    history = History(world, seed)
    await history.begin()
    steps = (history.stage, history.stage, history.write, history.judge, history.judge, history.back)
    for _ in range(25):
        await history.random.choice(steps)(history.random.choice(FILES))
        history.check()


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_verdict_taken_back_at_once_changed_nothing(world: World, seed: int) -> None:
    history = History(world, seed)
    await history.begin()
    for _ in range(12):
        name = history.random.choice(FILES)
        await history.random.choice((history.stage, history.write))(name)
        before = (world.state(), await waiting(world, history.session))
        history.verdicts.clear()
        await history.judge(name)
        after = (world.state(), await waiting(world, history.session))
        await history.back(name)
        assert (world.state(), await waiting(world, history.session)) == before
        await history.back(name)
        assert (world.state(), await waiting(world, history.session)) == after
