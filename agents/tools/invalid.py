"""`invalid`: what a call with an unknown tool or unfit arguments becomes."""

from __future__ import annotations

from pydantic import BaseModel, Field

from agents.toolkit.base import Tool, ToolContext, ToolResult


class Input(BaseModel):
    tool: str = Field(description="The tool that was called.")
    error: str = Field(description="Why the call could not be made.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Tell the model what was wrong with its call."""
    output = f"The call of {args.tool!r} was not made: {args.error}"
    return ToolResult("Invalid call", output, {"tool": args.tool})


TOOL = Tool("invalid", "Never call this tool.", Input, execute, "invalid")
