"""The one way a tool changes a file: show the diff, ask `edit`, write through the ledger.

Source: seed 004 §7.4 (the request shows what would be done), design law 7.
"""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from agents.lsp.uses.feedback import with_diagnostics
from agents.tools.base import FileWrite, ToolContext, ToolError, ToolResult
from agents.tools.shared import filetext
from agents.tools.shared.paths import Target, explained
from agents.tools.shared.proposals.asking import allowed
from agents.tools.shared.proposals.content import Change, describe, named
from agents.tools.shared.proposals.edited import applied, told

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
            lambda planned: current(ctx, target) != planned.change.before,
        )
        proposed = proposal.change
        change = applied(proposed, approval.contents, named(target))
        made = await _written(ctx, target, change) if change else proposed.withheld()
    metadata = await asyncio.to_thread(describe, ctx, target, made)
    if change and made.after != change.after:
        metadata["formatted"] = True
    words = told(proposed, change, target.title)
    if words:
        metadata["edited"] = True
    said = [f"The user said: {approval.words}"] if approval.words else []
    metadata["diagnostics"] = {}
    result = ToolResult(target.title, "\n".join([words or proposal.told, *said]), metadata)
    return await with_diagnostics(ctx, result, {target.path: made.after}) if change else result


async def _written(ctx: ToolContext, target: Target, change: Change) -> Change:
    """The change as it was made: formatters may have gone on from it."""
    with explained(target.title):
        (made,) = await ctx.write_files([FileWrite(target.path, change.after, change.before)])
    if made is None or made == change.after:
        return change
    return replace(change, after=made, new=filetext.detect(made).decode(made))


def _asked(ctx: ToolContext, target: Target, change: Change) -> dict[str, Any]:
    shown = describe(ctx, target, change)
    del shown["exists"]
    return shown
