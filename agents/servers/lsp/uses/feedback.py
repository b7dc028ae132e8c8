"""What language servers say of an edit, told to the model with the edit's result.

The edited files are shown to their servers, and the answer waits until these have
looked at exactly that content, but no longer than `experimental.lsp_timeout` says (milliseconds; 3000 if it
is not set, 0 does not wait). A server that has to be started first is given twice as long: the slowest that
was measured needs 5.4 s for it, once in a project, and most often not here but when the file is read. One
that is too slow, or fails, is no error of the edit.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.config.schema import Config
from agents.servers.lsp.service import service
from agents.servers.lsp.types import ERROR, Diagnostic, Update
from agents.servers.lsp.uses import columns
from agents.toolkit.base import ToolContext, ToolResult
from agents.toolkit.children.loop import background
from agents.toolkit.file_names import printable
from agents.toolkit.shared.paths import relative
from sessions.core.bounded import Bounded
from sessions.core.store.added_folders import holding

MOST_FILES = 5000

Errors = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """What one server found in one file: `content` is a hash of what it looked at, `broken` are those of the
    errors that came with the same content, the last of them at `mark`."""

    content: int | None
    errors: Errors
    broken: Errors = ()
    mark: int = 0


class Breaks:
    """Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: Bounded[tuple[Path, str], _State] = Bounded(MOST_FILES)
        self._mark = 0

    @property
    def mark(self) -> int:
        """Rises with every break."""
        return self._mark

    def hear(self, update: Update) -> None:
        key = (update.path, update.server)
        with self._lock:
            before = self._seen.pop(key, None)
            if update.content is None and not update.diagnostics:
                return  # it may be that the server was forgotten, and begins anew
            self._seen[key] = self._after(before, update)

    def since(self, mark: int, folder: Path) -> Mapping[Path, Errors]:
        """The files below a folder that were broken after a mark and still are, with these errors."""
        found: dict[Path, Errors] = {}
        with self._lock:
            for (path, _), seen in self._seen.items():
                if seen.broken and seen.mark > mark and path.is_relative_to(folder):
                    found[path] = found.get(path, ()) + seen.broken
        return dict(sorted(found.items()))

    def _after(self, before: _State | None, update: Update) -> _State:
        content = None if update.content is None else hash(update.content)
        errors = tuple(item for item in update.diagnostics if item.severity == ERROR)
        if before is None or before.content != content:
            return _State(content, errors)
        new = _without(errors, before.errors)
        self._mark += bool(new)
        kept = _without(errors, _without(errors, (*before.broken, *new)))
        return _State(content, errors, kept, self._mark if new else before.mark)


def _without(errors: Sequence[Diagnostic], others: Sequence[Diagnostic]) -> Errors:
    """Those that are not among others, wherever in the file these stand."""
    known = Counter(_same(item) for item in others)
    found = []
    for item in errors:
        if known[_same(item)] > 0:
            known[_same(item)] -= 1
        else:
            found.append(item)
    return tuple(found)


def _same(item: Diagnostic) -> tuple[str, str]:
    return item.code, item.message


breaks = Breaks()


logger = logging.getLogger(__name__)

TIMEOUT_MS = 3000
COLD = 2
"""How many times as long a server may take that has to start."""
OTHERS = 0.02
"""Seconds for what servers say of other files after the edited ones; what comes later is told with the next
edit of the session."""
READ_SECONDS = 30.0
"""For what servers say of a file that is read, beside everything: many say it only when they are asked, and
the review compares it with what they say after an edit."""
MOST_SESSIONS = 1000
GRACE = 0.5
"""Seconds more for the way to the servers and back."""
MOST_ERRORS = 20
MOST_OTHER_FILES = 5
MOST_KEPT = 100
"""Diagnostics of one file in the metadata."""
MOST_WORDS = 500
"""Characters of one message that the model is told."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Of each edited file everything and its `lines`, of other files the errors that are new."""

    edited: Mapping[Path, Errors]
    broken: Mapping[Path, Errors]
    lines: Mapping[Path, Sequence[str]]


def patience(config: Config) -> float:
    """Seconds that an edit waits for servers that run."""
    given = config.experimental.get("lsp_timeout", TIMEOUT_MS)
    return given / 1000 if isinstance(given, int | float) and 0 <= given <= 60_000 else TIMEOUT_MS / 1000


def begin_reading(ctx: ToolContext, path: Path) -> None:
    """A file is read, so it may soon be edited or asked about: show it to its servers, without waiting."""
    if ctx.turn.config.lsp:
        service.listen(breaks.hear)
        background.begin(_read(ctx, path))


def staged(ctx: ToolContext, path: Path) -> bytes | None:
    """What waits of a file in review mode; None when it is what it is on the disk. Blocks."""
    return ctx.read_file(path) if path in ctx.staged_files() else None


