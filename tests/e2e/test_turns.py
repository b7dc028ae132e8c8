"""Turns as a page shows them: tool cards, hostile text, Stop, prompts that wait."""

from __future__ import annotations

import os
import re

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import HttpError, ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


async def test_tool_cards(stage: Stage, context: BrowserContext) -> None:
    fifo = stage.project / "go-on"
    os.mkfifo(fifo)
    stage.plays(
        Turn(
            tools=[
                ToolUse("bash", {"command": "echo alive; cat go-on; seq 900"}),
                ToolUse("read", {"filePath": "nowhere.py"}),
                ToolUse("bash", {"command": "echo oh; exit 3"}),
            ]
        ),
        Turn(text="Done."),
    )
    tab = await stage.tab(context, await stage.session("tools"))
    await tab.send("Use tools.")
    shell = tab.tool("cat go-on")
    await expect(shell.locator(".live")).to_have_text("alive")
    await expect(shell).to_contain_text("Running")
    working = tab.page.locator("#working")
    await expect(working).to_have_text(
        re.compile(r"^\s*Working\s+\d+ s\s+Shell echo alive; cat go-on; seq 900\s*$")
    )
    fifo.write_text("opened\n")
    await expect(tab.messages).to_contain_text("Done.")
    await expect(tab.tool("nowhere.py")).to_contain_text("does not exist")
    await expect(tab.tool("echo oh")).to_contain_text("exit 3")
    await expect(shell.locator("pre")).to_have_count(0)
    await shell.locator("summary").click()
    await expect(shell.locator("pre")).to_contain_text("opened\n1\n2\n")
    await expect(shell.locator("pre")).to_contain_text("\n900")


async def test_hostile_text_is_inert(stage: Stage, context: BrowserContext) -> None:
    name = "<img src=x onerror=alert(3)>.txt"
    link = f"[click](javascript:alert(4)) {HOSTILE}\n\n```html\n{HOSTILE}\n```\n"
    stage.plays(
        Turn(
            reasoning=HOSTILE,
            text=["before " + HOSTILE + "\n\n", link],
            tools=[
                ToolUse("write", {"filePath": name, "content": HOSTILE + "\n"}),
                ToolUse("bash", {"command": f"echo '{HOSTILE}'; printf '\\033]0;title\\007'"}),
                ToolUse(HOSTILE, {HOSTILE: HOSTILE}),
            ],
        ),
        Turn(text="Done."),
    )
    tab = await stage.tab(context, await stage.session(HOSTILE))
    await tab.send(HOSTILE)
    await expect(tab.messages).to_contain_text("Done.")
    for _ in range(2):
        await expect(tab.page.locator(".tool")).to_have_count(3)
        for card in await tab.page.locator(".tool").all():
            await card.locator("summary").first.click()
            await expect(card.locator("pre").first).to_contain_text("<script>")
        await expect(tab.review).to_contain_text(name)
        await expect(tab.messages.locator("script, img, [href^=javascript]")).to_have_count(0)
        await expect(tab.page.locator("main script, nav script, main img, nav img")).to_have_count(0)
        await expect(tab.page.locator("#review script, #review img")).to_have_count(0)
        await expect(tab.page.locator("#title")).to_have_text(HOSTILE)
        await expect(tab.page.locator(".bubble")).to_have_text(HOSTILE)
        await tab.page.reload()


@pytest.mark.parametrize("way", ["button", "Escape"])
async def test_stop(stage: Stage, context: BrowserContext, way: str) -> None:
    stage.plays(Turn(text=["I begin", Wait("never")]))
    tab = await stage.tab(context, await stage.session(f"stops by {way}"))
    await tab.send("Talk.")
    await expect(tab.page.locator(".part.text")).to_have_text("I begin")
    await expect(tab.item(tab.session_id).locator(".dot")).to_have_attribute("data-state", "working")
    if way == "button":
        await tab.stop.click()
    else:
        await tab.prompt.press("Escape")
        await expect(tab.stop).to_have_attribute("data-armed", "")
        await tab.prompt.press("Escape")
    await tab.idle()
    await expect(tab.messages.get_by_text("Stopped by you")).to_have_count(1)
    await expect(tab.page.locator(".part.text")).to_have_text("I begin")
    await expect(tab.page.get_by_role("button", name="Go on")).to_be_visible()
    await expect(tab.page.locator("#working")).to_be_empty()
    row = tab.item(tab.session_id)
    await expect(row.locator(".dot")).to_have_attribute("data-state", "stopped")
    await expect(row.get_by_role("link").first).to_have_accessible_name(re.compile("^stopped by you: "))
    await stage.model.wait_for_disconnect()


