"""The review by keyboard alone, on a small screen, and after the server was started again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.conftest import repository, watch
from tests.e2e.stage import Stage
from tests.e2e.test_review import button, edited, file_of, hunk, without

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SMALL = {"width": 390, "height": 844}
TOO_SMALL = """(all) => all.map((one) => one.closest("label, button").getBoundingClientRect())
    .filter((box) => box.width && box.height < 40).length"""
TARGETS = ".file button:visible:not(.gap-bar *), .file input:visible, .review-head button:visible"


async def test_by_keyboard_alone(stage: Stage, context: BrowserContext) -> None:
    tab, old = await edited(stage, context, "keys")
    press, said = tab.page.keyboard.press, tab.review.locator("#review-live")
    await expect(tab.review.locator(".file")).to_have_count(2)
    await tab.review.locator("#review-wide").focus()
    await press("n")
    await expect(file_of(tab, "new.txt").locator("[data-fold]")).to_be_focused()
    await press("n")
    await press("j")
    await expect(hunk(tab, 0)).to_be_focused()
    await expect(said).to_have_text("Hunk 1 of 3, keys/old.txt")
    await press("j")
    await press("u")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "gone")
    await expect(hunk(tab, 1)).to_be_focused()
    assert old.read_text() == without(15)
    await press("r")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "here")
    assert old.read_text() == without()
    await press("y")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "kept")
    await press("y")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "here")
    await press("j")
    await press("v")
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "viewed")
    await press("k")
    await press("k")
    await expect(hunk(tab, 0)).to_be_focused()
    await press("e")
    await expect(tab.review.get_by_role("navigation", name="Files of the review")).to_be_visible()
    await expect(tab.prompt).not_to_be_focused()
    await press("s")
    await expect(tab.review.locator("table.split").first).to_be_visible()
    await press("s")
    await expect(tab.review.locator("table.unified").first).to_be_visible()
    await press("?")
    await expect(tab.page.get_by_role("dialog", name="Keys of the review")).to_be_visible()
    await press("Escape")
    await press("Escape")
    await expect(tab.review.get_by_role("navigation", name="Files of the review")).to_be_hidden()
    await button(hunk(tab, 0), "Why\u2026").focus()
    await press("Enter")
    await tab.page.keyboard.type("u y r n")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
    assert old.read_text() == without()
    await press("Enter")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(2)


async def test_on_a_small_screen(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(viewport=SMALL, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    faults = watch(context)
    tab, old = await edited(stage, context, "small")
    await tab.page.get_by_role("button", name="Changed files").tap()
    await button(tab.review, "Files").tap()
    await tab.review.get_by_label("Filter files by name").fill("old")
    await expect(tab.review.locator(".tree-file:visible")).to_have_count(1)
    await tab.review.locator(".tree-file:visible button").tap()
    await expect(tab.review.locator("#review-tree")).to_be_hidden()
    assert await tab.review.locator(TARGETS).evaluate_all(TOO_SMALL) == 0
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    await button(hunk(tab, 2), "Undo").tap()
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(29)
    await context.close()
    assert faults == []


async def test_redo_after_a_restart(tmp_path: Path, context: BrowserContext) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with Stage(home, repository(tmp_path / "project")) as stage:
        tab, old = await edited(stage, context, "restarted")
        await button(hunk(tab, 0), "Undo").click()
        await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
        await button(hunk(tab, 2), "Keep").click()
        await expect(hunk(tab, 2)).to_have_attribute("data-state", "kept")
        session = tab.session_id
        await tab.page.close()
        await asyncio.to_thread(stage.server.kill)
        await asyncio.to_thread(stage.server.start)
        await stage.log_in()
        tab = await stage.tab(context, session)
        await expect(hunk(tab, 2)).to_have_attribute("data-state", "kept")
        assert old.read_text() == without(2)
        await button(hunk(tab, 0), "Redo").click()
        await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
        assert old.read_text() == without()
