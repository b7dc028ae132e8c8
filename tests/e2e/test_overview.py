"""The overview by hand: rows move by themselves, several are acted on, the filter is kept as a view."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.stage import Stage, hold
from tests.loopback.script import Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def overview(stage: Stage, context: BrowserContext) -> Page:
    page = (await stage.tab(context)).page
    await page.goto(f"{stage.server.url}/?choose")
    await expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    return page


async def test_a_row_follows_its_session_from_column_to_column(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["Going.", Wait("overview-gone"), " Gone."]))
    session = await stage.session("followed over the board")
    page = await overview(stage, context)
    row = page.locator(f"#{session}-row")
    await expect(page.locator("#rows-idle").locator(f"#{session}-row")).to_be_visible()
    tab = await stage.tab(context, session)
    await tab.send("Go")
    await expect(page.locator("#rows-running").locator(f"#{session}-row")).to_be_visible()
    await expect(row).to_contain_text("Writes")
    await tab.page.close()
    stage.model.gate("overview-gone").open()
    await expect(page.locator("#rows-done").locator(f"#{session}-row")).to_be_visible()
    await row.get_by_role("link").first.click()
    await expect(page).to_have_url(re.compile(session))
    await page.keyboard.press("Escape")
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("o")
    await expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()


async def test_a_row_chosen_before_all_is_loaded_stays_chosen(stage: Stage, context: BrowserContext) -> None:
    session = await stage.session("chosen at once")
    page = (await stage.tab(context)).page
    held = await hold(page, re.compile(r"\+overview\.js$"))
    await page.goto(f"{stage.server.url}/?choose", wait_until="commit")
    await held.asked.wait()
    box = page.locator(f"#{session}-row").get_by_role("checkbox")
    await box.check()
    held.free.set()
    await expect(page.get_by_role("form", name="Chosen sessions")).to_contain_text("1 chosen")
    await expect(box).to_be_checked()


async def test_several_of_the_board_are_archived_and_brought_back(
    stage: Stage, context: BrowserContext
) -> None:
    ids = [await stage.session(f"several of the board {number}") for number in range(2)]
    page = await overview(stage, context)
    for number in range(2):
        await page.get_by_role("checkbox", name=f"Choose several of the board {number}").check()
    bar = page.get_by_role("form", name="Chosen sessions")
    await expect(bar).to_contain_text("2 chosen")
    await bar.get_by_role("button", name="Archive").click()
    for id in ids:
        await expect(page.locator(f"#{id}-row")).to_have_count(0)
    await expect(bar).to_be_hidden()
    await page.get_by_role("button", name="Undo").click()
    for id in ids:
        await expect(page.locator(f"#{id}-row")).to_be_visible()


async def test_a_filter_of_the_board_is_kept_as_a_view(stage: Stage, context: BrowserContext) -> None:
    session = await stage.session("wombats of a view")
    await stage.session("something else on the board")
    page = await overview(stage, context)
    await page.get_by_role("searchbox", name="Filter").fill("wombats")
    await expect(page.locator(".overview-row")).to_have_count(1)
    await expect(page).to_have_url(re.compile("q=wombats"))
    await page.get_by_role("button", name="Save this view").click()
    await page.get_by_role("searchbox", name="Filter").fill("")
    await expect(page.get_by_text("something else on the board")).to_be_visible()
    await page.get_by_role("list", name="Saved views").get_by_role("link", name="wombats").click()
    await expect(page.locator(".overview-row")).to_have_count(1)
    await expect(page.locator(f"#{session}-row")).to_be_visible()
    await page.get_by_role("button", name="List").click()
    await page.reload()
    await expect(page.get_by_role("button", name="List")).to_have_attribute("aria-pressed", "true")
    await page.get_by_role("button", name="No longer keep the view wombats").click()
    await expect(page.get_by_role("list", name="Saved views").get_by_role("link")).to_have_count(0)


async def test_the_work_is_seen_at_a_glance(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("seen at a glance"))
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("w")
    panel = tab.page.get_by_role("complementary", name="Work at a glance")
    await expect(panel).to_contain_text("Files changed")
    await tab.send("Go")
    await expect(panel).to_contain_text("The next step costs")
    await panel.get_by_role("button", name="Close").click()
    await expect(panel).to_be_hidden()
