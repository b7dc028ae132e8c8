"""`todowrite`: the session's list of things to do, always written whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel, Field

from agents.toolkit.base import Todo, Tool, ToolContext, ToolResult

DESCRIPTION = """\
Write your list of things to do; the user sees it. It replaces the list there was, so give all of it. Use it \
for work of three steps or more, and not for a single small task. Keep one item `in_progress`, mark it \
`completed` as soon as it is done and not before, and `cancelled` what is no longer needed. An \
item that is blocked stays open: say in it by what, and make what unblocks it an item of its own."""

STATES = ("completed", "in_progress", "pending", "cancelled")
CLOSED = ("completed", "cancelled")


class Item(BaseModel):
    content: str = Field(min_length=1, description="What is to be done, in a few words.")
    status: Literal["pending", "in_progress", "completed", "cancelled"] = Field(description="How far it is.")
    priority: Literal["high", "medium", "low"] = Field("medium", description="How much it matters.")


class Input(BaseModel):
    todos: list[Item] = Field(description="The whole list.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Replace the list."""
    await ctx.ask("todowrite", ["*"], always=["*"])
    todos = [Todo(item.content, item.status, item.priority) for item in args.todos]
    await ctx.write_todos(todos)
    listed = told(todos)
    return ToolResult(listed.title, _line(todos), listed.metadata)


def _line(todos: Sequence[Todo]) -> str:
    counts = [(status, sum(todo.status == status for todo in todos)) for status in STATES]
    states = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts if count)
    return f"The list is written: {states or 'nothing on it'}."


def told(todos: Sequence[Todo]) -> ToolResult:
    """The list as JSON, titled by how many items are still open."""
    items = [asdict(todo) for todo in todos]
    still_open = sum(todo.status not in CLOSED for todo in todos)
    title = f"{still_open} todo{'' if still_open == 1 else 's'}"
    return ToolResult(title, json.dumps(items, indent=2, ensure_ascii=False), {"todos": items})


TOOL = Tool("todowrite", DESCRIPTION, Input, execute, "todowrite")
