"""What comes and goes does so in a motion, and in none for those who want none."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

NOTE = """
window.motions = new Set();
document.addEventListener("animationstart", ({ animationName }) => window.motions.add(animationName), true);
"""


async def named(part: Locator) -> str:
    return str(await part.evaluate("part => getComputedStyle(part).animationName"))


@pytest.mark.long
async def test_what_comes_and_goes_moves(stage: Stage, context: BrowserContext) -> None:
    await context.add_init_script(NOTE)
    session, other = await stage.session("Moves"), await stage.session("Goes")
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch moved"})]), Turn(text="Done."))
    tab = await stage.tab(context, session)
    page = tab.page
    await page.emulate_media(reduced_motion="no-preference")
    await tab.send("Go.")
    await expect(tab.permissions).to_be_visible()
    await expect(page.locator("[data-fresh]")).to_have_count(0)
    await page.get_by_role("button", name="Changed files").click()
    await expect(tab.review).to_be_visible()
    await page.locator("#inbox-button").click()
    await page.keyboard.press("Escape")
    await tab.item(other).get_by_label("Actions for").click()
    await page.get_by_role("menuitem", name="Archive").click()
    await page.locator(".toast").get_by_role("button", name="Undo").wait_for()
    await page.locator(".toast").get_by_role("button", name="Dismiss").click()
    await expect(page.locator(".toast")).to_have_count(0)
    assert {"arrive", "enter", "leave"} <= set(await page.evaluate("[...window.motions]"))


async def test_who_wants_no_motion_has_none(stage: Stage, context: BrowserContext) -> None:
    session = await stage.session("Goes at once")
    tab = await stage.tab(context, await stage.session("Stands still"))
    page = tab.page
    await page.emulate_media(reduced_motion="reduce")
    menu = page.get_by_role("menu", name="What to do with the session")
    await tab.item(session).get_by_label("Actions for").click()
    assert await named(menu) == "none"
    await menu.get_by_role("menuitem", name="Archive").click()
    toast = page.locator(".toast")
    await toast.get_by_role("button", name="Undo").wait_for()
    assert await named(toast) == "none"
    await toast.get_by_role("button", name="Dismiss").click()
    await expect(toast).to_have_count(0)
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.get_by_role("button", name="Sessions").click()
    sidebar = page.locator("#sidebar")
    assert await sidebar.evaluate("part => getComputedStyle(part).transitionProperty") == "none"
