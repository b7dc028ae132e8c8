"""Todos go with the turn that wrote them."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

TODOS = ToolUse(
    "todowrite",
    {
        "todos": [
            {"content": "Look", "status": "completed", "priority": "high"},
            {"content": "Mend", "status": "in_progress", "priority": "high"},
            {"content": "Test", "status": "pending", "priority": "low"},
        ]
    },
)


async def test_todos_stay_until_the_next_turn(stage: Stage, context: BrowserContext) -> None:
    writes = (Turn(tools=[TODOS]), Turn(text=["I begin", Wait("todos")]))
    stage.plays(*writes, Turn(text=["No todos", Wait("later")]), *writes)
    tab = await stage.tab(context, await stage.session("todos"))
    todos = tab.page.locator("#todos")
    mend = todos.get_by_text("Mend")
    dismiss = todos.get_by_role("button", name="Dismiss the todos that are left")
    await tab.send("Work.")
    await expect(tab.messages).to_contain_text("I begin")
    await expect(mend).to_be_visible()
    await expect(dismiss).to_have_count(0)
    stage.model.gate("todos").open()
    await tab.idle()
    for _ in ("live", "after a reload"):
        await expect(todos.get_by_text("1 of 3 todos done")).to_be_visible()
        await expect(mend).to_be_hidden()
        await expect(dismiss).to_be_visible()
        await tab.page.reload()
    await tab.send("Something else.")
    await expect(tab.messages).to_contain_text("No todos")
    await expect(todos).to_be_empty()
    stage.model.gate("later").open()
    await tab.idle()
    await expect(todos).to_be_empty()
    await tab.send("Work.")
    await expect(dismiss).to_be_visible()
    await dismiss.click()
    await expect(todos).to_be_empty()
    await tab.page.reload()
    await expect(todos).to_be_empty()
