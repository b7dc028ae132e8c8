"""The one way a tool changes a file: show the diff, ask `edit`, write through the ledger.

Source: seed 004 §7.4 (the request shows what would be done), design law 7.
"""

from __future__ import annotations

import asyncio
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from agents.tools.base import FileWrite, ToolContext, ToolError
from agents.tools.shared import filetext
from agents.tools.shared.names import printable
from agents.tools.shared.paths import Target, explained
from sessions.diffs.unified import count, diff_text

MAX_BYTES = 50 * 1024 * 1024
KEPT_TEXT = 32 * 1024
"""Characters up to which the metadata carry the texts themselves; the ledger has them in any case."""
MAX_DIFF = 256 * 1024

_locks: WeakValueDictionary[tuple[str, Path], asyncio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Change:
    """A file's bytes before (None: there is none yet) and after (None: it goes), and both as text."""

    before: bytes | None
    after: bytes | None
    old: str
    new: str


def lock(ctx: ToolContext, path: Path) -> asyncio.Lock:
    """One lock for each file in a session, so that parallel calls change it one after the other."""
    return _locks.setdefault((ctx.session_id, path), asyncio.Lock())


def current(target: Target) -> bytes | None:
    """The file's bytes, None when it does not exist. Raises ToolError for anything but a regular file."""
    with explained(target.title):
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
        return target.path.read_bytes()


async def apply(ctx: ToolContext, target: Target, change: Change) -> dict[str, Any]:
    """Ask for the change, make it, and give the metadata for the card."""
    metadata = await asyncio.to_thread(describe, target, change)
    asked = {key: value for key, value in metadata.items() if key != "exists"}
    await ctx.ask("edit", target.patterns, always=["*"], metadata=asked)
    with explained(target.title):
        (made,) = await ctx.write_files([FileWrite(target.path, change.after, change.before)])
    if made is None or made == change.after:
        return metadata
    formatted = replace(change, after=made, new=filetext.detect(made).decode(made))
    return await asyncio.to_thread(describe, target, formatted) | {"formatted": True}


def describe(target: Target, change: Change) -> dict[str, Any]:
    """The change as the request and the card show it: path, diff, counts, the texts if they are short."""
    old, new = _visible(change.old), _visible(change.new)
    additions, deletions = count(old, new)
    filediff: dict[str, Any] = {"file": target.title, "additions": additions, "deletions": deletions}
    if len(old) + len(new) <= KEPT_TEXT:
        filediff |= {"before": old, "after": new}
    before = old if change.before is not None else None
    after = new if change.after is not None else None
    return {
        "filepath": printable(str(target.path)),
        "diff": _cut(diff_text(before, after, target.title)),
        "filediff": filediff,
        "exists": change.before is not None,
    }


def _cut(diff: str) -> str:
    """A diff short enough to store with the call; cut at a line, saying so."""
    if len(diff) <= MAX_DIFF:
        return diff
    kept = diff[: diff.rindex("\n", 0, MAX_DIFF) + 1]
    return f"{kept}\\ {diff.count(chr(10)) - kept.count(chr(10))} more lines of this diff are not shown.\n"


def _visible(text: str) -> str:
    """Text that can be stored and sent: bytes that are no UTF-8 become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
