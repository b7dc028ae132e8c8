"""The language of the page is chosen on the settings page, or asked for by the browser."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.conftest import WIDE, watch
from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_a_language_is_chosen_and_kept(stage: Stage, context: BrowserContext) -> None:
    page = (await stage.tab(context, await stage.session("in words"))).page
    session = page.url
    await page.goto(session.split("/p/")[0] + "/settings")
    await page.get_by_label("Language", exact=True).select_option("de")
    await expect(page.get_by_role("heading", name="Einstellungen", exact=True)).to_be_visible()
    await expect(page.locator("html")).to_have_attribute("lang", "de")
    await expect(page.get_by_label("Sprache", exact=True)).to_have_value("de")
    await page.get_by_label("Eine Einstellung suchen").fill("Farbschema")
    await expect(page.locator("#settings-found")).to_have_text(re.compile("^[0-9]+ gefunden$"))

    await page.goto(session)
    await expect(page.locator("#connection")).to_have_text("Verbunden")
    await expect(page.get_by_role("button", name="Senden")).to_be_visible()
    await page.goto(session.split("/p/")[0] + "/settings")
    await page.get_by_label("Sprache", exact=True).select_option("")
    await expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()


async def test_each_browser_is_told_in_its_own_language(
    stage: Stage, context: BrowserContext, browser: Browser
) -> None:
    """Of the same turn, as it goes on."""
    stage.plays(Turn(text="```python\nx = 1\n```\n"))
    session = await stage.session("told in words")
    german = await browser.new_context(viewport=WIDE, reduced_motion="reduce", locale="de-DE")
    faults = watch(german)
    one, other = await stage.tab(context, session), await stage.tab(german, session)
    await one.send("Say it in code")
    await expect(one.messages.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    await expect(other.messages.get_by_role("button", name="Kopieren", exact=True)).to_be_visible()
    await expect(other.page.locator(f"#{session}-link time")).to_have_text("jetzt")
    await expect(one.page.locator(f"#{session}-link time")).to_have_text("now")
    await other.idle()
    await other.page.close()
    await german.close()
    assert faults == []
