"""A double click is one click, whatever comes under the pointer after its first half."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def first_half(page: Page, button: Locator) -> None:
    """Click, and leave the pointer there."""
    box = await button.bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.down()
    await page.mouse.up()


async def second_half(page: Page) -> None:
    await page.mouse.down(click_count=2)
    await page.mouse.up(click_count=2)


async def test_the_next_prompt_that_waits_is_not_withdrawn_too(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["Busy. ", Wait("busy")]), Turn(text="One."), Turn(text="Two."))
    tab = await stage.tab(context, await stage.session("withdraws once"))
    await tab.send("Work.")
    await expect(tab.messages).to_contain_text("Busy.")
    rows = tab.page.locator("#queue li")
    for number, text in enumerate(("first", "second", "third"), 1):
        await tab.send(text)
        await expect(rows).to_have_count(number)
    await first_half(tab.page, rows.last.locator("[data-withdraw]"))
    await expect(rows).to_have_count(2)
    await expect(rows.last.locator("[data-withdraw]:hover")).to_have_count(1)
    async with tab.page.expect_event("console", lambda message: message.text == "clicked"):
        await tab.page.evaluate("addEventListener('mouseup', () => setTimeout(() => console.log('clicked')))")
        await second_half(tab.page)
    await first_half(tab.page, rows.last.locator("[data-withdraw]"))
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("first")
    stage.model.gate("busy").open()
    await expect(tab.messages).to_contain_text("One.")


async def test_what_takes_it_back_is_not_under_the_pointer(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("shares once"))
    await tab.page.locator("#share-button button").click()
    await first_half(tab.page, tab.dialog.get_by_role("button", name="Share"))
    await expect(tab.dialog.get_by_role("button", name="Stop sharing")).to_be_visible()
    await expect(tab.page.locator(".danger:hover")).to_have_count(0)
    await second_half(tab.page)
    await expect(tab.page.locator("#share-button button")).to_have_attribute("data-shared", "")
    await tab.dialog.get_by_role("button", name="Stop sharing").click()
