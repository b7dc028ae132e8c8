"""What becomes of turns whose machine fails: `python -m bench.faults [--rounds N] [--only KIND …]`.

A node in a network namespace of its own, a front, a PostgreSQL and a model, all on this machine. In each
round a turn is in the middle of its answer when its machine is killed, stands still, is cut off for 3, 8 or
30 seconds, or the database starts again. Then it is looked whether the turn ended, in order or with the word
that its machine went away; whether anything was written after that; whether all that was said is still there;
and whether the session goes on. It ends with 1 where any of it is not so. Needs root.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench import project
from bench.client import Client
from tests.cable import Cable, passage, refusal
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn, Wait
from tests.postgres_server import ACCOUNT, PostgresServer, programs
from tests.server import Server, model_config, parts_of, until
from tests.team import ROWS, front, node, through

KINDS = ("kill", "pause", "cable-3", "cable-8", "cable-30", "database")
LEASE_SECONDS = 6
PATIENCE = 60.0
_LOOK_SECONDS = 0.2
_PAUSE_SECONDS = 12.0
_GONE = "machine went away"
_FILES = 20


@dataclass
class Round:
    """`seconds` from the fault until the turn was over, `ended` how, `faults` what is not as it has to be."""

    number: int
    kind: str
    seconds: float = 0.0
    ended: str = ""
    faults: list[str] = field(default_factory=list)


def answer(body: Body) -> Turn:
    """By the number in the last prompt: an answer that stands still in its middle, and then writes a file."""
    said = [message for message in body["messages"] if message["role"] == "user"][-1]["content"]
    text = said if isinstance(said, str) else "".join(part.get("text", "") for part in said)
    what, _, number = text.strip().rpartition(" ")
    if what.endswith("Go on"):
        return Turn(text=f"Back {number}.")
    if body["messages"][-1]["role"] == "tool":
        return Turn(text=f"Done {number}.")
    write = ToolUse("write", {"filePath": f"{number}.txt", "content": number})
    return Turn(text=["kept ", Wait(number), "lost"], tools=[write])


class Faults:
    """The team in which they are made."""

    def __init__(
        self, one: Server, door: Server, cable: Cable, postgres: PostgresServer, model: OpenAIServer
    ) -> None:
        self._one = one
        self._door = door
        self._cable = cable
        self._postgres = postgres
        self._model = model

    async def round(self, number: int, kind: str) -> Round:
        done = Round(number, kind)
        async with through(self._door, "one") as client:
            session = (await client.create_session(title=f"Round {number}"))["id"]
            async with client.events() as events:
                await client.prompt_async(session, f"Talk {number}")
                await until(events, "message.part.delta", delta="kept ")
            began = time.monotonic()
            over = asyncio.create_task(self._over(session, began))
            await self._make(kind, str(number))
            done.seconds = round(await over, 2)
        async with through(self._door, "one") as client:
            await self._look(client, session, done)
        return done

    async def _make(self, kind: str, gate: str) -> None:
        """A fault, and its end. The answer goes on when the fault is well under way."""
        process = self._one.process
        assert process is not None
        if kind == "kill":
            await asyncio.to_thread(self._one.kill)
            await asyncio.sleep(2 * LEASE_SECONDS)
            await asyncio.to_thread(self._one.start, "--hostname", self._cable.there)
        elif kind == "pause":
            process.send_signal(signal.SIGSTOP)
            await self._open(gate, _PAUSE_SECONDS)
            process.send_signal(signal.SIGCONT)
        elif kind == "database":
            await asyncio.to_thread(self._postgres.stop)
            await asyncio.to_thread(self._postgres.start)
            await self._open(gate, 0)
        else:
            self._cable.cut()
            await self._open(gate, float(kind.rpartition("-")[2]))
            self._cable.mend()
        self._model.gate(gate).open()

    async def _open(self, gate: str, seconds: float) -> None:
        await asyncio.sleep(seconds * 0.9)
        self._model.gate(gate).open()
        await asyncio.sleep(seconds * 0.1)

    async def _over(self, session: str, began: float) -> float:
        """Seconds until the rows say that the turn has ended, as a front reads them."""
        async with self._door.client() as client:
            while time.monotonic() - began < PATIENCE:
                try:
                    listed = (await client.http.get("/", headers={"Accept": "application/json"})).json()
                    found = [
                        row["state"]
                        for machine in listed
                        for project in machine["projects"]
                        for row in project["sessions"]
                        if row["id"] == session
                    ]
                except Exception:
                    found = []
                if found and found[0] not in ("working", "retry"):
                    break
                await asyncio.sleep(_LOOK_SECONDS)
        return time.monotonic() - began

    async def _look(self, client: Client, session: str, done: Round) -> None:
        number = str(done.number)
        messages = await _patiently(lambda: client.messages(session))
        text = json.dumps(messages)
        done.ended = "gone" if _GONE in text else "in order" if f"Done {number}." in text else "otherwise"
        if done.seconds > PATIENCE - 1:
            done.faults.append("the turn did not end")
        await _patiently(lambda: client.prompt(session, f"Go on {number}"))
        messages = await client.messages(session)
        said = [part["text"] for part in parts_of(messages, "text")]
        written = (self._one.project / f"{number}.txt").exists()
        for expected in (f"Talk {number}", f"Go on {number}", f"Back {number}."):
            if expected not in said:
                done.faults.append(f"{expected!r} is not there")
        if done.ended == "gone" and (written or any("lost" in text for text in said)):
            done.faults.append("something was written after the turn was closed")
        if done.ended == "in order" and not written:
            done.faults.append("the file is not there")
        if done.ended == "otherwise":
            done.faults.append("the turn ended in neither way")


async def _patiently(ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer of a node that may be on its way back."""
    until_ = time.monotonic() + PATIENCE
    while True:
        try:
            return await ask()
        except Exception:
            if time.monotonic() > until_:
                raise
            await asyncio.sleep(1)


