"""Panels and their widths are kept by project, and can be put back."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, ViewportSize, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.e2e.test_face import width

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_panels_are_kept_by_project_and_put_back(
    stage: Stage, context: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = {"directory": str(repository(tmp_path_factory.mktemp("layouts") / "other"))}
    session = (await stage.client.http.post("/session", params=where, json={"title": "elsewhere"})).json()
    elsewhere = f"{stage.server.url}/p/{session['projectID']}/s/{session['id']}"
    here = await stage.session("laid out")
    tab = await stage.tab(context, here)
    page, sidebar = tab.page, tab.page.locator("#sidebar")
    edge = page.get_by_role("separator", name="Width of the list of sessions")
    first = await width(sidebar)
    await edge.press("End")
    wide = await width(sidebar)
    assert wide > first
    await page.get_by_role("button", name="Changed files").click()
    await expect(tab.review).to_be_visible()

    await page.goto(elsewhere)
    assert await width(sidebar) == wide  # as the last one was left
    await expect(tab.review).to_be_hidden()
    await edge.press("Home")
    await tab.prompt.press("Control+Shift+e")
    await expect(page.get_by_role("tree", name="Files of the project")).to_be_visible()

    await tab.open(here)
    assert await width(sidebar) == wide
    await expect(page.locator("#session-list")).to_be_visible()
    await expect(tab.review).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("panels of this project")
    await expect(page.get_by_role("option").first).to_contain_text("back to where they began")
    await page.keyboard.press("Enter")
    await expect(tab.review).to_be_hidden()
    assert await width(sidebar) == first
    await page.reload()
    assert await width(sidebar) == first
    await expect(tab.review).to_be_hidden()

    await page.goto(elsewhere)
    assert await width(sidebar) == 200
    await expect(page.get_by_role("tree", name="Files of the project")).to_be_visible()
    await page.close()


async def test_what_opens_over_the_page_stays_within_the_window(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context, await stage.session("opened over"))
    page = tab.page
    await page.get_by_role("button", name="Changed files").click()
    await expect(tab.review).to_be_visible()
    sizes: list[ViewportSize] = [{"width": 1200, "height": 800}, {"width": 390, "height": 844}]
    for size in sizes:
        await page.set_viewport_size(size)
        for key in "ishmdw":
            await page.locator("#scroller").focus()
            await page.keyboard.press("g")
            await page.keyboard.press(key)
            opened = page.locator(":popover-open")
            await expect(opened).to_have_count(1)
            box = await opened.bounding_box()
            assert box
            assert box["x"] >= 0, key
            assert box["x"] + box["width"] <= size["width"], key
            await page.keyboard.press("Escape")
            await expect(opened).to_have_count(0)
    await page.close()
