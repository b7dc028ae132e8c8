"""The page on a phone: what a keyboard on the screen leaves of it, and dialogs as sheets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

COVER = """
(height) => {
  Object.defineProperty(visualViewport, "height", { configurable: true, get: () => height });
  visualViewport.dispatchEvent(new Event("resize"));
}
"""
"""What a browser says whose keyboard lies over the page: the page stays as it is, and less of it is seen."""


@pytest_asyncio.fixture(loop_scope="session")
async def phone(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    yield context
    await context.close()


async def test_a_keyboard_over_the_page_does_not_hide_the_prompt(stage: Stage, phone: BrowserContext) -> None:
    tab = await stage.tab(phone, await stage.session("typed"))
    await tab.page.wait_for_load_state("networkidle")
    assert await tab.page.evaluate("visualViewport.height") == 844
    await tab.prompt.tap()
    await tab.page.evaluate(COVER, 480)
    send = tab.page.get_by_role("button", name="Send")
    for control in (tab.prompt, send):
        box = await control.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < box["y"] + box["height"] <= 480
    await tab.page.evaluate(COVER, 844)
    box = await send.bounding_box()
    assert box is not None
    assert box["y"] > 480


async def test_a_dialog_comes_from_below_and_stays_above_the_keyboard(
    stage: Stage, phone: BrowserContext
) -> None:
    tab = await stage.tab(phone, await stage.session("in a folder"))
    await tab.prompt.fill("/move ")
    await tab.prompt.press("Enter")
    dialog = tab.page.get_by_role("dialog", name="Move this session to a worktree")
    await expect(dialog).to_be_visible()
    for height in (844, 480):
        await tab.page.evaluate(COVER, height)
        box = await dialog.bounding_box()
        assert box is not None
        assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, height)
        assert box["y"] >= 32
