"""`codesearch`: examples of code from a configured service; absent without one. Source: seed 004 §6.2."""

from __future__ import annotations

from pydantic import BaseModel, Field

from agents.tools.base import Tool, ToolContext, ToolError, ToolResult
from agents.tools.shared.web.search import service
from agents.turn import Turn

DESCRIPTION = """\
Search for examples and documentation of libraries, interfaces and error messages. Name the library and what \
you want to do with it. For code of this project use `grep`."""


class Input(BaseModel):
    query: str = Field(min_length=1, max_length=500, description="What to search for.")
    limit: int = Field(8, ge=1, le=20, description="The most results to return.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask, search, and give the results as text."""
    found = service("CODESEARCH")
    if found is None:
        raise ToolError("No search service is configured.")
    await ctx.ask("codesearch", [args.query], always=["*"], metadata={"query": args.query})
    text = await found.ask(args.query, args.limit)
    return ToolResult(args.query, text or "Nothing was found.", {"query": args.query})


def _configured(turn: Turn) -> bool:
    return service("CODESEARCH") is not None


TOOL = Tool("codesearch", DESCRIPTION, Input, execute, "codesearch", offered=_configured)
