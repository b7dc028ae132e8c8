"""The line above the prompt, which says in short what there is and unfolds to it."""

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
        ]
    },
)


async def test_one_line_says_what_there_is_and_unfolds(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(tools=[TODOS]), Turn(text=["At work", Wait("strip"), " no more."]), Turn(text="Next."))
    session, other = await stage.session("With a strip"), await stage.session("Without one")
    tab = await stage.tab(context, session, folded=True)
    page = tab.page
    line = page.locator("#strip-toggle")
    await expect(line).to_be_hidden()
    await tab.send("Go.")
    await expect(line).to_have_text("1 of 2 todos")
    await expect(page.locator("#todos")).to_be_hidden()
    await tab.send("And then this.")
    await expect(line).to_have_text("1 of 2 todos · 1 waits")
    await expect(line).to_have_attribute("aria-expanded", "false")

    await line.press("Enter")
    await expect(line).to_have_attribute("aria-expanded", "true")
    await expect(line).to_be_focused()
    await expect(page.locator("#todos").get_by_text("Mend")).to_be_visible()
    await expect(page.locator("#queue")).to_contain_text("And then this.")
    await page.reload()
    await tab.connected()
    await expect(page.locator("#queue")).to_be_visible()
    await tab.item(other).get_by_role("link").click()
    await expect(page.locator("#title")).to_have_text("Without one")
    await expect(line).to_be_hidden()
    await tab.item(session).get_by_role("link").click()
    await expect(page.locator("#queue")).to_be_visible()

    await line.click()
    await expect(page.locator("#queue")).to_be_hidden()
    await page.reload()
    await tab.connected()
    await expect(line).to_have_attribute("aria-expanded", "false")
    stage.model.gate("strip").open()
    await expect(tab.messages).to_contain_text("Next.")
    await expect(line).to_be_hidden()


async def test_what_the_agent_asks_is_never_folded(stage: Stage, context: BrowserContext) -> None:
    touch = ToolUse("bash", {"command": "touch strip"})
    stage.plays(Turn(tools=[TODOS]), Turn(tools=[touch]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("Asks above the strip"), folded=True)
    await tab.send("Go.")
    await expect(tab.page.locator("#strip-toggle")).to_have_text("1 of 2 todos")
    await expect(tab.permissions).to_be_visible()
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("Done.")
