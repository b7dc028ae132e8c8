"""Pinning by hand: a message, a file of the tree and of the review, a note; and letting go of them."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, hold
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_a_message_and_a_note_are_pinned_and_seen_in_another_window(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(text="The answer."))
    session = await stage.session("pins")
    tab, other = await stage.tab(context, session), await stage.tab(context, session)
    await tab.send("The prompt.")
    await tab.idle()
    await expect(other.messages).to_contain_text("The answer.")
    pin = tab.messages.locator(".message.assistant").get_by_role("button", name="Pin for the agent")
    await pin.focus()
    await tab.page.keyboard.press("Enter")
    await expect(pin).to_have_attribute("aria-pressed", "true")
    await expect(other.messages.locator(".deeds [aria-pressed=true]")).to_have_count(1)
    await expect(other.page.locator("#strip-words")).to_contain_text("1 pinned")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("pin a note")
    await tab.page.get_by_role("option", name="Pin a note:").click()
    await tab.dialog.get_by_role("textbox").fill("Two\nlines")
    await tab.dialog.get_by_role("button", name="Pin", exact=True).click()
    await expect(tab.dialog).to_have_count(0)
    await expect(other.page.locator("#strip-words")).to_contain_text("2 pinned")
    tray = other.page.get_by_role("region", name="Pinned for the agent")
    await expect(tray.get_by_role("listitem")).to_have_count(2)
    await tray.get_by_role("button", name="Unpin Two lines").click()
    await expect(tray.get_by_role("listitem")).to_have_count(1)
    await tray.get_by_role("button", name="Unpin The answer.").click()
    await expect(tray).to_have_count(0)
    await expect(pin).to_have_attribute("aria-pressed", "false")


async def test_messages_are_pinned_faster_than_answers_come(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="One."), Turn(text="Two."), Turn(text="Three."))
    tab = await stage.tab(context, await stage.session("quickly pinned"))
    for answer in ("One.", "Two.", "Three."):
        await tab.send("Count.")
        await expect(tab.messages).to_contain_text(answer)
        await tab.idle()
    held = await hold(tab.page, "**/pins")
    pins = tab.messages.locator(".message.assistant").get_by_role("button", name="Pin for the agent")
    for number in range(3):
        await pins.nth(number).focus()
        await tab.page.keyboard.press("Enter")
    held.free.set()
    await expect(tab.page.locator("#strip-words")).to_contain_text("3 pinned")


async def test_files_are_pinned_from_the_tree_and_the_review(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(tools=[ToolUse("write", {"filePath": "made.txt", "content": "made\n"})]), Turn(text="Done.")
    )
    (stage.project / "kept.txt").write_text("kept\n")
    tab = await stage.tab(context, await stage.session("pinned files"))
    await tab.send("Write.")
    await tab.idle()
    await tab.review.get_by_role("button", name="Pin this file for the agent").first.click()
    words = tab.page.locator("#strip-words")
    await expect(words).to_contain_text("1 pinned")
    await tab.page.keyboard.press("Control+Shift+E")
    row = tab.page.locator(".files-row[data-path='kept.txt']")
    await row.click(button="right")
    await tab.page.get_by_role("menuitem", name="Pin for the agent").click()
    await expect(tab.page.locator("#toasts")).to_contain_text("has kept.txt in full")
    await expect(words).to_contain_text("2 pinned")
