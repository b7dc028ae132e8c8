"""`write`: the whole content of a file, new or replaced."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agents.toolkit.base import Tool, ToolContext, ToolResult, by_edit
from agents.toolkit.shared.paths import Target, authorise
from agents.toolkit.shared.proposals import Change
from agents.tools import change
from agents.tools.change import Proposal, from_model
from sessions.core import filetext

DESCRIPTION = """\
Write a whole file. A file that is there is replaced, its line endings and byte order mark kept; missing \
folders are made. To change a part of a file use `edit`: it is shorter and safer. Read a file before you \
replace it. Write documentation files only when asked to."""


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    file_path: str = Field(alias="filePath", description="The file, absolute or from the session's folder.")
    content: str = Field(description="The full new content.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask, write and report; raises ToolError when the file cannot be written."""
    text = from_model(args.content)
    target = await authorise(ctx, args.file_path, "write")
    return await change.apply(ctx, target, lambda: _plan(ctx, target, args.content, text))


def _plan(ctx: ToolContext, target: Target, content: str, text: str) -> Proposal:
    made = change.onto_seen(ctx, target, _made(change.current(ctx, target), content, text))
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    verb = "Created" if made.before is None else "Replaced"
    return Proposal(made, f"{verb} {target.title} ({lines} lines).")


def _made(before: bytes | None, content: str, text: str) -> Change:
    if not before or filetext.is_binary(before[: filetext.SAMPLE]):
        # Nothing to keep: the content goes in exactly as it was given.
        return Change(before, content.encode(), "", content)
    codec = filetext.detect(before)
    old = codec.decode(before)
    new = filetext.with_newline(text, filetext.newline(old))
    try:
        after = codec.encode(new)
    except filetext.Unencodable:
        after = new.encode()
    return Change(before, after, old, new)


TOOL = Tool("write", DESCRIPTION, Input, execute, "edit", offered=by_edit)
