"""The operations log: found from the session, live, and any entry taken back from it."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_the_log(stage: Stage, context: BrowserContext) -> None:
    (stage.project / "logged").mkdir()
    stage.plays(
        Turn(tools=[ToolUse("write", {"filePath": "logged/a.txt", "content": "a\n"})]),
        Turn(tools=[ToolUse("bash", {"command": "echo b > logged/b.txt"})]),
        Turn(text="Logged."),
        Turn(tools=[ToolUse("write", {"filePath": "logged/c.txt", "content": "c\n"})]),
        Turn(text="More."),
    )
    tab = await stage.tab(context, await stage.session("logged"))
    await tab.send("Make two.")
    await expect(tab.messages).to_contain_text("Logged.")
    await tab.idle()
    log = await context.new_page()
    await log.goto(f"{stage.server.url}{stage.home_path}log")
    await log.locator("#log[data-live]").wait_for()
    await log.get_by_label("Session").select_option("logged")
    entries = log.locator(".log-entry")
    await expect(entries).to_have_count(2)
    await expect(entries.nth(0)).to_contain_text("echo b > logged/b.txt")
    await expect(entries.nth(0)).to_contain_text("logged/b.txt")
    await expect(entries.nth(1)).to_contain_text("Make two.")

    await tab.page.bring_to_front()
    await tab.send("Make one more.")
    await expect(tab.messages).to_contain_text("More.")
    await tab.idle()
    await log.bring_to_front()
    await expect(entries).to_have_count(3)
    await expect(entries.nth(0)).to_contain_text("logged/c.txt")

    await entries.nth(1).get_by_role("button", name="Undo").click()
    await expect(log.locator("#dialog dialog")).to_contain_text("Will be removed")
    await log.locator("#dialog").get_by_role("button", name="Undo this change").click()
    await expect(log.locator(".toast")).to_contain_text("Undone: 1 file changed.")
    await expect(entries).to_have_count(4)
    await expect(entries.nth(2).locator(".log-state")).to_have_text("Undone")
    assert not (stage.project / "logged/b.txt").exists()

    await entries.nth(0).get_by_role("button", name="Redo").click()
    await log.locator("#dialog").get_by_role("button", name="Redo").click()
    await expect(entries).to_have_count(5)
    assert (stage.project / "logged/b.txt").read_text() == "b\n"
    await log.get_by_label("Kind").select_option("redo")
    await expect(entries).to_have_count(1)
    await expect(entries.nth(0)).to_contain_text("You")
