"""A tour of a change: made on a click, walked by keys, judged at its stops, outdated by the next change."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from tests.e2e.stage import Stage, Tab
from tests.e2e.test_review import button, change, edited, file_of, hunk, turn, without
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def told(*stops: tuple[str, list[int]]) -> Turn:
    given = [
        {"title": title, "text": f"{title} comes here. It has a reason.", "hunks": hunks}
        for title, hunks in stops
    ]
    return Turn(text=json.dumps({"stops": given}))


THREE = told(("The new file", [1]), ("The end and the middle", [4, 3]), ("Lost", [17]))
"""Hunk 2, which is line 2, is at none."""


async def make(page: Page) -> None:
    await page.locator("#tour-open, #tour-anew").first.click()
    dialog = page.get_by_role("dialog", name="tour")
    await dialog.get_by_role("button", name="Make it").click()
    await expect(dialog).to_have_count(0)


async def at(tab: Tab, number: int, count: int, title: str) -> None:
    place = tab.review.locator("#review-tour")
    await expect(place.locator(".label").first).to_have_text(f"Stop {number} of {count}")
    await expect(place.get_by_role("heading")).to_have_text(title)


NEWS = """
() => {
  const news = document.getElementById("review-news"), list = `${location.pathname}/review`;
  const more = { "hx-get": list, "hx-trigger": "load", "hx-target": "#review", "hx-sync": "#review:replace" };
  for (const [name, value] of Object.entries(more)) news.setAttribute(name, value);
  const fresh = news.cloneNode();
  news.replaceWith(fresh);
  htmx.process(fresh);
}
"""
"""As the server tells the page that something has changed."""


async def test_news_of_the_change_meanwhile_take_no_keyboard_away(
    stage: Stage, context: BrowserContext
) -> None:
    tab, _ = await edited(stage, context, "told-meanwhile")
    stage.plays(THREE)
    asked = 0

    async def replaced(route: Route) -> None:
        nonlocal asked
        asked += 1
        await (tab.page.evaluate(NEWS) if asked == 1 else route.continue_())

    await tab.page.route(re.compile(r"/review\?.*stop=1"), replaced)
    await make(tab.page)
    await at(tab, 1, 3, "The new file")
    assert asked > 1
    await expect(tab.review.locator("#tour-title")).to_be_focused()


async def test_a_tour_is_made_and_walked_by_keys(stage: Stage, context: BrowserContext) -> None:
    tab, old = await edited(stage, context, "toured")
    stage.plays(THREE)
    await make(tab.page)
    await at(tab, 1, 3, "The new file")
    await expect(tab.review.locator(".file")).to_have_count(1)
    await expect(tab.review.locator("#review-tour")).to_contain_text("It has a reason.")
    await expect(tab.review.locator("#tour-title")).to_be_focused()
    press = tab.page.keyboard.press
    await press("n")
    await at(tab, 2, 3, "The end and the middle")
    await expect(tab.review.locator("[data-hunk]")).to_have_count(2)
    await expect(file_of(tab, "old.txt").locator(".file-head [data-do]")).to_have_count(0)
    await press("j")
    await press("u")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(15)
    await press("j")
    await press("y")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "kept")
    await press("n")
    await at(tab, 3, 3, "Not covered")
    await expect(tab.review.locator("[data-hunk]")).to_have_count(1)
    await expect(hunk(tab, 0)).to_contain_text("agent 2")
    await expect(tab.review.locator("#tour-next")).to_be_disabled()
    await hunk(tab, 0).focus()
    await press("c")
    await tab.page.get_by_label("Comment on line").fill("Why two?")
    await press("Control+Enter")
    await expect(tab.page.locator(".comment-tray")).to_contain_text("1 comment")
    await tab.page.reload()
    await at(tab, 3, 3, "Not covered")
    await expect(hunk(tab, 0)).to_contain_text("Why two?")
    await button(tab.review, "Leave the tour").click()
    await expect(tab.review.locator("[data-hunk]")).to_have_count(4)
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "gone")
    await button(tab.review, "Tour").click()
    await at(tab, 1, 3, "The new file")


async def test_a_tour_is_outdated_by_the_next_change(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await edited(stage, context, "outdated")
    stage.plays(told(("All of it", [1, 2, 3, 4])))
    await make(tab.page)
    await at(tab, 1, 1, "All of it")
    await turn(tab, stage, change("outdated/old.txt", 22, "later 22"))
    place = tab.review.locator("#review-tour")
    await expect(place).to_contain_text("1 hunk is new or changed.")
    await at(tab, 1, 2, "All of it")
    await place.get_by_text("All stops").click()
    await place.get_by_role("button", name="Not covered").click()
    await at(tab, 2, 2, "Not covered")
    await expect(hunk(tab, 0)).to_contain_text("later 22")
    await place.get_by_text("All stops").click()
    stage.plays(Turn(text="I cannot."), told(("Anew", [1, 2, 3, 4, 5])))
    await place.get_by_role("button", name="Make it anew").click()
    dialog = tab.page.get_by_role("dialog", name="Make the tour anew")
    await dialog.get_by_role("button", name="Make it").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("no tour that can be read")
    await dialog.get_by_role("button", name="Make it").click()
    await at(tab, 1, 1, "Anew")
    await expect(place).not_to_contain_text("outdated")


async def test_each_scope_has_a_tour_of_its_own(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await edited(stage, context, "toured-each")
    scope = tab.review.get_by_label("What to review")
    for label in ("Last prompt", "Project"):
        await scope.select_option(label=label)
        await expect(tab.review.locator("#tour-open")).to_be_visible()
        stage.plays(told((f"Of {label}", [1, 2])))
        await make(tab.page)
        await at(tab, 1, 2, f"Of {label}")
        await expect(scope.locator("option:checked")).to_have_text(label)
    await scope.select_option(label="Session")
    await expect(tab.review.locator("#review-tour")).to_have_count(0)
    await expect(tab.review.locator(".file")).to_have_count(2)