async def with_diagnostics(
    ctx: ToolContext, result: ToolResult, written: Mapping[Path, bytes | None]
) -> ToolResult:
    """The result of an edit with what the servers say of it. `written` are the contents by real path, None
    for a file that is gone. A stop ends the waiting, and the edit is told all the same."""
    if not ctx.turn.config.lsp:
        return result
    try:
        seen = await _look(ctx, written)
    except asyncio.CancelledError:
        if not ctx.abort.is_set():
            raise
        return result
    except Exception:
        logger.exception("language servers could not be asked about an edit")
        return result
    told = "\n".join([result.output, *_words(seen, ctx.worktree.resolve())])
    metadata = {**result.metadata, "diagnostics": _wire(seen)}
    return replace(result, output=told, metadata=metadata)


def folder_of(ctx: ToolContext, path: Path) -> Path:
    """The folder whose configuration says which servers a file (its real path) has: the session's, or the one
    beside the project that it is in, if that may be written."""
    added = holding(ctx.turn.folders, path)
    return added.path if added and added.write else ctx.directory


async def _read(ctx: ToolContext, path: Path) -> None:
    try:
        content = await asyncio.to_thread(staged, ctx, path)
        await service.touch(folder_of(ctx, path), path, wait=READ_SECONDS, content=content)
    except Exception:
        logger.exception("language servers could not be shown %s", path)


async def _look(ctx: ToolContext, written: Mapping[Path, bytes | None]) -> _Seen:
    service.listen(breaks.hear)
    since = _told.get(ctx.session_id, breaks.mark)
    found = await asyncio.gather(*(_touched(ctx, path, content) for path, content in written.items()))
    await asyncio.sleep(min(OTHERS, patience(ctx.turn.config)))
    edited = {path: diagnostics for path, diagnostics in zip(written, found, strict=True) if diagnostics}
    mark = breaks.mark
    folders = [ctx.worktree.resolve(), *(added.path for added in ctx.turn.folders if added.write)]
    broken = {path: found for folder in folders for path, found in breaks.since(since, folder).items()}
    _note(ctx.session_id, mark)
    lines = {path: columns.lines_of(written[path] or b"") for path in edited}
    return _Seen(edited, {path: found for path, found in broken.items() if path not in written}, lines)


_told: Bounded[str, int] = Bounded(MOST_SESSIONS)
"""By session: the break that it was told of last; the session that edited last comes last."""


def _note(session_id: str, mark: int) -> None:
    _told[session_id] = mark


async def _touched(ctx: ToolContext, path: Path, content: bytes | None) -> Errors:
    """In order of their places."""
    folder = folder_of(ctx, path)
    if content is None:
        await service.touch(folder, path)
        return ()
    seconds = patience(ctx.turn.config)
    if seconds and not await _warm(folder, path):
        seconds *= COLD
    try:
        async with asyncio.timeout(seconds + GRACE):
            found = await service.touch(folder, path, wait=seconds, content=content)
    except TimeoutError:
        return ()
    return tuple(sorted(found, key=lambda item: (item.range, item.severity)))


async def _warm(directory: Path, path: Path) -> bool:
    """Looked at until it is so once: a server that starts again later is no longer waited for."""
    kind = (directory, path.suffix)
    if kind not in _ran and await service.warm(directory, path):
        _ran.add(kind)
    return kind in _ran


_ran: set[tuple[Path, str]] = set()
"""The folders and kinds of files whose servers have run in this process."""


def _words(seen: _Seen, root: Path) -> Iterator[str]:
    for path, found in seen.edited.items():
        errors = [item for item in found if item.severity == ERROR]
        if errors:
            yield f"\nErrors in {relative(path, root)} as it is now, found by its language server:"
            yield from _listed(errors, seen.lines[path])
    if seen.broken:
        yield "\nNew errors in other files, whose own text did not change:"
    for path in list(seen.broken)[:MOST_OTHER_FILES]:
        yield f"{relative(path, root)}:"
        yield from _listed(seen.broken[path], ())
    if len(seen.broken) > MOST_OTHER_FILES:
        yield f"({len(seen.broken) - MOST_OTHER_FILES} more files)"


def _listed(found: Sequence[Diagnostic], lines: Sequence[str]) -> Iterator[str]:
    for item in found[:MOST_ERRORS]:
        line, column = columns.shown(item.range.start, lines)
        words = printable("; ".join(" ".join(line.split()) for line in item.message.splitlines()))
        cut = f"{words[:MOST_WORDS]}…" if len(words) > MOST_WORDS else words
        yield f"  {line}:{column} {cut}" + (f" [{printable(item.code)[:80]}]" if item.code else "")
    if len(found) > MOST_ERRORS:
        yield f"  ({len(found) - MOST_ERRORS} more)"


def _wire(seen: _Seen) -> dict[str, list[dict[str, Any]]]:
    """In OpenCode's shape: the protocol's diagnostics by path."""
    files = {**seen.edited, **dict(list(seen.broken.items())[:MOST_OTHER_FILES])}
    return {
        printable(str(path)): [_diagnostic(item) for item in found[:MOST_KEPT]]
        for path, found in files.items()
    }


def _diagnostic(item: Diagnostic) -> dict[str, Any]:
    named = {"code": item.code, "source": item.source or item.server}
    given = {name: value for name, value in named.items() if value}
    return {"range": item.range.wire(), "severity": item.severity, "message": item.message, **given}
