"""`multiedit`: several edits of one file, made one after the other, all or none."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult, by_edit, by_request
from agents.toolkit.shared.paths import Target, authorise, missing
from agents.toolkit.shared.proposals import Change
from agents.toolkit.turn import Turn
from agents.tools import change
from agents.tools.change import Proposal, encoded, from_model
from agents.tools.edit import edited
from sessions.core import filetext

DESCRIPTION = """\
Make several edits in one file at once. They are applied in order, each to the result of the one before, \
and all or none of them: if one does not fit, the file stays as it is. The rules of `edit` hold for each. To \
create a file, let the first edit have an empty `oldString`."""


class Edit(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    old_string: str = Field(alias="oldString", description="The text to replace.")
    new_string: str = Field(alias="newString", description="The text to put in its place; must differ.")
    replace_all: bool = Field(False, alias="replaceAll", description="Replace every place it fits.")


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    file_path: str = Field(alias="filePath", description="The file, absolute or from the session's folder.")
    edits: list[Edit] = Field(min_length=1, description="The edits in the order to make them.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Make all edits in memory, ask once, write once; raises ToolError that names the edit that failed."""
    target = await authorise(ctx, args.file_path, "write")
    return await change.apply(ctx, target, lambda: _plan(ctx, target, args.edits))


def _plan(ctx: ToolContext, target: Target, edits: Sequence[Edit]) -> Proposal:
    before = change.current(ctx, target)
    if before is None and edits[0].old_string:
        raise missing(ctx, target)
    if before and filetext.is_binary(before[: filetext.SAMPLE]):
        raise ToolError(f"{target.title} is a binary file; multiedit works on text.")
    codec = filetext.detect(before or b"")
    raw = codec.decode(before or b"")
    text, told = raw, list[str]()
    for number, edit in enumerate(edits, 1):
        try:
            text, words = _made(text, edit)
        except ToolError as error:
            raise ToolError(f"Edit {number} of {len(edits)} failed, nothing was changed. {error}") from error
        told.append(f"{number}. {words}")
    if text == raw:
        raise ToolError("All edits together change nothing.")
    words = "\n".join([f"Edited {target.title}:", *told])
    return Proposal(Change(before, encoded(codec, text), raw, text), words)


def _made(text: str, edit: Edit) -> tuple[str, str]:
    old, new = from_model(edit.old_string), from_model(edit.new_string)
    if old == new:
        raise ToolError("oldString and newString are the same.")
    if old == "":
        if text:
            raise ToolError("The file is not empty: oldString must name the text to replace.")
        return new, "created."
    return edited(text, old, new, edit.replace_all)


def offered(turn: Turn) -> bool:
    return by_edit(turn) and by_request("multiedit")(turn)


TOOL = Tool("multiedit", DESCRIPTION, Input, execute, "edit", offered)