@pytest.mark.long
async def test_calls_that_a_person_stopped(stage: Stage, context: BrowserContext) -> None:
    """They did not fail, and the person who stopped them is not told of a third one."""
    options = [{"label": "So", "description": ""}]
    asks = ToolUse("question", {"questions": [{"question": "Why?", "header": "Why", "options": options}]})
    for call in (ToolUse("bash", {"command": "echo alive; sleep 600"}), asks):
        stage.plays(Turn(tools=[call]))
        tab = await stage.tab(context, await stage.session("stops calls"))
        await tab.send("Call.")
        card = tab.page.locator(".tool")
        await expect(card).to_have_attribute("data-status", "running")
        await tab.stop.click()
        await tab.idle()
        for _ in ("live", "after a reload"):
            await expect(card.get_by_text("Stopped by you")).to_be_visible()
            if call.name == "bash":
                await card.locator("summary").click()
                await expect(card.locator(".tool-output")).to_contain_text("alive")
            await expect(card.locator(".failed")).to_have_count(0)
            await expect(card).not_to_contain_text("The user")
            await tab.page.reload()
    await tab.page.get_by_role("link", name="Timeline").click()
    await expect(tab.page.locator("#moments, main").first).to_contain_text("Stopped by you")


async def test_prompts_wait_and_can_be_withdrawn(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["one", Wait("queued")]), Turn(text="three"))
    tab = await stage.tab(context, await stage.session("queues"))
    await tab.send("First.")
    await expect(tab.page.locator(".part.text")).to_have_text("one")
    await tab.send("Second, regretted.")
    await tab.send("Third.")
    waiting = tab.page.locator("#queue li")
    await expect(waiting).to_have_count(2)
    await tab.page.reload()
    await waiting.filter(has_text="regretted").get_by_role("button", name="Withdraw").click()
    await expect(waiting).to_have_count(1)
    stage.model.gate("queued").open()
    await expect(tab.messages).to_contain_text("three")
    await tab.idle()
    await expect(waiting).to_have_count(0)
    prompts = tab.page.locator(".message.user .bubble")
    await expect(prompts).to_have_text(["First.", "Third."])


LATER = Turn(fault=HttpError(429, "The model is busy", headers={"retry-after": "3600"}))


async def test_a_turn_that_is_tried_again(stage: Stage, context: BrowserContext) -> None:
    """One line tells how often and why, one row what can be done about it."""
    stage.plays(LATER, LATER, Turn(text="At last."), LATER)
    tab = await stage.tab(context, await stage.session("tries"))
    await tab.send("Try.")
    row = tab.page.get_by_role("group", name="The turn is tried again")
    told = tab.page.locator(".retried:visible")
    await expect(row).to_contain_text(re.compile(r"^\s*Attempt 2 in 3\d{3} s"))
    await expect(told).to_have_text("Tried once: The model is busy.")
    await row.get_by_role("button", name="Now").click()
    await expect(row).to_contain_text("Attempt 3 in")
    await expect(told).to_have_text("Tried 2 times: The model is busy.")
    await expect(tab.page.get_by_text("The model is busy").locator("visible=true")).to_have_count(1)
    await row.get_by_role("button", name="Now").click()
    await expect(tab.messages).to_contain_text("At last.")
    await tab.idle()
    await expect(row).to_have_count(0)
    await tab.page.reload()
    await expect(told).to_have_text("Tried 2 times: The model is busy.")
    await tab.send("Again.")
    await expect(row).to_contain_text("Attempt 2 in")
    await row.get_by_role("button", name="Other model").click()
    await expect(tab.messages.get_by_text("Stopped by you")).to_have_count(1)
    await expect(tab.page.get_by_role("button", name="Go on")).to_be_visible()


