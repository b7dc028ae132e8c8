"""Tells language servers of changes to files that they registered for, however a file was changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.lsp.client.abilities import WATCH, Abilities
from agents.lsp.client.files.globs import Glob, parse
from agents.lsp.client.files.tree import CREATED, Change, Tree, Unwatchable
from agents.lsp.client.wire.places import uri_of

LOOK_SECONDS = 1.0
"""Between two looks; whoever asks a server something has a look taken before."""
FLUSH_SECONDS = 1.0
MOST_AT_ONCE = 1000
_ALL_KINDS = 7

Listener = Callable[[Sequence[Change]], None]


class Watch:
    """One for all servers of a folder; it looks while somebody listens."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listeners: list[Listener] = []
        self._tree: Tree | None = None
        self._lock = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, root: Path) -> Watch:
        return _watches.setdefault(root, cls(root))

    async def listen(self, listener: Listener) -> None:
        """Raises Unwatchable."""
        async with self._lock:
            if self._tree is None:
                self._tree = await asyncio.to_thread(Tree, self._root)
            self._listeners.append(listener)
            self._looking = self._looking or asyncio.create_task(self._look())

    def leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
        if not self._listeners and self._looking is not None:
            self._looking.cancel()
            self._looking, self._tree = None, None
            _watches.pop(self._root, None)

    async def flush(self) -> None:
        """Tell what happened up to now. Raises Unwatchable, when that is not known any longer."""
        # What was read is gone from the kernel: who is cancelled here must not take it along.
        await asyncio.shield(asyncio.create_task(self._flush()))

    async def _flush(self) -> None:
        async with self._lock:
            changes = await asyncio.to_thread(self._tree.changes) if self._tree else []
        for listener in list(self._listeners) if changes else ():
            listener(changes)

    async def _look(self) -> None:
        with suppress(Unwatchable):
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                await self.flush()


_watches: dict[Path, Watch] = {}


class Watching:
    """What one server registered for, and is told."""

    def __init__(
        self,
        root: Path,
        abilities: Abilities,
        notify: Callable[[str, Any], None],
        note: Callable[[str], None],
    ) -> None:
        self._root = root
        self._abilities = abilities
        self._notify = notify
        self._note = note
        self._globs: list[tuple[Glob, int]] = []
        self._watch: Watch | None = None
        self._starting: asyncio.Task[None] | None = None

    def registered(self) -> None:
        """What the server wants to know of has changed."""
        self._globs = [found for options in self._abilities.options(WATCH) for found in self._parsed(options)]
        if self._globs and self._starting is None:
            self._starting = asyncio.create_task(self._start())

    async def flush(self) -> None:
        """Tell the server what happened up to now, unless it takes long to find out."""
        if self._starting is None:
            return
        with suppress(Unwatchable, TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await asyncio.shield(self._starting)
                if self._watch is not None:
                    await self._watch.flush()

    def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        if self._watch is not None:
            self._watch.leave(self._tell)

    async def _start(self) -> None:
        watch = Watch.of(self._root)
        try:
            await watch.listen(self._tell)
        except Unwatchable as error:
            self._note(f"[files] it is not told of changes: {error}")
            return
        self._watch = watch

    def _parsed(self, options: dict[str, Any]) -> list[tuple[Glob, int]]:
        watchers = options.get("watchers")
        found = []
        for watcher in watchers if isinstance(watchers, list) else ():
            if isinstance(watcher, dict) and (glob := parse(watcher.get("globPattern"), self._root)):
                found.append((glob, watcher.get("kind") or _ALL_KINDS))
        return found

    def _tell(self, changes: Sequence[Change]) -> None:
        wanted = [
            {"uri": uri_of(change.path), "type": change.kind} for change in changes if self._wants(change)
        ]
        for start in range(0, len(wanted), MOST_AT_ONCE):
            self._notify(WATCH, {"changes": wanted[start : start + MOST_AT_ONCE]})

    def _wants(self, change: Change) -> bool:
        """A watcher's kinds are bits: 1 for created, 2 for changed, 4 for deleted."""
        bit = 1 << (change.kind - CREATED)
        return any(kinds & bit and glob.matches(change.path) for glob, kinds in self._globs)
