"""What the agent asks: answered once, shown everywhere, refused with words."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.long
async def test_answered_in_another_tab(stage: Stage, context: BrowserContext) -> None:
    write = ToolUse("write", {"filePath": "asked.txt", "content": "new\n"})
    stage.plays(Turn(tools=[write]), Turn(text="Written."))
    tab = await stage.tab(context, await stage.session("asks"))
    other = await stage.tab(context, tab.session_id)
    await tab.send("Write it.")
    for page in (tab, other):
        await expect(page.permissions).to_contain_text("asked.txt")
        await expect(page.permissions.locator("tr.add")).to_contain_text("new")
        await expect(page.tool("Write")).to_contain_text("Waiting for you")
    await expect(tab.item(tab.session_id).locator(".dot")).to_have_attribute("data-state", "waiting")
    await tab.page.reload()
    await tab.permissions.get_by_label("Why not").fill("half a tho")
    await expect(tab.permissions).to_be_visible()
    assert not (stage.project / "asked.txt").exists()
    await other.permissions.get_by_role("button", name="Allow once").click()
    for page in (tab, other):
        await expect(page.permissions).to_have_count(0)
        await expect(page.messages).to_contain_text("Written.")
    assert (stage.project / "asked.txt").read_text() == "new\n"


async def test_rejected_with_words(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch refused"})]), Turn(text="I see."))
    tab = await stage.tab(context, await stage.session("refuses"))
    await tab.send("Make a file.")
    await expect(tab.permissions.locator(".command")).to_have_text("touch refused")
    await tab.permissions.get_by_label("Why not").fill("use <b>the other</b> name")
    await tab.permissions.get_by_role("button", name="Reject").click()
    await expect(tab.permissions).to_have_count(0)
    await expect(tab.messages).to_contain_text("I see.")
    await expect(tab.tool("touch refused")).to_contain_text("use <b>the other</b> name")
    assert "the other</b> name" in str(stage.model.requests[-1].body["messages"][-1])
    assert not (stage.project / "refused").exists()
