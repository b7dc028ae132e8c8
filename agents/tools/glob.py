"""`glob`: file names that fit a pattern, the newest first."""

from __future__ import annotations

import asyncio
import os

from pydantic import BaseModel, Field

from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.shared import staged
from agents.toolkit.shared.globs import fitting, globs_of
from agents.toolkit.shared.paths import Target, authorise, missing, relative

LIMIT = 100

DESCRIPTION = """\
Find files by name: `**/*.py`, `src/**/*.{ts,tsx}`, `*config*`. The newest come first, at most 100. What git \
ignores is left out. Several searches may be sent at once. To search in the content of files use `grep`."""


class Input(BaseModel):
    pattern: str = Field(min_length=1, description="The glob that the names must fit.")
    path: str = Field("", description="The folder to search; the session's folder when left out.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask `glob` and search; raises ToolError for a bad pattern or a folder that is not there."""
    target = await authorise(ctx, args.path or ".", "read")
    asked = {"pattern": args.pattern, "path": target.title}
    await ctx.ask("glob", [args.pattern], always=["*"], metadata=asked)
    await asyncio.to_thread(require_folder, ctx, target)
    records = await fitting(ctx, globs_of(args.pattern, target.path), target.path)
    names = [relative(target.path / os.fsdecode(record), ctx.directory) for record in records.found[:LIMIT]]
    count = len(records.found)
    notes = [f"({count} file{'s' * (count != 1)})"] if names else ["(no files fit)"]
    if count > LIMIT:
        total = f"{count} or more" if records.more else str(count)
        notes = [f"(only the newest {LIMIT} of {total} are shown: use a narrower pattern or path)"]
    if records.late:
        notes.append("(the search was ended after 30 s; there may be more)")
    metadata = {"count": len(names), "truncated": count > LIMIT or records.late}
    return ToolResult(args.pattern, "\n".join([*names, *notes]), metadata)


def require_folder(ctx: ToolContext, target: Target) -> None:
    """Raise a ToolError unless the target is a directory."""
    waiting = ctx.staged_files()
    if not staged.exists(waiting, target.path):
        raise missing(ctx, target)
    if not staged.is_folder(waiting, target.path):
        raise ToolError(f"{target.title} is a file, not a directory.")


TOOL = Tool("glob", DESCRIPTION, Input, execute, "glob")
