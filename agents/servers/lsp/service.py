"""The language servers of all projects: one door for tools, pages and the protocol.

Methods may be called from any loop, those that are no coroutines from any thread. Language servers are off
unless the configuration of a folder has `lsp`; then everything here answers with nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agents.servers.lsp.client.client import Client
from agents.servers.lsp.client.documents import MAX_BYTES
from agents.servers.lsp.finding import Found
from agents.servers.lsp.outline import of_document, of_workspace
from agents.servers.lsp.plan import Place, Use, place_of, plan, uses
from agents.servers.lsp.pool import IDLE_SECONDS, MOST, Known, Pool
from agents.servers.lsp.slot import Slot
from agents.servers.lsp.types import Diagnostic, Failed, ServerState, Symbol, Update
from agents.toolkit.children.loop import at_exit, background
from sessions.core import bus
from sessions.core.sentences import Sentence

# What the servers of a file are told and asked. `prepare` reads the disk, the rest is for their loop.


@dataclass(frozen=True, slots=True)
class Errand:
    """A file as its servers are to see it: `content` is None when it is gone or too long, `saved` says
    whether the disk holds the same. Of two errands the later one has the higher `ticket`."""

    place: Place
    uses: Sequence[Use]
    path: Path
    content: bytes | None
    saved: bool
    ticket: int


def prepare(directory: Path, path: Path, content: bytes | None, ticket: int) -> Errand | None:
    """None for a folder that is not there."""
    try:
        place = place_of(directory)
    except OSError:
        return None
    file = path if path.is_relative_to(place.worktree) else path.resolve()
    found = uses(place, file)
    on_disk = _read(file) if found else None
    told = on_disk if content is None else content
    return Errand(place, found, file, told, told == on_disk, ticket)


def _read(file: Path) -> bytes | None:
    with suppress(OSError):
        if file.is_file() and file.stat().st_size <= MAX_BYTES:
            return file.read_bytes()
    return None


async def touch(pool: Pool, errand: Errand, wait: float) -> tuple[Diagnostic, ...]:
    """Tell all servers; what they say of it within `wait` seconds. A server that takes longer is told all the
    same, when it has started."""
    end = time.monotonic() + wait
    slots = await _slots(pool, errand)
    tasks = [asyncio.create_task(_tell(pool, slot, errand, end)) for slot in slots]
    if not tasks:
        return ()
    _pending.update(tasks)
    for task in tasks:
        task.add_done_callback(_pending.discard)
    done, _ = await asyncio.wait(tasks, timeout=wait)
    return tuple(one for task in tasks if task in done for one in task.result())


_pending: set[asyncio.Task[tuple[Diagnostic, ...]]] = set()
"""Kept, as the loop itself holds tasks weakly."""


async def _slots(pool: Pool, errand: Errand) -> list[Slot]:
    await pool.keep(errand.place.worktree, (row.id for row in errand.place.rows))
    return [pool.slot(use, errand.place.directory) for use in errand.uses]


async def _tell(pool: Pool, slot: Slot, errand: Errand, end: float) -> tuple[Diagnostic, ...]:
    """What a server says of a file until a time of `time.monotonic`."""
    path = errand.path
    try:
        with pool.at_work(slot):
            client = await pool.client(slot)
            if client is None or not slot.is_newer(path, errand.ticket):
                return ()
            if errand.content is None:
                client.close(path)
                return ()
            version = client.open(path, errand.content, saved=errand.saved)
            left = end - time.monotonic()
            return await client.diagnostics(path, version, left) if left > 0 else ()
    except Failed as failure:
        logger.info("%s was not told of %s: %s", slot.use.row.id, path, failure)
        return ()
    except Exception:
        logger.exception("%s was not told of %s", slot.use.row.id, path)
        return ()


async def ask(pool: Pool, errand: Errand, method: str, params: Any, within: float) -> list[tuple[str, Any]]:
    """(server, result) of those that answered. Raises Failed when there were servers and none did."""
    slots = await _slots(pool, errand)
    asked = (_asked(pool, slot, errand, method, params, within) for slot in slots)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    results: list[tuple[str, Any]] = []
    failures: list[str] = []
    for slot, answer in zip(slots, answers, strict=True):
        if not isinstance(answer, BaseException):
            results.append((slot.use.row.id, answer))
        elif isinstance(answer, Failed | TimeoutError):
            failures.append(f"{slot.use.row.id}: {str(answer) or 'it took too long'}")
        else:
            raise answer
    if failures and not results:
        raise Failed("\n".join(failures))
    return results


async def _asked(pool: Pool, slot: Slot, errand: Errand, method: str, params: Any, within: float) -> Any:
    end = time.monotonic() + within
    async with asyncio.timeout(within):
        with pool.at_work(slot):
            client = await pool.client(slot)
            if client is None:
                raise Failed(slot.reason or Sentence("it does not run"))
            if not client.can(method):
                raise Failed(Sentence("it does not answer %(method)s", method=method))
            if errand.content is not None and slot.is_newer(errand.path, errand.ticket):
                client.open(errand.path, errand.content, saved=errand.saved)
            return await client.request(method, params, max(end - time.monotonic(), 0.001))


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