@asynccontextmanager
async def team(folder: Path) -> AsyncIterator[Faults]:
    """A node behind a cable, a front, and what they need."""
    there = programs()
    if there is None:
        sys.exit("PostgreSQL is not installed; `make machine` installs it where there is apt")
    postgres, cable = PostgresServer(there), Cable()
    postgres.create()
    cable.lay()
    try:
        socket = str(next(postgres.folder.glob(".s.PGSQL.*[0-9]")))
        async with OpenAIServer(answer) as model:
            port = int(model.base_url.split(":")[2].split("/")[0])
            async with (
                passage(cable.here, lambda: asyncio.open_unix_connection(socket)) as rows,
                passage(cable.here, lambda: asyncio.open_connection("127.0.0.1", port)) as answers,
            ):
                project.build(folder / "project", _FILES)
                base = model.base_url.replace(f"127.0.0.1:{port}", f"{cable.here}:{answers}")
                one = node(folder, postgres, "one", folder / "project", model_config(base))
                own = {
                    "OPENCODE_WEB_DATABASE": f"postgres://{ACCOUNT}@{cable.here}:{rows}/{ROWS}",
                    "OPENCODE_WEB_LEASE_SECONDS": str(LEASE_SECONDS),
                }
                one.environ = {**one.environ, **own}
                one.prefix = cable.prefix
                door = front(folder, postgres)
                await asyncio.to_thread(door.start, verb="front")
                try:
                    await asyncio.to_thread(one.start, "--hostname", cable.there)
                    try:
                        yield Faults(one, door, cable, postgres, model)
                    finally:
                        await asyncio.to_thread(one.stop)
                finally:
                    await asyncio.to_thread(door.stop)
    finally:
        cable.remove()
        postgres.remove()


async def run(rounds: int, kinds: Sequence[str], told: Callable[[Round], None]) -> list[Round]:
    """Each kind as often as the others, in an order that is the same each time."""
    order = [kinds[number % len(kinds)] for number in range(rounds)]
    random.Random(0).shuffle(order)
    found = []
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        async with team(Path(scratch)) as faults:
            for number, kind in enumerate(order):
                found.append(await faults.round(number, kind))
                told(found[-1])
    return found


def summary(rounds: Sequence[Round]) -> list[str]:
    """A line for each kind, and one for what is not as it has to be."""
    lines = []
    for kind in sorted({done.kind for done in rounds}):
        of = [done for done in rounds if done.kind == kind]
        ended = ", ".join(f"{how} {many}" for how, many in Counter(done.ended for done in of).items())
        seconds = sorted(done.seconds for done in of)
        lines.append(f"{kind}: {len(of)} rounds, {ended}; over after {seconds[0]} to {seconds[-1]} s")
    lines.append(f"faults: {sum(bool(done.faults) for done in rounds)} of {len(rounds)} rounds")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--out", type=Path, help="write the rounds there, as JSON")
    given = parser.parse_args()
    if reason := refusal():
        sys.exit(reason)

    def told(done: Round) -> None:
        sys.stdout.write(f"{json.dumps(asdict(done))}\n")
        sys.stdout.flush()

    rounds = asyncio.run(run(given.rounds, given.only, told))
    if given.out:
        given.out.write_text(json.dumps([asdict(done) for done in rounds], indent=1))
    sys.stdout.write("\n".join(summary(rounds)) + "\n")
    sys.exit(any(done.faults for done in rounds))


if __name__ == "__main__":
    main()
