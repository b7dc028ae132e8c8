"""A session moves to a worktree by its menu, with its draft; other pages show the way there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_a_session_moves_and_others_are_shown_the_way(stage: Stage, context: BrowserContext) -> None:
    write = ToolUse("write", {"filePath": "moved.txt", "content": "moved\n"})
    stage.plays(Turn(tools=[write]), Turn(text="Written."), Turn(text="Here I am."))
    tab = await stage.tab(context, await stage.session("To be moved"))
    await tab.send("Write it.")
    await tab.idle()
    other = await stage.tab(context, tab.session_id)
    await tab.page.locator("#prompt").fill("And then")
    await tab.item(tab.session_id).get_by_label("Actions for").click()
    await tab.page.get_by_role("menuitem", name="Move to a worktree…").click()
    await expect(tab.dialog).to_contain_text("moved.txt")
    before = tab.page.url
    await tab.dialog.get_by_role("button", name="Move").click()
    await expect(tab.page).not_to_have_url(before)
    await expect(tab.page.locator("#prompt")).to_have_value("And then")
    folder = Path((await stage.client.session(tab.session_id))["directory"])
    assert (folder / "moved.txt").read_text() == "moved\n"
    assert not (stage.project / "moved.txt").exists()
    await tab.send("Where?")
    await expect(tab.page.locator(".message.assistant").last).to_contain_text("Here I am.")
    await expect(other.item(tab.session_id)).to_have_count(0)
    await other.page.get_by_role("link", name="Open it there").click()
    await expect(other.page).to_have_url(tab.page.url)
    await expect(other.page.get_by_role("navigation", name="Sessions")).to_contain_text("To be moved")
