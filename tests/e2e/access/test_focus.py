"""The focus is never lost: what had it and is gone leaves it to its neighbour."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def working(stage: Stage, context: BrowserContext, gate: str) -> Tab:
    """A turn that waits at a gate, with the focus on Stop."""
    stage.plays(Turn(text=["Begun.", Wait(gate), " Ended."]))
    tab = await stage.tab(context, await stage.session(gate))
    await tab.send("Go.")
    await expect(tab.messages).to_contain_text("Begun.")
    await tab.stop.focus()
    return tab


async def test_stop_leaves_it_to_the_prompt(stage: Stage, context: BrowserContext) -> None:
    tab = await working(stage, context, "stopped-by-enter")
    await tab.stop.press("Enter")
    await tab.idle()
    await expect(tab.prompt).to_be_focused()


async def test_a_turn_that_ends_leaves_it_to_the_prompt(stage: Stage, context: BrowserContext) -> None:
    tab = await working(stage, context, "ends-under-stop")
    stage.model.gate("ends-under-stop").open()
    await tab.idle()
    await expect(tab.prompt).to_be_focused()


async def test_who_gave_it_up_is_left_alone(stage: Stage, context: BrowserContext) -> None:
    tab = await working(stage, context, "given-up")
    await tab.page.locator("#title").click()
    stage.model.gate("given-up").open()
    await tab.idle()
    drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    await tab.page.evaluate(drawn)
    await tab.page.evaluate(drawn)
    await expect(tab.prompt).not_to_be_focused()


async def test_an_undo_leaves_it_to_the_prompt(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(tools=[ToolUse("write", {"filePath": "focus.txt", "content": "a\n"})]), Turn(text="Done.")
    )
    tab = await stage.tab(context, await stage.session("undone by keyboard"))
    await tab.send("Write it.")
    await expect(tab.messages).to_contain_text("Done.")
    await tab.idle()
    await tab.prompt.fill("A draft, which stays.")
    await tab.page.get_by_role("button", name="Undo from here").press("Enter")
    await tab.dialog.get_by_role("button", name="Undo 1 prompt").press("Enter")
    await expect(tab.page.locator(".reverted-notice")).to_be_visible()
    await expect(tab.prompt).to_be_focused()
    await expect(tab.prompt).to_have_value("A draft, which stays.")
