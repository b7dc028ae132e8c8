"""A subagent on the page of the session that sent it: the card, its question, the way there and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

ERRAND = {"description": "look <b>around</b>", "prompt": "Look around.", "subagent_type": "general"}


async def test_a_subagent_is_followed_answered_and_visited(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(tools=[ToolUse("task", ERRAND)]),
        Turn(
            tools=[
                ToolUse("read", {"filePath": "hello.py"}),
                ToolUse("bash", {"command": "touch from-below"}),
            ]
        ),
        Turn(text=["Looked ", Wait("looked"), "**around**."]),
        Turn(text="It looked around."),
    )
    tab = await stage.tab(context, await stage.session("sends"))
    other = await stage.tab(context, await stage.session("elsewhere"))
    parent = tab.session_id
    await tab.send("Send it.")
    card = tab.tool("@general")
    for _ in ("as it comes", "after a reload"):
        await expect(tab.permissions).to_contain_text("touch from-below")
        await expect(tab.permissions).to_contain_text("asked by look <b>around</b> (@general subagent)")
        await expect(card).to_contain_text("Waiting for you")
        await expect(card).to_contain_text("2 calls")
        for page in (tab, other):
            await expect(page.item(parent).locator(".dot")).to_have_attribute("data-state", "waiting")
        await tab.page.reload()
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.permissions).to_have_count(0)
    await expect(card.get_by_text("Working")).to_be_visible()
    await expect(card).to_contain_text("Shell touch from-below")
    await card.get_by_role("link", name="Open session").click()
    await tab.connected()
    child = tab.session_id
    assert child != parent
    await expect(tab.messages).to_contain_text("Looked")
    await expect(tab.page.locator("#family")).to_contain_text("Subagent’s session")
    await expect(tab.page.locator("#session-list")).not_to_contain_text("subagent")
    await expect(tab.item(parent).locator("[aria-current]")).to_have_count(1)
    await expect(tab.page.locator("#agent-picker .pick-name")).to_have_text("General")
    stage.model.gate("looked").open()
    await tab.idle()
    await expect(tab.item(parent).locator("[aria-current]")).to_have_count(1)
    await tab.page.get_by_role("link", name="Back to sends").click()
    await expect(tab.messages).to_contain_text("It looked around.")
    await expect(card).to_have_attribute("data-state", "done")
    await card.locator("summary").first.click()
    await expect(card.locator(".task-result strong")).to_have_text("around")
    await tab.page.get_by_text("1 subagent", exact=True).click()
    await tab.page.locator("#family").get_by_role("link").click()
    await expect(tab.page).to_have_url(re.compile(child))
    assert (stage.project / "from-below").exists()


async def test_stop_of_the_session_above_is_shown_on_the_card(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(tools=[ToolUse("task", ERRAND)]), Turn(text=["On my way", Wait("never")]))
    tab = await stage.tab(context, await stage.session("stops"))
    await tab.send("Send it.")
    card = tab.tool("@general")
    link = card.get_by_role("link", name="Open session")
    ours = {tab.session_id, str(await link.get_attribute("href")).rpartition("/")[2]}
    await expect(tab.page.locator("#family")).to_contain_text("1 subagent")
    async with stage.client.events() as events:
        await tab.stop.click()
        await expect(card).to_have_attribute("data-state", "stopped")
        await tab.idle()
        while ours & set(await stage.client.status()):
            await anext(events)


async def test_what_is_two_levels_down_is_answered_and_stopped_at_the_top(
    tmp_path: Path, context: BrowserContext
) -> None:
    project = repository(tmp_path / "project")
    (tmp_path / "home").mkdir()
    worker = {"mode": "subagent", "permission": {"task": "allow", "bash": {"touch *": "ask"}}}
    errands = [
        {"description": f"level {depth}", "prompt": "Go.", "subagent_type": "worker"} for depth in (1, 2)
    ]
    sent = [Turn(tools=[ToolUse("task", errand)]) for errand in errands]
    touch = Turn(tools=[ToolUse("bash", {"command": "touch made"})])
    async with Stage(tmp_path / "home", project, agent={"worker": worker}, subagent_depth=2) as stage:
        stage.plays(*sent, touch, Turn(text="Two."), Turn(text="One."), Turn(text="Done."), *sent, touch)
        tab = await stage.tab(context, await stage.session("sends deep"))
        await tab.send("Send it.")
        card = tab.tool("level 1").first
        await expect(tab.permissions).to_contain_text("touch made")
        await expect(tab.permissions).to_contain_text("asked by level 2")
        await expect(card).to_contain_text("Waiting for you")
        await tab.permissions.get_by_role("button", name="Allow once").click()
        await expect(tab.messages).to_contain_text("Done.")
        await tab.idle()
        assert (project / "made").exists()

        await tab.send("Again.")
        await expect(tab.permissions).to_contain_text("asked by level 2")
        await tab.stop.click()
        await tab.idle()
        await expect(tab.permissions).to_have_count(0)
        await expect(tab.tool("level 1").last).to_have_attribute("data-state", "stopped")
        assert await stage.client.status() == {}
