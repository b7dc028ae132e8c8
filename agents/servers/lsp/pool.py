"""All language servers of this process: at most so many run at once, and none that nobody needs."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.client import Client
from agents.servers.lsp.finding import Found
from agents.servers.lsp.plan import Use
from agents.servers.lsp.slot import Slot, start
from agents.servers.lsp.types import Diagnostic, Update
from sessions.core.sentences import Sentence

MOST = 10
"""Processes at once: a type checker holds 200 MB, TypeScript's 500 MB."""
IDLE_SECONDS = 900.0

Key = tuple[Path, str]


class Pool:
    """Use it on the loop of the servers; `slots` may be read from any thread."""

    def __init__(
        self, known: Known, changed: Callable[[Slot], None], most: int = MOST, idle: float = IDLE_SECONDS
    ) -> None:
        self._known = known
        self._changed = changed
        self._most = most
        self._idle = idle
        self._slots: dict[Key, Slot] = {}
        self._admitted: set[Slot] = set()
        self._freed = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()

    def slots(self, worktree: Path | None) -> list[Slot]:
        """Of a worktree, or all (None)."""
        return [slot for slot in tuple(self._slots.values()) if worktree in (None, slot.use.worktree)]

    def slot(self, use: Use, folder: Path) -> Slot:
        """The one of a server in a root. One that was set up differently ends."""
        key = use.root, use.row.id
        found = self._slots.get(key)
        if found is not None and _differs(found.use, use):
            self.drop(found, Sentence("its configuration has changed"))
            found = None
        slot = found or self._slots.setdefault(key, Slot(use, self._told))
        slot.use = use
        slot.folders.add(folder)
        return slot

    async def client(self, slot: Slot) -> Client | None:
        """Started if need be; None when it cannot run."""
        return await slot.ready(self._begin)

    def runs(self, use: Use) -> bool:
        """From any thread."""
        slot = self._slots.get((use.root, use.row.id))
        return slot is not None and slot.client is not None

    async def anew(self, slot: Slot, use: Use) -> None:
        """End a server, if it runs, and start it."""
        slot.forgive()
        slot.use = use
        await slot.end("idle", "")  # while it does, somebody else may start it
        await slot.ready(self._begin)

    async def keep(self, worktree: Path, ids: Iterable[str]) -> None:
        """End the servers of a worktree whose configuration no longer has them."""
        wanted = set(ids)
        for slot in self.slots(worktree):
            if slot.use.row.id not in wanted:
                self.drop(slot, Sentence("it was switched off"))

    async def forget(self, worktree: Path | None) -> None:
        """End the servers of a worktree, or all (None)."""
        for slot in self.slots(worktree):
            self.drop(slot, "")

    def drop(self, slot: Slot, reason: str) -> None:
        """Forget a server and what it said."""
        self._slots.pop((slot.use.root, slot.use.row.id), None)
        self._known.forget(slot.use.root, slot.use.row.id)
        self._later(slot.end("idle", reason))

    async def close(self) -> None:
        slots = list(self._slots.values())
        self._slots.clear()
        await asyncio.gather(*(slot.end("idle", "") for slot in slots), *self._ending, return_exceptions=True)

    @contextmanager
    def at_work(self, slot: Slot) -> Iterator[None]:
        """While the process of a slot must not be ended for another one."""
        slot.in_use += 1
        try:
            yield
        finally:
            slot.in_use -= 1
            slot.used = time.monotonic()
            self._freed.set()

    async def _begin(self, slot: Slot, found: Found) -> Client:
        """Wait for room, then start. Raises Failed."""
        while len(self._admitted) >= self._most:
            if not self._make_room():
                self._freed.clear()
                await self._freed.wait()
        self._admitted.add(slot)
        self._known.forget(slot.use.root, slot.use.row.id)
        client = await start(slot.use, found)
        client.listeners.append(self._known.take)
        slot.used = time.monotonic()
        self._watch(slot, self._idle)
        return client

    def _make_room(self) -> bool:
        """End the one that was used longest ago, of those that nobody is at work with."""
        spare = [slot for slot in self._admitted if slot.spare]
        if not spare:
            return False
        last = min(spare, key=lambda slot: slot.used)
        self._admitted.discard(last)
        self._later(
            last.end("idle", Sentence("Ended to make room: at most %(most)s run at once.", most=self._most))
        )
        return True

    def _told(self, slot: Slot) -> None:
        if slot.status not in ("starting", "connected"):
            self._admitted.discard(slot)
            self._freed.set()
        self._changed(slot)

    def _watch(self, slot: Slot, seconds: float) -> None:
        if slot.timer is not None:
            slot.timer.cancel()
        slot.timer = asyncio.get_running_loop().call_later(seconds, self._look, slot)

    def _look(self, slot: Slot) -> None:
        if slot.client is None:
            return
        left = slot.used + self._idle - time.monotonic()
        if left > 0 or slot.in_use:
            self._watch(slot, max(left, 1.0))
        else:
            self._later(
                slot.end(
                    "idle",
                    Sentence("Ended: not needed for %(minutes)s minutes.", minutes=f"{self._idle / 60:.0f}"),
                )
            )

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _differs(one: Use, other: Use) -> bool:
    return (one.row, one.worktree) != (other.row, other.worktree)


logger = logging.getLogger(__name__)

Listener = Callable[[Update], None]
Said = dict[Path, tuple[Diagnostic, ...]]


class Known:
    """Kept while a server rests, dropped when it is started anew. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: dict[tuple[Path, str], Said] = {}
        self._listeners: list[Listener] = []

    def listen(self, function: Listener) -> None:
        if function not in self._listeners:
            self._listeners.append(function)

    def take(self, update: Update) -> None:
        """A listener that raises is logged, and the others are told."""
        with self._lock:
            said = self._said.setdefault((update.root, update.server), {})
            if update.diagnostics:
                said[update.path] = update.diagnostics
            else:
                said.pop(update.path, None)
        for listener in self._listeners:
            try:
                listener(update)
            except Exception:
                logger.exception("what a language server said was not taken in")

    def forget(self, root: Path, server: str) -> None:
        """The listeners learn that nothing is known of the files any longer."""
        with self._lock:
            said = self._said.pop((root, server), {})
        for path in said:
            self.take(Update(root, server, path, (), None))

    def of(self, worktree: Path) -> Mapping[Path, tuple[Diagnostic, ...]]:
        """By file, all servers together."""
        found: dict[Path, list[Diagnostic]] = defaultdict(list)
        with self._lock:
            for (root, _), said in self._said.items():
                if root.is_relative_to(worktree):
                    for path, diagnostics in said.items():
                        found[path] += diagnostics
        return {path: tuple(diagnostics) for path, diagnostics in found.items()}
