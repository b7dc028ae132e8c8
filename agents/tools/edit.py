"""`edit`: replace a piece of a file's text. Bytes outside of the piece never change."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult, by_edit
from agents.toolkit.shared import indentation, numbered, replace
from agents.toolkit.shared.paths import Target, authorise, missing
from agents.toolkit.shared.proposals import Change
from agents.tools import change
from agents.tools.change import Proposal, encoded, from_model
from sessions.core import filetext

MOST_SHOWN = 40
"""Lines of a file that are told again after an edit."""

DESCRIPTION = """\
Replace a piece of text in a file. Read the file first and copy `oldString` from it exactly, indentation \
included, without the line numbers. `oldString` must fit one place only: give enough lines around it, or set \
`replaceAll` to change every place (good for renaming). An empty `oldString` creates the file with \
`newString`. Several edits of one file may be sent at once; they are applied one after the other."""


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    file_path: str = Field(alias="filePath", description="The file, absolute or from the session's folder.")
    old_string: str = Field(alias="oldString", description="The text to replace.")
    new_string: str = Field(alias="newString", description="The text to put in its place; must differ.")
    replace_all: bool = Field(False, alias="replaceAll", description="Replace every place it fits.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Find, ask, write and report; raises ToolError when there is not one clear place for the edit."""
    old, new = from_model(args.old_string), from_model(args.new_string)
    if old == new:
        raise ToolError("oldString and newString are the same: there is nothing to change.")
    target = await authorise(ctx, args.file_path, "write")
    return await change.apply(ctx, target, lambda: _plan(ctx, target, old, new, args.replace_all))


def _plan(ctx: ToolContext, target: Target, old: str, new: str, every: bool) -> Proposal:
    before = change.current(ctx, target)
    if old == "":
        return _creation(target, before, new)
    if before is None:
        raise missing(ctx, target)
    if filetext.is_binary(before[: filetext.SAMPLE]):
        raise ToolError(f"{target.title} is a binary file; edit works on text.")
    codec = filetext.detect(before)
    raw = codec.decode(before)
    changed, told = edited(raw, old, new, every)
    return Proposal(Change(before, encoded(codec, changed), raw, changed), f"Edited {target.title}: {told}")


def edited(raw: str, old: str, new: str, every: bool) -> tuple[str, str]:
    """A file's text with one edit made, and where; raises ToolError when there is not one clear place."""
    text = raw.replace("\r\n", "\n")
    notes: list[str] = []
    try:
        strategy, spans = replace.locate(text, old, every=every)
    except ToolError:
        if (plain := numbered.plain(old)) is None:
            raise
        old, new = plain, numbered.plain(new) or new
        strategy, spans = replace.locate(text, old, every=every)
        notes.append("The line numbers of `read` in oldString were left out.")
    news = [_fitted(text, span, old, new) for span in spans]
    changed = _replaced(raw, spans, news)
    lines = ", ".join(str(replace.line_of(text, start)) for start, _ in spans[: replace.SHOWN])
    told = f"{len(spans)} place{'s' * (len(spans) > 1)} (line {lines})."
    if strategy is not replace.EXACT:
        notes.insert(0, f"oldString was not there exactly; matched by {strategy.name}.")
    if any(replace.fitted(old, text[a:b], new) != made for (a, b), made in zip(spans, news, strict=True)):
        notes.append("newString was indented as the file is.")
    if notes:
        notes.append(
            f"The lines are now:\n{_shown(changed.replace(chr(13) + chr(10), chr(10)), spans, news)}"
        )
    return changed, " ".join([told, *notes])


def _fitted(text: str, span: filetext.Span, old: str, new: str) -> str:
    """The new text as the place wants it; one that differs from what is there in its indentation alone is
    meant to change that."""
    found = text[slice(*span)]
    made = replace.fitted(old, found, new)
    before, after = found.split("\n"), made.split("\n")
    asked = old.split("\n")
    pairs = zip(asked, before, strict=True) if len(asked) == len(before) else ()
    lines = indentation.fitted(after, text.split("\n"), pairs)
    return made if lines == before else "\n".join(lines)


def _shown(text: str, spans: Sequence[filetext.Span], news: Sequence[str]) -> str:
    """The lines that were put in, with one more on each side, as `read` shows them."""
    lines = text.removesuffix("\n").split("\n")
    shown: list[int] = []
    moved = 0
    for (start, stop), new in zip(spans, news, strict=True):
        first = replace.line_of(text, start + moved)
        shown += range(max(1, first - 1), min(len(lines), first + new.count("\n") + 1) + 1)
        moved += len(new) - (stop - start)
    numbers = list(dict.fromkeys(shown))
    more = [f"(and {len(numbers) - MOST_SHOWN} more)"] if len(numbers) > MOST_SHOWN else []
    return "\n".join([*(numbered.line(at, lines[at - 1]) for at in numbers[:MOST_SHOWN]), *more])


def _creation(target: Target, before: bytes | None, new: str) -> Proposal:
    codec = filetext.detect(before or b"")
    if codec.decode(before or b""):
        raise ToolError(
            f"{target.title} is not empty. Give the text to replace as oldString, or use write for all of it."
        )
    return Proposal(Change(before, encoded(codec, new), "", new), f"Created {target.title}.")


def _replaced(raw: str, spans: list[filetext.Span], news: Sequence[str]) -> str:
    """`raw` with each span (of its text with LF only) replaced, in the line endings found there."""
    pieces, done = [], 0
    for (start, stop), new in zip(filetext.raw_spans(raw, spans), news, strict=True):
        found = raw[start:stop]
        ending = filetext.newline(found if "\n" in found else raw)
        pieces += [raw[done:start], filetext.with_newline(new, ending)]
        done = stop
    return "".join([*pieces, raw[done:]])


TOOL = Tool("edit", DESCRIPTION, Input, execute, "edit", offered=by_edit)
