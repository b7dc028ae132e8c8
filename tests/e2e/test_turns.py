"""Turns as a page shows them: tool cards, hostile text, Stop, prompts that wait."""

from __future__ import annotations

import os

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn, Wait

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
    await expect(tab.item(tab.session_id).locator(".dot")).to_have_attribute("data-state", "idle")
    await stage.model.wait_for_disconnect()


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
