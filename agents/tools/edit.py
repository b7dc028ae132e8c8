"""`edit`: replace a piece of a file's text. Bytes outside of the piece never change."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agents.tools.base import Tool, ToolContext, ToolError, ToolResult, by_edit
from agents.tools.shared import change, filetext, replace
from agents.tools.shared.change import Proposal
from agents.tools.shared.paths import Target, authorise, missing
from agents.tools.shared.proposals.content import Change

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
    old, new = filetext.from_model(args.old_string), filetext.from_model(args.new_string)
    if old == new:
        raise ToolError("oldString and newString are the same: there is nothing to change.")
    target = await authorise(ctx, args.file_path, "write")
    return await change.apply(ctx, target, lambda: _plan(ctx, target, old, new, args.replace_all))


def _plan(ctx: ToolContext, target: Target, old: str, new: str, every: bool) -> Proposal:
    before = change.current(ctx, target)
    if old == "":
        return _creation(target, before, new)
    if before is None:
        raise missing(target)
    if filetext.is_binary(before[: filetext.SAMPLE]):
        raise ToolError(f"{target.title} is a binary file; edit works on text.")
    codec = filetext.detect(before)
    raw = codec.decode(before)
    changed, told = edited(raw, old, new, every)
    return Proposal(Change(before, codec.encode(changed), raw, changed), f"Edited {target.title}: {told}")


def edited(raw: str, old: str, new: str, every: bool) -> tuple[str, str]:
    """A file's text with one edit made, and where; raises ToolError when there is not one clear place."""
    text = raw.replace("\r\n", "\n")
    strategy, spans = replace.locate(text, old, every=every)
    lines = ", ".join(str(replace.line_of(text, start)) for start, _ in spans[: replace.SHOWN])
    told = f"{len(spans)} place{'s' * (len(spans) > 1)} (line {lines})."
    if strategy is not replace.EXACT:
        told += f" oldString was not there exactly; matched by {strategy.name}. Check the result."
    return _replaced(raw, text, spans, old, new), told


def _creation(target: Target, before: bytes | None, new: str) -> Proposal:
    if before:
        raise ToolError(
            f"{target.title} is not empty. Give the text to replace as oldString, or use write for all of it."
        )
    return Proposal(Change(before, new.encode(), "", new), f"Created {target.title}.")


def _replaced(raw: str, text: str, spans: list[filetext.Span], old: str, new: str) -> str:
    """`raw` with each span (of `text`, which has LF only) replaced, in the line endings found there."""
    pieces, done = [], 0
    for (start, stop), (raw_start, raw_stop) in zip(spans, filetext.raw_spans(raw, spans), strict=True):
        found = raw[raw_start:raw_stop]
        ending = filetext.newline(found if "\n" in found else raw)
        fitted = replace.fitted(old, text[start:stop], new)
        pieces += [raw[done:raw_start], filetext.with_newline(fitted, ending)]
        done = raw_stop
    return "".join([*pieces, raw[done:]])


TOOL = Tool("edit", DESCRIPTION, Input, execute, "edit", offered=by_edit)
