"""`multiedit` and `batch`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agents.toolkit.base import Outcome, ToolError, ToolResult
from agents.tools import batch, multiedit
from tests.agents.tools.context import DirectContext


async def edit(context: DirectContext, *edits: tuple[str, str]) -> ToolResult:
    given = [{"oldString": old, "newString": new} for old, new in edits]
    return await multiedit.execute(
        multiedit.Input.model_validate({"filePath": "a.txt", "edits": given}), context
    )


async def test_edits_follow_one_another_and_ask_once(context: DirectContext) -> None:
    path = context.worktree / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    result = await edit(context, ("one", "1"), ("1\ntwo", "1\n2"))
    assert path.read_bytes() == b"1\r\n2\r\n"
    assert len(context.asked) == 1
    assert "2. 1 place (line 1)" in result.output


async def test_one_edit_that_does_not_fit_leaves_the_file_alone(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("one\n")
    with pytest.raises(ToolError, match="Edit 2 of 2 failed, nothing was changed"):
        await edit(context, ("one", "1"), ("three", "3"))
    assert (context.worktree / "a.txt").read_text() == "one\n"


async def test_the_first_edit_may_create_the_file(context: DirectContext) -> None:
    await edit(context, ("", "hello world\n"), ("world", "there"))
    assert (context.worktree / "a.txt").read_text() == "hello there\n"


def calls(*tools: str) -> batch.Input:
    return batch.Input.model_validate({"tool_calls": [{"tool": tool, "parameters": {}} for tool in tools]})


async def test_a_batch_tells_of_every_call_in_order(context: DirectContext) -> None:
    context.outcomes = {
        "read": Outcome(ToolResult("a", "text of a")),
        "grep": Outcome(None, "no such pattern"),
    }
    result = await batch.execute(calls("read", "grep", "Batch"), context)
    assert result.title == "Batch execution (1/3 successful)"
    assert result.output.index("text of a") < result.output.index("Error: no such pattern")
    assert "Batch cannot be called within a batch" in result.output
    assert [name for name, _ in context.calls] == ["read", "grep"]


async def test_a_batch_runs_25_calls_at_the_most(context: DirectContext) -> None:
    context.outcomes = {"read": Outcome(ToolResult("a", "a"))}
    result = await batch.execute(calls(*["read"] * 27), context)
    facts: dict[str, Any] = {"totalCalls": 27, "successful": 25, "failed": 2}
    assert facts.items() <= result.metadata.items()
    assert len(context.calls) == 25


async def test_a_stop_of_a_batch_waits_until_every_call_has_settled(
    context: DirectContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, settled = asyncio.Event(), asyncio.Event()
    hold = asyncio.Event()

    async def call(self: DirectContext, name: str, arguments: Mapping[str, Any]) -> Outcome:
        if name == "slow":
            begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            if name == "slow":
                await hold.wait()
            settled.set()
        return Outcome(None)

    monkeypatch.setattr(DirectContext, "call", call)
    task = asyncio.create_task(batch.execute(calls("quick", "slow"), context))
    await begun.wait()
    task.cancel()
    await settled.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not task.done()
    hold.set()
    with pytest.raises(asyncio.CancelledError):
        await task