async def test_the_reason_of_a_turn_that_failed_stands_once(stage: Stage, context: BrowserContext) -> None:
    stage.plays(*[Turn(fault=HttpError(429, "The model is busy", headers={"retry-after": "0"}))] * 9)
    tab = await stage.tab(context, await stage.session("tries in vain"))
    await tab.send("Try.")
    await expect(tab.messages.get_by_role("alert")).to_contain_text("The model is busy")
    await expect(tab.page.locator(".retried:visible")).to_have_text("Tried 8 times", use_inner_text=True)
    await expect(tab.messages.get_by_text("The model is busy").locator("visible=true")).to_have_count(1)


async def test_a_turn_that_failed_is_tried_again(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(fault=HttpError(401, "No such key")), Turn(text="At last."))
    tab = await stage.tab(context, await stage.session("refused"))
    await tab.send("Try.")
    again = tab.page.get_by_role("button", name="Try again")
    await expect(tab.messages.get_by_role("alert")).to_contain_text("The provider refused the key")
    link = tab.messages.get_by_role("link", name="Replace the key")
    await expect(again).to_be_visible()
    async with context.expect_page() as opened:
        await link.click(modifiers=["ControlOrMeta"])
    accounts = await opened.value
    await expect(accounts.get_by_role("heading", name="Fake")).to_be_focused()
    await accounts.goto(accounts.url.replace("provider=fake", "provider=openai"))
    await expect(accounts.get_by_label("Key of OpenAI")).to_be_focused()
    await again.click()
    await expect(tab.messages).to_contain_text("At last.")
    await tab.idle()
    await expect(again).to_have_count(0)


async def test_many_changed_files_are_listed_in_the_panel(stage: Stage, context: BrowserContext) -> None:
    command = "for i in 1 2 3 4 5 6 7 8; do echo $i > many$i.txt; done"
    stage.plays(Turn(tools=[ToolUse("bash", {"command": command})]), Turn(text="Made."))
    tab = await stage.tab(context, await stage.session("makes many"))
    await tab.send("Make them.")
    changed = tab.messages.get_by_role("region", name="Changed files")
    await expect(changed.get_by_role("heading")).to_contain_text("8 changed files")
    await expect(changed.get_by_role("button")).to_have_count(6)
    await changed.get_by_role("link", name="and 2 more").click()
    await expect(tab.page.locator("#review-scope")).to_have_value("turn")
    await expect(tab.review.locator("[data-file^=many]")).to_have_count(8)


async def test_what_can_be_done_with_a_message(stage: Stage, context: BrowserContext) -> None:
    """It is shown where the pointer or the focus is, and takes its room all the time."""
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage.plays(Turn(text="It is **bold**.\n\n- one\n- two"))
    tab = await stage.tab(context, await stage.session("copies"))
    await tab.send("Write.")
    answer, prompt = tab.page.locator(".message.assistant"), tab.page.locator(".message.user")
    await expect(answer.locator(".byline")).to_contain_text("Fake")
    deeds = answer.locator(".deeds")
    await tab.prompt.hover()
    await expect(deeds).to_have_css("opacity", "0")
    await answer.get_by_text("bold").hover()
    await expect(deeds).to_have_css("opacity", "1")
    await expect(prompt.locator(".deeds")).to_have_css("opacity", "0")
    await prompt.get_by_role("button", name="Fork from here").focus()
    await expect(prompt.locator(".deeds")).to_have_css("opacity", "1")
    await answer.get_by_role("button", name="Copy answer").click()
    await expect(deeds.get_by_role("status")).to_have_text("Copied")
    assert await tab.page.evaluate("navigator.clipboard.readText()") == "It is **bold**.\n\n- one\n- two"


async def test_names_of_tools_are_whole(stage: Stage, context: BrowserContext) -> None:
    """What they are given is cut before them."""
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "echo " + "long " * 70})]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("names"))
    await tab.page.set_viewport_size({"width": 390, "height": 844})
    await tab.send("Go.")
    await expect(tab.messages).to_contain_text("Done.")
    label = tab.page.locator(".tool-label")
    assert await label.evaluate("node => node.scrollWidth <= node.clientWidth")
