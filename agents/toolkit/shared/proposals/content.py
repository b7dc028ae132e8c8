"""A change of one file as bytes and as text, and how a request and a card show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.toolkit.base import ToolContext
from agents.toolkit.file_names import printable
from agents.toolkit.shared.paths import Target
from sessions.changes.diffs.lines import count, diff_text

KEPT_TEXT = 32 * 1024
"""Characters up to which the metadata carry the texts themselves; beyond that, their addresses."""
MAX_DIFF = 256 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """A file's bytes before (None: there is none yet) and after (None: it goes), and both as text."""

    before: bytes | None
    after: bytes | None
    old: str
    new: str

    def withheld(self) -> Change:
        """The same file left alone."""
        return Change(self.before, self.before, self.old, self.old)


def describe(ctx: ToolContext, target: Target, change: Change, room: int = KEPT_TEXT) -> dict[str, Any]:
    """The change as the request and the card show it: path, diff, counts, and both texts, or, with more than
    `room` characters, the addresses of both (UTF-8; empty for no file). Blocks."""
    old, new = visible(change.old), visible(change.new)
    additions, deletions = count(old, new)
    filediff: dict[str, Any] = {"file": target.title, "additions": additions, "deletions": deletions}
    if len(old) + len(new) <= room:
        filediff |= {"before": old, "after": new}
    else:
        filediff["beforeObject"] = ctx.keep(old.encode()) if change.before is not None else ""
        filediff["afterObject"] = ctx.keep(new.encode()) if change.after is not None else ""
    before = old if change.before is not None else None
    after = new if change.after is not None else None
    return {
        "filepath": named(target),
        "diff": bounded(diff_text(before, after, target.title), MAX_DIFF),
        "filediff": filediff,
        "exists": change.before is not None,
    }


def named(target: Target) -> str:
    """How a request names a file, and an answer to it."""
    return printable(str(target.path))


def visible(text: str) -> str:
    """Text that can be stored and sent: bytes that are no UTF-8 become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def bounded(diff: str, most: int) -> str:
    """A diff short enough to store or to tell; cut at a line, saying so."""
    if len(diff) <= most:
        return diff
    kept = diff[: diff.rfind("\n", 0, most) + 1]
    return f"{kept}\\ {diff.count(chr(10)) - kept.count(chr(10))} more lines of this diff are not shown.\n"
