"""Propose a change of files and wait for the yes; if a file changes meanwhile, propose anew.

A person may change a proposal before allowing it. They see text with LF where a file has CRLF, and
replacement characters where it has bytes that are no text: what they left alone is written as it was, byte
for byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agents.toolkit.base import Approval, ToolContext, ToolError
from agents.toolkit.file_names import printable
from agents.toolkit.permission.errors import Outdated
from agents.toolkit.shared.paths import Target
from sessions.changes.diffs.endings import as_in_file, editable
from sessions.changes.diffs.lines import count, diff_text
from sessions.core import filetext

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
    old, new = editable(change.old), editable(change.new)
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


def bounded(diff: str, most: int) -> str:
    """A diff short enough to store or to tell; cut at a line, saying so."""
    if len(diff) <= most:
        return diff
    kept = diff[: diff.rfind("\n", 0, most) + 1]
    return f"{kept}\\ {diff.count(chr(10)) - kept.count(chr(10))} more lines of this diff are not shown.\n"


MOST_TOLD = 8000
"""Characters of the diff that the model is shown."""

CHANGED = "The user changed this edit before allowing it."
TAKEN_OUT = "The user took this change out before allowing the rest: nothing was applied."


def applied(change: Change, contents: Mapping[str, str | None], name: str) -> Change | None:
    """The change to make in place of the proposed one, the same when they left it as it was; None: leave the
    file alone. Raises ToolError for text that the file's encoding cannot hold."""
    if name not in contents:
        return change
    text = contents[name]
    if text is None:
        return None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if text == editable(change.new).removeprefix("\ufeff").replace("\r\n", "\n"):
        return change
    if change.before is None and not text:
        return None
    ending = filetext.newline(change.new if change.after else change.old)
    made = as_in_file(text, (change.old, change.new), ending)
    try:
        return replace(change, after=_encoded(change, made), new=made)
    except filetext.Unencodable as error:
        raise ToolError(str(error)) from error


def told(change: Change, made: Change | None, title: str) -> str:
    """For the model: what the user made of a proposal; empty when it was applied as proposed."""
    if made is change:
        return ""
    if made is None or made.after == made.before:
        return f"{title}: {TAKEN_OUT} Do not make it again unless they ask for it."
    proposed = editable(change.new) if change.after is not None else None
    diff = bounded(diff_text(proposed, editable(made.new), title), MOST_TOLD)
    return (
        f"{title}: {CHANGED} The file has what they made of it; do not put your version back. "
        f"From what you proposed to what was applied:\n{diff}"
    )


def _encoded(change: Change, text: str) -> bytes:
    """In the encoding of the file, else in that of the proposal."""
    codecs = [filetext.detect(data) for data in (change.old and change.before, change.after) if data]
    for codec in codecs[:-1]:
        try:
            return codec.encode(text)
        except filetext.Unencodable:
            continue
    return (codecs[-1] if codecs else filetext.Codec()).encode(text)


ROUNDS = 5
"""How often a change is proposed anew before the call gives up."""

Planned = TypeVar("Planned")

_planners = ThreadPoolExecutor(2, "plan")
"""Apart from the threads that every tool goes through: a search for what is not there takes its time, also
after a stop."""


async def allowed(
    ctx: ToolContext,
    patterns: Sequence[str],
    plan: Callable[[], Planned],
    describe: Callable[[Planned], Mapping[str, Any]],
    outdated: Callable[[Planned], bool],
) -> tuple[Planned, Approval]:
    """What was allowed at last, and how.

    `plan` works out the change from the files as they are, `describe` gives the metadata of the request (with
    `again` from the second time on), `outdated` tells whether the files are no longer what the plan was made
    from; all three may block. Raises what `plan` raises, PermissionDenied, PermissionRejected, and ToolError
    when the files do not come to rest.
    """
    for number in range(ROUNDS):
        planned = await _in_pool(_plan, plan, bool(number))
        metadata = dict(await asyncio.to_thread(describe, planned))
        if number:
            metadata["again"] = number
        try:
            approval = await ctx.ask(
                "edit",
                patterns,
                always=["*"],
                metadata=metadata,
                outdated=lambda planned=planned: _is_outdated(outdated, planned),  # type: ignore[misc]
            )
        except Outdated:
            continue
        return planned, approval
    raise ToolError(
        f"Nothing was changed: the file changed {ROUNDS} times while this waited for approval. Read it again."
    )


async def _in_pool(function: Callable[..., Planned], *arguments: Any) -> Planned:
    run = copy_context().run
    return await asyncio.get_running_loop().run_in_executor(_planners, run, function, *arguments)


def _plan(plan: Callable[[], Planned], again: bool) -> Planned:
    try:
        return plan()
    except ToolError as error:
        if not again:
            raise
        words = "The file changed while this edit waited for approval, and the edit no longer fits."
        raise ToolError(f"{words} Nothing was changed by it. {error}") from error


def _is_outdated(outdated: Callable[[Planned], bool], planned: Planned) -> bool:
    try:
        return outdated(planned)
    except ToolError:  # it cannot be read any more; planning anew says why
        return True
