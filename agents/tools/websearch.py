"""`websearch`: the web through a configured service; absent without one. Source: seed 004 §6.2."""

from __future__ import annotations

from pydantic import BaseModel, Field

from agents.tools.base import Tool, ToolContext, ToolError, ToolResult
from agents.tools.shared.web.search import service
from agents.turn import Turn

DESCRIPTION = """\
Search the web and get titles, addresses and short texts, best first. Use it for what is newer than what you \
know or not in the project; then read the pages that matter with `webfetch`."""


class Input(BaseModel):
    query: str = Field(min_length=1, max_length=500, description="What to search for.")
    limit: int = Field(8, ge=1, le=20, description="The most results to return.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask, search, and give the results as text."""
    found = service("WEBSEARCH")
    if found is None:
        raise ToolError("No search service is configured.")
    await ctx.ask("websearch", [args.query], always=["*"], metadata={"query": args.query})
    text = await found.ask(args.query, args.limit)
    return ToolResult(args.query, text or "Nothing was found.", {"query": args.query})


def _configured(turn: Turn) -> bool:
    return service("WEBSEARCH") is not None


TOOL = Tool("websearch", DESCRIPTION, Input, execute, "websearch", offered=_configured)
