"""`batch`: up to 25 calls of other tools at once, each a call of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, Field

from agents.toolkit.base import Outcome, Tool, ToolContext, ToolResult, by_request
from agents.tools import structured

MAX_CALLS = 25
NOT_WITHIN = ("batch", "invalid", "task", "question", "plan_enter", "plan_exit", structured.NAME.lower())

DESCRIPTION = f"""\
Run up to {MAX_CALLS} calls of other tools at the same time. Use it for calls that do not depend on each \
other, such as reading several files or searching for several things. They start together and may end in any \
order, so never let one rely on another. One that fails does not stop the others. Not possible within: \
{", ".join(NOT_WITHIN)}."""


class Call(BaseModel):
    tool: str = Field(description="The name of the tool.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Its arguments.")


class Input(BaseModel):
    tool_calls: list[Call] = Field(min_length=1, description="The calls to make.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Every call settles on its own; the result tells of all in the order given."""
    calls = args.tool_calls[:MAX_CALLS]
    async with asyncio.TaskGroup() as group:  # which, when stopped, waits until every call has settled
        tasks = [group.create_task(_run(call, ctx)) for call in calls]
    outcomes = [task.result() for task in tasks]
    outcomes += [Outcome(None, f"Only {MAX_CALLS} calls at once.") for _ in args.tool_calls[MAX_CALLS:]]
    good = sum(outcome.result is not None for outcome in outcomes)
    title = f"Batch execution ({good}/{len(outcomes)} successful)"
    texts = [
        f"## {number}. {call.tool}\n{outcome.result.output if outcome.result else f'Error: {outcome.error}'}"
        for number, (call, outcome) in enumerate(zip(args.tool_calls, outcomes, strict=True), 1)
    ]
    details = [
        {"tool": call.tool, "success": outcome.result is not None}
        for call, outcome in zip(args.tool_calls, outcomes, strict=True)
    ]
    metadata = {"totalCalls": len(outcomes), "successful": good, "failed": len(outcomes) - good}
    attachments = [file for outcome in outcomes if outcome.result for file in outcome.result.attachments]
    output = "\n\n".join([f"{title}.", *texts])
    return ToolResult(title, output, metadata | {"details": details}, attachments)


async def _run(call: Call, ctx: ToolContext) -> Outcome:
    if call.tool.strip().lower() in NOT_WITHIN:
        return Outcome(None, f"{call.tool} cannot be called within a batch.")
    return await ctx.call(call.tool, call.parameters)


TOOL = Tool("batch", DESCRIPTION, Input, execute, "batch", by_request("batch"))
