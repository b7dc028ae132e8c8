"""Focus: what the agent does in a turn is one line, by choice for all turns or for one."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab, ready
from tests.e2e.test_stillness import shifted, watched
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

READ = ToolUse("read", {"filePath": "hello.py"})
FIND = ToolUse("glob", {"pattern": "*.wallaby"})
FAIL = ToolUse("read", {"filePath": "missing.py"})
LINE = "Read 2 files, searched 1 time, 1 failed"


async def worked(stage: Stage, context: BrowserContext, title: str) -> Tab:
    """A turn with three calls, of which one failed."""
    stage.plays(Turn(text="I look.", tools=[READ, FIND, FAIL]), Turn(text="That is all."))
    session = await stage.session(title)
    await stage.client.prompt(session, "Look.")
    return await stage.tab(context, session)


async def test_a_turn_is_folded_by_a_click_and_all_by_choice(stage: Stage, context: BrowserContext) -> None:
    tab = await worked(stage, context, "folds")
    line = tab.page.get_by_role("button", name=LINE)
    await expect(line).to_have_attribute("aria-expanded", "true")
    await line.click()
    await expect(line).to_have_attribute("aria-expanded", "false")
    await expect(tab.tool("hello.py")).to_be_hidden()
    await expect(tab.tool("missing.py")).to_be_visible()
    await expect(tab.messages).to_contain_text("That is all.")
    await line.press("Enter")
    await expect(tab.tool("hello.py")).to_be_visible()

    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("z")
    await expect(tab.tool("hello.py")).to_be_hidden()
    await tab.page.reload()
    await tab.connected()
    await expect(tab.tool("hello.py")).to_be_hidden()
    await expect(line).to_have_attribute("aria-expanded", "false")
    await line.click()
    await expect(tab.tool("hello.py")).to_be_visible()
    await tab.page.get_by_role("button", name="Actions for this session").click()
    await tab.page.get_by_role("menuitem", name="Fold or show what the agent does").click()
    await expect(line).to_have_attribute("aria-expanded", "true")


async def test_what_is_found_or_linked_to_unfolds(stage: Stage, context: BrowserContext) -> None:
    tab = await worked(stage, context, "unfolds")
    line = tab.page.get_by_role("button", name=LINE)
    await line.click()
    async with tab.page.expect_response(lambda answer: answer.url.endswith("/find?q=wallaby")):
        await tab.page.keyboard.press("Control+f")
        await tab.page.keyboard.type("wallaby")
    await expect(tab.page.locator("#find-count")).to_have_text(
        "1 of 1"
    )  # what was typed before it was looked for, too
    await expect(tab.tool("wallaby")).to_be_visible()
    await line.click()
    await expect(tab.tool("wallaby")).to_be_hidden()
    answer = await tab.page.locator(".message.assistant").first.get_attribute("id")
    await tab.page.evaluate("(id) => { location.hash = id; }", answer)
    await expect(tab.tool("wallaby")).to_be_visible()


async def test_a_folded_turn_counts_while_it_runs_and_nothing_moves(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(
        Turn(text=["I look.", Wait("first")], tools=[READ]),
        Turn(text=["Further.", Wait("second")], tools=[FIND]),
        Turn(text="That is all."),
    )
    tab = await watched(stage, context, await stage.session("counts"))
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("z")
    await tab.send("Look.")
    await stage.model.gate("first").reached()
    await expect(tab.messages).to_contain_text("I look.")
    await tab.page.evaluate("window.shifts.length = 0")
    stage.model.gate("first").open()
    await expect(tab.page.get_by_role("button", name="Read 1 file", exact=True)).to_be_visible()
    await stage.model.gate("second").reached()
    await expect(tab.tool("hello.py")).to_be_hidden()
    stage.model.gate("second").open()
    await tab.idle()
    await expect(tab.page.get_by_role("button", name="Read 1 file, searched 1 time")).to_be_visible()
    await expect(tab.tool("wallaby")).to_be_hidden()
    assert await shifted(tab.page) == []


async def test_what_asks_stays_in_sight(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch folded"})]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("asks, folded"))
    await tab.page.evaluate("localStorage.setItem('turns-folded', 'yes')")
    await tab.page.reload()
    await tab.connected()
    await tab.send("Touch it.")
    await expect(tab.permissions).to_contain_text("touch folded")
    await expect(tab.tool("touch folded")).to_be_visible()
    await ready(tab.permissions)
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await tab.idle()
    await expect(tab.tool("touch folded")).to_be_hidden()
