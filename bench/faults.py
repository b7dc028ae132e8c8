"""What becomes of turns whose machine fails: `python -m bench.faults [--rounds N] [--only KIND …]`.

Three nodes with a project at the same path, two fronts, a PostgreSQL, a Redis and a model, all on this
machine. In each round a turn of the first node, which is in a network namespace of its own, is in the middle
of its answer when its machine is killed, stands still, is cut off for 3, 8 or 30 seconds, has its clock set a
minute ahead or back, or when the database starts again or Redis is away. Then it is looked whether the turn
ended, in order or with the word that its machine went away; whether anything was written after that; whether
all that was said is still there; whether the session goes on; and whether a turn of another node that ran
meanwhile ended in order, in its own folder. It ends with 1 where any of it is not so. Needs root.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench import project
from bench.client import Client
from tests import cable
from tests.cable import Cable, passage
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn, Wait
from tests.postgres_server import ACCOUNT, PostgresServer, programs
from tests.redis_server import RedisServer
from tests.server import Server, model_config, parts_of, until
from tests.team import ROWS, begun, front, node, through

KINDS = (
    "kill", "pause", "cable-3", "cable-8", "cable-30", "clock-ahead", "clock-back", "database", "redis",
)  # fmt: skip
LEASE_SECONDS = 6
PATIENCE = 60.0
_LOOK_SECONDS = 0.2
_PAUSE_SECONDS = 12.0
_REDIS_SECONDS = 10.0
_CLOCK_SECONDS = 5.0
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
    if what.endswith("Beside"):
        return Turn(tools=[ToolUse("write", {"filePath": f"beside-{number}.txt", "content": number})])
    write = ToolUse("write", {"filePath": f"{number}.txt", "content": number})
    return Turn(text=["kept ", Wait(number), "lost"], tools=[write])


@dataclass(frozen=True, slots=True)
class Faults:
    """The team in which they are made, to `one`, whose clock is as far off as the file `clock` says."""

    one: Server
    others: Mapping[str, Path]
    """The nodes beside it, and what they have at the project's path."""
    doors: Sequence[Server]
    cable: Cable
    clock: Path
    postgres: PostgresServer
    redis: RedisServer
    model: OpenAIServer

    async def round(self, number: int, kind: str) -> Round:
        done = Round(number, kind)
        begun, looked = self.doors if number % 2 else self.doors[::-1]
        other = sorted(self.others)[number % len(self.others)]
        async with through(begun, "one") as client:
            session = (await client.create_session(title=f"Round {number}"))["id"]
            async with client.events() as events:
                await client.prompt_async(session, f"Talk {number}")
                await until(events, "message.part.delta", delta="kept ")
            began = time.monotonic()
            over = asyncio.create_task(self._over(looked, session, began))
            beside = asyncio.create_task(self._beside(begun, other, number))
            await self._make(kind, str(number))
            done.seconds = round(await over, 2)
            done.faults += await beside
        async with through(looked, "one") as client:
            await self._look(client, session, done)
        return done

    async def _beside(self, door: Server, name: str, number: int) -> list[str]:
        """What is wrong with a turn of a node to which nothing happens."""
        async with through(door, name) as client:
            session = (await _patiently(lambda: client.create_session(title=f"Beside {number}")))["id"]
            await _patiently(lambda: client.prompt(session, f"Beside {number}"))
            said = [part["text"] for part in parts_of(await client.messages(session), "text")]
        written = self.others[name] / f"beside-{number}.txt"
        faults = [] if f"Done {number}." in said else [f"the turn of {name} did not end in order"]
        return faults if written.exists() else [*faults, f"{name} has not written its file"]

    async def _make(self, kind: str, gate: str) -> None:
        """A fault, and its end. The answer goes on when the fault is well under way."""
        process = self.one.process
        assert process is not None
        if kind == "kill":
            await asyncio.to_thread(self.one.kill)
            await asyncio.sleep(2 * LEASE_SECONDS)
            await asyncio.to_thread(self.one.start, "--hostname", self.cable.there)
        elif kind == "pause":
            process.send_signal(signal.SIGSTOP)
            await self._open(gate, _PAUSE_SECONDS)
            process.send_signal(signal.SIGCONT)
        elif kind == "redis":
            await asyncio.to_thread(self.redis.stop)
            await self._open(gate, _REDIS_SECONDS)
            await asyncio.to_thread(self.redis.start)
        elif kind.startswith("clock"):
            self.clock.write_text("+60" if kind == "clock-ahead" else "-60")
            await self._open(gate, _CLOCK_SECONDS)
            self.clock.write_text("+0")
        elif kind == "database":
            await asyncio.to_thread(self.postgres.stop)
            await asyncio.to_thread(self.postgres.start)
            await self._open(gate, 0)
        else:
            self.cable.cut()
            await self._open(gate, float(kind.rpartition("-")[2]))
            self.cable.mend()
        self.model.gate(gate).open()

    async def _open(self, gate: str, seconds: float) -> None:
        await asyncio.sleep(seconds * 0.9)
        self.model.gate(gate).open()
        await asyncio.sleep(seconds * 0.1)

    async def _over(self, door: Server, session: str, began: float) -> float:
        """Seconds until the rows say that the turn has ended, as a front reads them."""
        async with door.client() as client:
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
        written = (self.one.project / f"{number}.txt").exists()
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


