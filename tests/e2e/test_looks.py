"""How the page looks is chosen on the settings page, seen at once, and kept."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from sessions.web.looks.themes import tokens
from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def value(page: Page, name: str) -> str:
    """Of a custom property."""
    asked = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    return str(await page.evaluate(asked, name))


async def chosen(page: Page, name: str) -> None:
    await expect(page.locator("html")).to_have_attribute("data-scheme", "dark")
    assert await value(page, "--bg") == tokens(name)["--bg"]


IS_FIRA = "() => getComputedStyle(document.documentElement).getPropertyValue('--mono').includes('Fira')"


async def test_what_is_chosen_last_counts_though_a_theme_comes_late(
    stage: Stage, context: BrowserContext
) -> None:
    page = (await stage.tab(context, await stage.session("late looks"))).page
    await page.get_by_role("link", name="Settings").click()
    form = page.locator("#looks")
    held: list[Route] = []
    chosen = asyncio.Event()

    async def hold(route: Route) -> None:
        """Of the first two: one is seen by pointing, and then chosen."""
        if chosen.is_set():
            await route.continue_()
            return
        held.append(route)
        if len(held) == 2:
            chosen.set()

    await page.route("**/settings/looks/theme?*", hold)
    await form.get_by_label("Slate").check()
    async with asyncio.timeout(15):
        await chosen.wait()
    await form.get_by_label("Typeface of code").fill("Fira Code")
    await page.keyboard.press("Tab")
    await page.wait_for_function(IS_FIRA)
    for route in held:
        async with page.expect_response("**/settings/looks/theme?*"):
            await route.continue_()
    await page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert await page.evaluate(IS_FIRA)
    assert "Fira" in (await page.evaluate("localStorage.getItem('looks')"))
    await page.evaluate("localStorage.removeItem('looks')")


async def test_a_theme_is_seen_by_pointing_and_kept_by_choosing(
    stage: Stage, context: BrowserContext
) -> None:
    page = (await stage.tab(context, await stage.session("looks"))).page
    session = page.url
    await page.get_by_role("link", name="Settings").click()
    form = page.locator("#looks")
    await expect(form).to_be_visible()
    usual = await value(page, "--bg")
    await form.get_by_text("Forest").hover()
    await chosen(page, "forest")
    await page.get_by_role("heading", name="Open in").hover()
    await expect(page.locator("html")).not_to_have_attribute("data-scheme", "dark")
    assert await value(page, "--bg") == usual

    await form.get_by_label("Slate").check()
    await form.get_by_label("Text", exact=True).select_option("1.25")
    await form.get_by_label("Typeface of code").fill('Fira "Code;}')
    await page.keyboard.press("Tab")
    await page.wait_for_function(IS_FIRA)
    await form.get_by_label("No motion").check()
    await expect(page.locator("html")).to_have_attribute("data-motion", "none")
    await page.goto(session)
    await chosen(page, "slate")
    assert await value(page, "--text-body") == "18.8px"
    assert (await value(page, "--mono")).startswith('"Fira Code"')
    await page.goto(session.split("/p/")[0] + "/settings")
    await expect(form.get_by_label("Slate")).to_be_checked()
    await form.get_by_label("As the system").check()
    await expect(page.locator("html")).not_to_have_attribute("data-scheme", "dark")
    await page.goto(session)
    assert await value(page, "--bg") == usual


async def test_colours_of_another_version_are_had_anew(stage: Stage, context: BrowserContext) -> None:
    page = (await stage.tab(context, await stage.session("looks of before"))).page
    old = '{"theme": "plum", "scheme": "dark", "from": "old", "properties": {"--bg": "#ff0000"}}'
    await page.evaluate("old => localStorage.setItem('looks', old)", old)
    await page.reload()
    renewed = "bg => getComputedStyle(document.documentElement).getPropertyValue('--bg').trim() === bg"
    await page.wait_for_function(renewed, arg=tokens("plum")["--bg"])
