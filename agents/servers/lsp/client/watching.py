"""Tells language servers of changes to files that they registered for, however a file was changed."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agents.servers.lsp.client.abilities import WATCH, Abilities
from agents.servers.lsp.client.encoding import path_of, uri_of
from sessions.changes.snapshots.watching.watcher import Lost, Unwatchable, Watcher
from sessions.core.platform.stamps import Stamp, stamp
from sessions.project.search.ignoring import ignored_folders

# Which files of a folder came, changed and went, as the kernel tells (`snapshots.watching`).

Kind = Literal[1, 2, 3]
CREATED: Kind = 1
CHANGED: Kind = 2
DELETED: Kind = 3


@dataclass(frozen=True, slots=True)
class Change:
    """`kind` is the number of the protocol's FileChangeType."""

    path: Path
    kind: Kind


class Tree:
    """The files below a folder, but for what git ignores. It blocks; not for several threads at once. Raises
    Unwatchable, as does `changes`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real = Path(os.path.realpath(root))
        self._look()

    def changes(self) -> list[Change]:
        """Since the last call."""
        try:
            paths = self._watcher.changed()
        except Lost:
            before = self._files
            self._look()
            return self._differing(before)
        self._watcher.made.clear()
        return [change for path in sorted(paths) for change in self._change(path)]

    def _differing(self, before: dict[str, Stamp]) -> list[Change]:
        came, went = self._files.keys() - before.keys(), before.keys() - self._files.keys()
        kept = self._files.keys() & before.keys()
        changed = (path for path in kept if self._files[path] != before[path])
        return [
            *self._said(sorted(came), CREATED),
            *self._said(sorted(changed), CHANGED),
            *self._said(sorted(went), DELETED),
        ]

    def _look(self) -> None:
        self._watcher = Watcher(self._real, lambda below: ignored_folders(self._real, below))
        self._folders: set[str] = set()
        self._files = self._stamped(self._walk(""))

    def _stamped(self, paths: Iterable[str]) -> dict[str, Stamp]:
        return {path: self._stamp(path) for path in paths}

    def _stamp(self, path: str) -> Stamp:
        return stamp(self._real / path, follow=False)

    def _walk(self, folder: str) -> Iterator[str]:
        """The files below a folder, which is noted with those below it; all relative to the root."""
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            if not self._watcher.watches(folder):
                continue
            self._folders.add(folder)
            try:
                with os.scandir(self._real / folder) as entries:
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
                        else:
                            yield path
            except OSError:
                continue

    def _change(self, path: str) -> Iterator[Change]:
        """What has become of a path at which something happened."""
        try:
            mode = os.lstat(self._real / path).st_mode
        except OSError:
            yield from self._gone(path)
            return
        if stat.S_ISDIR(mode):
            came = [path for path in self._walk(path) if path not in self._files]
            self._files |= self._stamped(came)
            yield from self._said(came, CREATED)
        else:
            yield from self._said([path], CHANGED if path in self._files else CREATED)
            self._files[path] = self._stamp(path)

    def _gone(self, path: str) -> Iterator[Change]:
        went = {path} & self._files.keys()
        if path in self._folders:
            below = f"{path}/"
            went = {file for file in self._files if file.startswith(below)}
            self._folders -= {folder for folder in self._folders if f"{folder}/".startswith(below)}
        for file in went:
            del self._files[file]
        yield from self._said(sorted(went), DELETED)

    def _said(self, paths: list[str], kind: Kind) -> Iterator[Change]:
        return (Change(self._root / path, kind) for path in paths)


__all__ = ["CHANGED", "CREATED", "DELETED", "Change", "Tree", "Unwatchable"]


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


# Patterns of file names as language servers register them (LSP 3.17, "GlobPattern").

MAX_PATTERN = 1000
_TOKENS = re.compile(
    r"(?P<deep>(?:^|(?<=/))\*\*/)|(?P<rest>\*\*)|(?P<set>\[[!^]?[^\]/]+\])|(?P<one>.)", re.DOTALL
)
_SIMPLE = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}


@dataclass(frozen=True, slots=True)
class Glob:
    """Of paths below `base`."""

    base: Path
    pattern: re.Pattern[str]

    def matches(self, path: Path) -> bool:
        if not path.is_relative_to(self.base):
            return False
        return self.pattern.fullmatch(path.relative_to(self.base).as_posix()) is not None


def parse(glob: Any, root: Path) -> Glob | None:
    """A pattern is relative to the project's folder, to a folder of its own, or absolute; None for what is
    no pattern."""
    base: Path | None = root
    if isinstance(glob, dict):
        place = glob.get("baseUri")
        base = path_of(place.get("uri") if isinstance(place, dict) else place)
        glob = glob.get("pattern")
    if base is None or not isinstance(glob, str) or len(glob) > MAX_PATTERN:
        return None
    if glob.startswith("/"):
        base, glob = Path("/"), glob[1:]
    try:
        return Glob(base, re.compile("".join(_translated(glob))))
    except re.error:
        return None


def _translated(glob: str) -> Iterator[str]:
    depth = 0
    for token in _TOKENS.finditer(glob):
        text = token[0]
        if token["deep"]:
            yield "(?:.*/)?"
        elif token["rest"]:
            yield ".*"
        elif token["set"]:
            inside = text[1:-1].replace("\\", "\\\\")
            yield f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]"
        elif text in _SIMPLE and (text != "," or depth):
            depth += (text == "{") - (text == "}")
            yield _SIMPLE[text]
        else:
            yield re.escape(text)