def refusal() -> str:
    """Why none can be made here; empty where they can."""
    needed = {"redis-server": shutil.which("redis-server"), "faketime": _FAKE_CLOCK, "PostgreSQL": programs()}
    missing = [name for name, there in needed.items() if not there]
    return cable.refusal() or ", ".join(missing) + (" not installed: `make machine`" if missing else "")


_FAKE_CLOCK = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)

_SAME_PATH = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"']
"""Given a folder, a path and a command: where the folder is at the path."""


@asynccontextmanager
async def team(folder: Path) -> AsyncIterator[Faults]:
    """A node behind a cable with a clock of its own, two beside it, two fronts, and what they need."""
    there = programs()
    assert there is not None
    postgres, line = PostgresServer(there), Cable()
    redis = RedisServer(str(shutil.which("redis-server")), folder)
    postgres.create()
    redis.start()
    line.lay()
    try:
        socket = str(next(postgres.folder.glob(".s.PGSQL.*[0-9]")))
        async with OpenAIServer(answer) as model:
            port = int(model.base_url.split(":")[2].split("/")[0])
            async with (
                passage(line.here, lambda: asyncio.open_unix_connection(socket)) as rows,
                passage(line.here, lambda: asyncio.open_connection("127.0.0.1", port)) as answers,
                passage(line.here, lambda: asyncio.open_connection("127.0.0.1", redis.port)) as hints,
            ):
                place, clock = folder / "project", folder / "clock"
                project.build(place, _FILES)
                clock.write_text("+0")
                base = model.base_url.replace(f"127.0.0.1:{port}", f"{line.here}:{answers}")
                one = node(folder, postgres, "one", place, model_config(base))
                own = {
                    "OPENCODE_WEB_DATABASE": f"postgres://{ACCOUNT}@{line.here}:{rows}/{ROWS}",
                    "REDIS_URL": f"redis://{line.here}:{hints}",
                    "LD_PRELOAD": str(_FAKE_CLOCK),
                    "FAKETIME_TIMESTAMP_FILE": str(clock),
                    "FAKETIME_CACHE_DURATION": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                }
                one.environ = {**one.environ, **_SHARED, **own}
                one.prefix = line.prefix
                folders = {name: folder / f"project-{name}" for name in ("two", "three")}
                others = []
                for name, own_folder in folders.items():
                    project.build(own_folder, _FILES)
                    others.append(node(folder, postgres, name, place, model_config(model.base_url)))
                    others[-1].prefix = [*_SAME_PATH, str(own_folder), str(place)]
                doors = [front(folder, postgres, name) for name in ("front", "front-2")]
                for server in (*others, *doors):
                    server.environ = {**server.environ, **_SHARED, "REDIS_URL": redis.url}
                async with begun(*doors, verb="front"), begun(*others):
                    await asyncio.to_thread(one.start, "--hostname", line.there)
                    try:
                        yield Faults(one, folders, doors, line, clock, postgres, redis, model)
                    finally:
                        await asyncio.to_thread(one.stop)
    finally:
        line.remove()
        redis.stop()
        postgres.remove()


_SHARED = {"OPENCODE_WEB_LEASE_SECONDS": str(LEASE_SECONDS)}


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
