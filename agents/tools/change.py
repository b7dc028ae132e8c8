"""The one way a tool changes a file: show the diff, ask `edit`, write through the ledger."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from agents.servers.lsp.uses.feedback import with_diagnostics
from agents.toolkit.base import FileWrite, ToolContext, ToolError, ToolResult
from agents.toolkit.shared.beside import rebased, require_unchanged, seen
from agents.toolkit.shared.beside import told as told_beside
from agents.toolkit.shared.paths import Target, explained
from agents.toolkit.shared.proposals import Change, allowed, applied, describe, named, told
from sessions.core import filetext

MAX_BYTES = 50 * 1024 * 1024

_locks: WeakValueDictionary[tuple[str, Path], asyncio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of one file, and how the model is told of it once it is made."""

    change: Change
    told: str


def lock(ctx: ToolContext, path: Path) -> asyncio.Lock:
    """One lock for each file in a session, so that parallel calls change it one after the other."""
    return _locks.setdefault((ctx.session_id, path), asyncio.Lock())


def from_model(text: str) -> str:
    """Text of a model as it is compared and written: no mark, LF. Raises ToolError for half characters."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"The text has half a character (a lone surrogate) at {error.start}.") from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def encoded(codec: filetext.Codec, text: str) -> bytes:
    """Raises ToolError for characters that the file's encoding has not."""
    try:
        return codec.encode(text)
    except filetext.Unencodable as error:
        raise ToolError(str(error)) from error


def current(ctx: ToolContext, target: Target) -> bytes | None:
    """The file's bytes as the session sees it, None when it does not exist. Raises ToolError for anything but
    a regular file. Blocks."""
    with explained(target.title):
        if target.path in ctx.staged_files():
            return ctx.read_file(target.path)
        try:
            status = target.path.stat()
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{target.title} is a directory, not a file.")
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{target.title} is no regular file (a device, pipe or socket).")
        if status.st_size > MAX_BYTES:
            raise ToolError(f"{target.title} is too large to change with this tool ({status.st_size} bytes).")
        return ctx.read_file(target.path)


async def apply(ctx: ToolContext, target: Target, plan: Callable[[], Proposal]) -> ToolResult:
    """Ask for the change that `plan` works out (it may block), make it as it was allowed, and tell of it."""
    async with lock(ctx, target.path):
        proposal, approval = await allowed(
            ctx,
            target.patterns,
            plan,
            lambda planned: _asked(ctx, target, planned.change),
            lambda planned: outdated(ctx, target, planned.change),
        )
        proposed = proposal.change
        change = applied(proposed, approval.contents, named(target))
        made, beside = await _written(ctx, target, change) if change else (proposed.withheld(), "")
    metadata = await asyncio.to_thread(describe, ctx, target, made)
    if change and made.before == change.before and made.after != change.after:
        metadata["formatted"] = True
    words = told(proposed, change, target.title)
    if words:
        metadata["edited"] = True
    said = [f"The user said: {approval.words}"] if approval.words else []
    metadata["diagnostics"] = {}
    output = "\n".join([words or proposal.told, *said, *filter(None, [beside])])
    result = ToolResult(target.title, output, metadata)
    return await with_diagnostics(ctx, result, {target.path: made.after}) if change else result


def outdated(ctx: ToolContext, target: Target, change: Change) -> bool:
    """Whether a change cannot be made any more as it was planned: its lines are others now. Blocks."""
    try:
        rebased(FileWrite(target.path, change.after, change.before), current(ctx, target))
    except ToolError:
        return True
    return False


def onto_seen(ctx: ToolContext, target: Target, change: Change) -> Change:
    """A change of a whole file, made from what the session last saw of it, onto the file as it is now. Raises
    ToolError where others have changed the same lines. Blocks."""
    if change.before is None:
        return change
    known = seen(ctx.session_id, target.path)
    if known is None:
        require_unchanged(ctx.session_id, target.path, target.title, change.before)
    if known is None or known == change.before:
        return change
    made = rebased(FileWrite(target.path, change.after, known), change.before)
    return as_made(change, made)


def as_made(change: Change, made: FileWrite) -> Change:
    """A change as it was made: others' lines are on both sides, and formatters may have gone on from it."""
    if (made.expected, made.content) == (change.before, change.after):
        return change
    old, new = (_text(content) for content in (made.expected, made.content))
    return Change(made.expected, made.content, old, new)


def _text(content: bytes | None) -> str:
    return filetext.detect(content).decode(content) if content is not None else ""


async def _written(ctx: ToolContext, target: Target, change: Change) -> tuple[Change, str]:
    """The change as it was made, and what to tell the model of others' changes beside it."""
    with explained(target.title):
        (made,) = await ctx.write_files([FileWrite(target.path, change.after, change.before)])
    beside = await asyncio.to_thread(told_beside, ctx.session_id, target.title, made)
    return as_made(change, made), beside


def _asked(ctx: ToolContext, target: Target, change: Change) -> dict[str, Any]:
    shown = describe(ctx, target, change)
    del shown["exists"]
    return shown
