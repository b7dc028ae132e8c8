"""Searching a hundred thousand messages; ours alone, as OpenCode looks through titles only."""

from __future__ import annotations

import asyncio
import random
import re
import sqlite3
import sysconfig
import time
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from statistics import quantiles

from bench.conversations import Answer, Json, imported
from bench.lab import Lab, Server
from bench.stats import median
from bench.targets import OURS
from bench.turns import TurnFailed

SESSIONS = 20
MESSAGES = 5000
QUERIES = 200
_POLL_SECONDS = 0.5
_TEXTS = ("$.text", "$.state.input.filePath", "$.state.output")


async def measure(lab: Lab) -> dict[str, float]:
    if lab.target is not OURS:
        return {}
    async with lab.server() as server:
        for number in range(SESSIONS):
            await imported(lab, server, f"search{number}", lab.count(MESSAGES), _answers(number))
        began = time.perf_counter()
        found = await _when_indexed(server)
        indexed = time.perf_counter() - began
        if not found["matches"]:
            raise TurnFailed("nothing was found")
        times = [await _timed(server, query) for query in _queries(lab.count(QUERIES))]
        index, text = _sizes(Path(server.environ["XDG_DATA_HOME"], "opencode-web", "db.sqlite3"))
    return {
        "search of 100,000 messages p50 (ms)": median(times),
        "search of 100,000 messages p95 (ms)": quantiles(times, n=20)[-1],
        "search, index to text (ratio)": index / text,
        "search, after the import until all is in the index (s)": indexed,
    }


async def _when_indexed(server: Server) -> Json:
    while True:
        found: Json = await server.client.get("/find/message", query="module")
        if "progress" not in found:
            return found
        await asyncio.sleep(_POLL_SECONDS)


async def _timed(server: Server, query: str) -> float:
    """Milliseconds until the page has what is found."""
    began = time.perf_counter()
    await server.client.http.get("/search", params={"q": query}, headers={"HX-Request": "true"})
    return (time.perf_counter() - began) * 1000


@cache
def _sources() -> list[str]:
    """Texts with the words of real code and prose: the library of Python, which is everywhere the same."""
    folder = Path(sysconfig.get_path("stdlib"))
    return [file.read_text("utf-8", "replace") for file in sorted(folder.glob("*.py"))]


def _piece(seed: str, most: int) -> str:
    chance = random.Random(seed)
    text = chance.choice(_sources())
    begin = chance.randrange(max(1, len(text) - most))
    return text[begin : begin + chance.randrange(most // 8, most)]


def _answers(session: int) -> Answer:
    """A file that was read, and words about it."""

    def answer(project: Path, number: int, at: int, end: str) -> Iterator[Json]:
        time = {"start": at, "end": at + 1000}
        path = str(project / f"module_{number}.py")
        read = {"status": "completed", "input": {"filePath": path}, "title": path, "metadata": {}}
        state = {**read, "output": _piece(f"{session} {number} read", 6000), "time": time}
        yield {"type": "tool", "callID": f"call_{number}", "tool": "read", "state": state}
        said = _piece(f"{session} {number} said", 2000)
        yield {"type": "text", "text": f"{said}\n\n{end}", "time": time}

    return answer


def _queries(count: int) -> Iterator[str]:
    """A word, its beginning, two words, a phrase, a filter beside a word: what stands in the texts."""
    chance = random.Random(7)
    while count:
        line = chance.choice(_piece(str(chance.random()), 2000).splitlines() or [""])
        words = re.findall(r"[A-Za-z_]{4,}", line)
        if len(words) < 2:
            continue
        one, two = chance.sample(words, 2)
        yield chance.choice(
            [
                one,
                one[:4],
                f"{one} {two}",
                f'"{line.strip()[:40]}"',
                f"{one} file:module",
                f"agent:build {one}",
            ]
        )
        count -= 1


def _sizes(database: Path) -> tuple[int, int]:
    """Of the index and of the texts that are in it, in bytes."""
    texts = " + ".join(f"coalesce(length(json_extract(data, '{path}')), 0)" for path in _TEXTS)
    with closing(sqlite3.connect(database)) as db:
        (index,) = db.execute("SELECT sum(length(block)) FROM opencode_sessions_index_1_data").fetchone()
        (text,) = db.execute(f"SELECT sum({texts}) FROM opencode_sessions_part").fetchone()  # noqa: S608
    return index, text
