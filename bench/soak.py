"""A server under everyday load for hours, and what of it grows: `python -m bench.soak [--minutes M]`.

A page stays open and goes from session to session, turns edit and run commands and call an MCP server, a
language server looks at what they write, a terminal writes, readers and pages come and go. Each line is about
a minute; the last ones say what grew from the second quarter to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import httpx

from bench import project
from bench.browser import Browsing, Tab, browsing
from bench.lab import Lab, Server
from bench.model import prompt
from bench.stats import median
from bench.targets import OURS
from bench.turns import Driver, driving
from tests.loopback.script import ToolUse
from tests.programs import pypi

FILES = 200
TURNS_OF_A_SESSION = 12
DELTAS = 40
PAUSE_SECONDS = 2.0
READERS = 4
_SLOW = Path(__file__).parent / "slow_server.py"


async def configuration() -> dict[str, object]:
    program = await asyncio.to_thread(pypi, "basedpyright", "basedpyright-langserver", os.environ)
    languages = {"basedpyright": {"command": [str(program), "--stdio"], "extensions": [".py"]}}
    slow = {"type": "local", "command": [sys.executable, "-I", "-S", str(_SLOW), "0"]}
    return {"lsp": {**languages, "pyright": {"disabled": True}}, "mcp": {"slow": slow}}


class Soak:
    """`numbers` are those of a minute, by name."""

    def __init__(self, lab: Lab, server: Server, driver: Driver, browser: Browsing, tab: Tab) -> None:
        self._lab = lab
        self._server = server
        self._driver = driver
        self._browser = browser
        self._tab = tab
        self._round = 0
        self._session = ""
        self.rows: list[dict[str, float]] = []

    async def run(self, seconds: float) -> None:
        end, sampled = time.monotonic() + seconds, 0.0
        while time.monotonic() < end:
            if self._round % TURNS_OF_A_SESSION == 0:
                await self._another_session()
                if time.monotonic() - sampled > 60:
                    sampled = time.monotonic()
                    self.rows.append(await self._numbers())
                    print("  ".join(f"{name} {value:g}" for name, value in self.rows[-1].items()), flush=True)
            await asyncio.gather(self._turn(), self._readers())
            self._round += 1
            await asyncio.sleep(PAUSE_SECONDS)

    async def _another_session(self) -> None:
        """The page goes there as a person does: what it shows is as much as before."""
        self._session = await self._driver.session()
        await self._tab.page.click(f"#{self._session}-item a")
        await self._tab.page.wait_for_url(f"**/{self._session}")
        await self._tab.quiet()

    async def _turn(self) -> None:
        number = self._round % FILES
        path = project.file(self._lab.project, number)
        line = project.line(number, 1 + self._round // FILES)
        uses = [
            ToolUse("read", {"filePath": str(path)}),
            ToolUse("edit", {"filePath": str(path), "oldString": line, "newString": f"{line}  # soaked"}),
            ToolUse(
                "bash", {"command": f"seq {50 + self._round % 50}; date > soaked.txt", "description": "Run"}
            ),
            ToolUse("slow_wait", {}),
        ]
        await self._driver.turn(self._session, prompt(tools=uses, deltas=DELTAS, delay=0.01))

    async def _readers(self) -> None:
        """Listeners that go after the first event, and every fifth time a page."""
        async with asyncio.TaskGroup() as group:
            for number in range(READERS):
                group.create_task(self._reader("/global/event" if number % 2 else "/event"))
            if self._round % 5 == 0:
                group.create_task(self._visitor())

    async def _reader(self, path: str) -> None:
        async with self._server.client.http.stream("GET", path, timeout=60) as stream:
            async for _ in stream.aiter_raw():
                break

    async def _visitor(self) -> None:
        async with self._browser.tab() as tab:
            await tab.open(self._browser.app.address(self._session))

    async def _numbers(self) -> dict[str, float]:
        pid = self._server.pid
        client = await self._tab.page.context.new_cdp_session(self._tab.page)
        await client.send("HeapProfiler.collectGarbage")
        counters = await client.send("Memory.getDOMCounters")
        await client.detach()
        with closing(sqlite3.connect(self._lab.home / ".local/share/opencode-web/db.sqlite3")) as database:
            ((events,),) = database.execute("SELECT count(*) FROM opencode_sessions_event")
        links = _descriptors(pid)
        return {
            "round": self._round,
            "tree MB": round(self._server.memory(), 1),
            "server MB": round(_resident(pid), 1),
            "descriptors": len(links),
            "sockets": sum(link.startswith("socket:") for link in links),
            "threads": _threads(pid),
            "events": events,
            "nodes": counters["nodes"],
            "listeners": counters["jsEventListeners"],
            "elements": await self._tab.page.evaluate("document.querySelectorAll('*').length"),
        }

    def growth(self) -> str:
        quarter = max(1, len(self.rows) // 4)
        early, late = self.rows[quarter : 2 * quarter] or self.rows, self.rows[-quarter:]
        return "\n".join(
            f"{name}: {median([row[name] for row in early]):g} -> {median([row[name] for row in late]):g}"
            for name in self.rows[0]
        )


def _descriptors(pid: int) -> list[str]:
    """What each open one leads to."""
    found = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(path))
    return found


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@asynccontextmanager
async def terminal(client: httpx.AsyncClient) -> AsyncIterator[None]:
    """A shell that writes a line a second."""
    answer = await client.post("/pty", json={"command": "sh", "args": ["-c", "while sleep 1; do date; done"]})
    answer.raise_for_status()
    yield
    await client.delete(f"/pty/{answer.json()['id']}")


async def soak(minutes: float) -> None:
    with tempfile.TemporaryDirectory(prefix="opencode-web-soak-", ignore_cleanup_errors=True) as scratch:
        lab = Lab(OURS, Path(scratch))
        await lab.prepare(FILES)
        async with (
            lab.server(config=await configuration()) as server,
            driving(server.client) as driver,
            browsing(lab, server) as browser,
            terminal(server.client.http),
            browser.tab() as tab,
        ):
            await tab.open(browser.app.address(await driver.session()))
            run = Soak(lab, server, driver, browser, tab)
            try:
                await run.run(minutes * 60)
            finally:
                print(run.growth() if run.rows else "nothing was measured", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    asyncio.run(soak(parser.parse_args().minutes))


if __name__ == "__main__":
    main()
