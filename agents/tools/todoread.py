"""`todoread`: the session's list of things to do as it stands."""

from __future__ import annotations

from pydantic import BaseModel

from agents.toolkit.base import Tool, ToolContext, ToolResult, by_request
from agents.tools.todowrite import told

DESCRIPTION = "Read your list of things to do, to see what comes next. It takes no arguments."


class Input(BaseModel):
    pass


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Give the list."""
    await ctx.ask("todoread", ["*"], always=["*"])
    return told(await ctx.read_todos())


TOOL = Tool("todoread", DESCRIPTION, Input, execute, "todoread", by_request("todoread"))
