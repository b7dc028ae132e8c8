"""The language servers of all projects: one door for tools, pages and the protocol.

Methods may be called from any loop, those that are no coroutines from any thread. Language servers are off
unless the configuration of a folder has `lsp`; then everything here answers with nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from agents.children.closing import at_exit
from agents.children.loop import background
from agents.lsp.client.client import Client
from agents.lsp.finding import Found
from agents.lsp.life.known import Known
from agents.lsp.life.plan import place_of, plan, uses
from agents.lsp.life.pool import IDLE_SECONDS, MOST, Pool
from agents.lsp.life.slot import Slot
from agents.lsp.life.work import ask, prepare, touch
from agents.lsp.outline import of_document, of_workspace
from agents.lsp.statuses import ServerState
from agents.lsp.types import Diagnostic, Symbol, Update
from sessions import bus

logger = logging.getLogger(__name__)

T = TypeVar("T")

SYMBOL_SECONDS = 5.0


class Service:
    """At most `most` servers run at once; one that was not used for `idle` seconds ends."""

    def __init__(self, most: int = MOST, idle: float = IDLE_SECONDS) -> None:
        self._known = Known()
        self._pool = Pool(self._known, _changed, most, idle)
        self._tickets = itertools.count()

    async def touch(
        self, directory: Path, path: Path, *, wait: float = 0, content: bytes | None = None
    ) -> tuple[Diagnostic, ...]:
        """Tell all servers of a file what it holds, starting them if need be: `content`, or what is on the
        disk.

        With `wait`, what they say of that content within so many seconds; else nothing, at once. A server
        that fails is no error: its state tells.
        """
        errand = await asyncio.to_thread(prepare, directory, path, content, next(self._tickets))
        if errand is None or not (errand.uses or self._pool.slots(errand.place.worktree)):
            return ()
        work = touch(self._pool, errand, wait)
        if wait > 0:
            return await self._there(work)
        at_exit(self.close)
        background.begin(work)
        return ()

    def current(self, worktree: Path) -> Mapping[Path, tuple[Diagnostic, ...]]:
        """What is known now of the files of a worktree, all servers together; files without a diagnostic are
        left out."""
        return self._known.of(worktree.resolve())

    async def ask(
        self,
        directory: Path,
        path: Path,
        method: str,
        params: Any,
        within: float,
        *,
        content: bytes | None = None,
    ) -> list[tuple[str, Any]]:
        """(server, result) of a request about a file, of every server that answers within so many seconds,
        its start included. They are told first what the file holds, as by `touch`.

        Raises Failed when there were servers for it and none answered.
        """
        errand = await asyncio.to_thread(prepare, directory, path, content, next(self._tickets))
        if errand is None or not errand.uses:
            return []
        return await self._there(ask(self._pool, errand, method, params, within))

    async def symbols(self, directory: Path, query: str) -> list[Symbol]:
        """Workspace symbols of the servers that run."""
        slots = await asyncio.to_thread(self._running, directory)
        if not slots:
            return []
        return await self._there(_symbols(self._pool, slots, query))

    async def document_symbols(
        self, directory: Path, path: Path, *, content: bytes | None = None, within: float = SYMBOL_SECONDS
    ) -> list[Symbol]:
        """The symbols of a file with their whole ranges, outer ones first; of the first server that has any.
        Raises Failed like `ask`."""
        params = {"textDocument": {"uri": path.as_uri()}}
        method = "textDocument/documentSymbol"
        answers = await self.ask(directory, path, method, params, within, content=content)
        found = (list(of_document(answer, path)) for _, answer in answers)
        return next(filter(None, found), [])

    async def serves(self, directory: Path, path: Path | None = None) -> bool:
        """Whether a server could be asked about a file, or about any file of the project: language servers
        are on, and one is installed and does not wait for trust."""
        return await asyncio.to_thread(_serves, directory, path)

    async def warm(self, directory: Path, path: Path) -> bool:
        """Whether all servers of a file that can run do run, so that an answer takes no start."""
        errand = await asyncio.to_thread(prepare, directory, path, b"", 0)
        able = [use for use in errand.uses if isinstance(use.outcome, Found)] if errand else []
        return all(self._pool.runs(use) for use in able)

    def statuses(self, directory: Path) -> list[ServerState]:
        """Of every server that a file of the worktree asked for; those that are switched off by now are left
        out. It blocks."""
        return [slot.state() for slot in self._slots(directory)]

    async def renew(self, directory: Path) -> None:
        """Take in what has changed beside: what servers wait for may be there by now, or trusted, and those
        that were switched off end."""
        place = await asyncio.to_thread(place_of, directory)
        if not (running := self._pool.slots(place.worktree)):
            return
        await self._there(self._pool.keep(place.worktree, [row.id for row in place.rows]))
        waiting = [slot for slot in running if slot.status in ("missing", "held")]
        for slot in waiting:
            use = await asyncio.to_thread(plan, *_place(slot))
            await self._there(slot.look_again(use))

    async def dispose(self, directory: Path | None) -> None:
        """End the servers of a folder, or all (None), and forget what became of them: they start anew when
        they are needed."""
        worktree = (await asyncio.to_thread(place_of, directory)).worktree if directory else None
        if self._pool.slots(worktree):
            await self._there(self._pool.forget(worktree))

    async def retry(self, directory: Path, row: str, root: Path) -> None:
        """Start a server anew, whatever became of it before. Returns when it runs, or cannot."""
        slots = await asyncio.to_thread(self._slots, directory)
        for slot in slots:
            if (slot.use.row.id, slot.use.root) == (row, root):
                use = await asyncio.to_thread(plan, *_place(slot))
                await self._there(self._pool.anew(slot, use))

    def listen(self, function: Callable[[Update], None]) -> None:
        """Call this, on the loop of the servers, whenever one says something of a file."""
        self._known.listen(function)

    async def close(self) -> None:
        """End them all."""
        if background.started:
            await background.ask(self._pool.close())

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        at_exit(self.close)
        return await background.ask(work)

    def _slots(self, directory: Path) -> list[Slot]:
        try:
            place = place_of(directory)
        except OSError:
            return []
        ids = {row.id for row in place.rows}
        return [slot for slot in self._pool.slots(place.worktree) if slot.use.row.id in ids]

    def _running(self, directory: Path) -> list[Slot]:
        return [slot for slot in self._slots(directory) if slot.client is not None]


async def _symbols(pool: Pool, slots: list[Slot], query: str) -> list[Symbol]:
    async def asked(slot: Slot, client: Client) -> Any:
        with pool.at_work(slot):
            return await client.request("workspace/symbol", {"query": query}, SYMBOL_SECONDS)

    found = [(slot, slot.client) for slot in slots if slot.client and slot.client.can("workspace/symbol")]
    answers = await asyncio.gather(*(asked(*one) for one in found), return_exceptions=True)
    return [symbol for answer in answers for symbol in of_workspace(answer)]


def _serves(directory: Path, path: Path | None) -> bool:
    try:
        place = place_of(directory)
    except OSError:
        return False
    if path is not None:
        return any(isinstance(use.outcome, Found) for use in uses(place, path))
    worktree = place.worktree
    return any(isinstance(plan(row, worktree, worktree).outcome, Found) for row in place.rows)


def _place(slot: Slot) -> tuple[Any, Path, Path]:
    return slot.use.row, slot.use.root, slot.use.worktree


def _changed(slot: Slot) -> None:
    for folder in slot.folders:
        bus.publish(bus.Event("lsp.updated", {}, directory=str(folder)))


service = Service()
