"""From a word that is remembered to the place in a conversation where it was said."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

MARKED = "() => [...(CSS.highlights.get('found') ?? [])].map((range) => range.toString())"
SEEN = """() => [...CSS.highlights.get('found')].some((range) => {
  const { top, bottom, height } = range.getBoundingClientRect();
  const frame = document.getElementById('scroller').getBoundingClientRect();
  return height > 0 && top >= frame.top && bottom <= frame.bottom;
})"""


async def talked(stage: Stage, title: str) -> str:
    """A session with something far back in it, folded in a card."""
    session = await stage.session(title)
    call = ToolUse("bash", {"command": "echo the wallaby && seq 40", "description": "Look"})
    stage.plays(Turn(text="I look.", tools=[call]), Turn(text="There is a quokka in `find_quokka(name)`."))
    await stage.client.prompt(session, "Which animals are there?")
    for number in range(30):
        stage.plays(Turn(text=f"Answer {number}.\n\n" + "More. \n\n" * 5))
        await stage.client.prompt(session, f"Go on {number}")
    return session


async def marked(page: Page, word: str) -> None:
    await page.wait_for_function(f"(word) => ({MARKED})().includes(word)", arg=word)
    await page.wait_for_function(SEEN)


async def test_from_the_list_of_sessions_to_the_words(stage: Stage, context: BrowserContext) -> None:
    session = await talked(stage, "about animals")
    tab = await stage.tab(context, await stage.session("elsewhere"))
    await tab.page.get_by_label("Filter sessions").fill("walla")
    await expect(tab.page.get_by_role("link", name="Search what was said for “walla”")).to_be_visible()
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/search?*")
    field = tab.page.get_by_role("searchbox")
    await expect(field).to_have_value("walla")
    hit = tab.page.locator(".hit")
    await expect(hit.first).to_contain_text("echo the wallaby")
    await expect(hit.first.locator("mark").first).to_have_text("walla")

    await field.fill("find_quok")
    await expect(hit).to_have_count(1)
    await tab.page.wait_for_url("**/search?q=find_quok&*")
    await hit.click()
    await tab.page.wait_for_url(f"**/s/{session}?found=find_quok*")
    await tab.connected()
    await marked(tab.page, "find_quok")
    await expect(tab.page.locator(".found-bar")).to_contain_text("find_quok")
    await tab.page.get_by_role("link", name="No longer mark it").click()
    await expect(tab.page.locator(".found-bar")).to_have_count(0)
    await tab.page.wait_for_function(f"() => ({MARKED})().length === 0")


async def test_what_a_card_hides_is_opened(stage: Stage, context: BrowserContext) -> None:
    session = await talked(stage, "about wallabies")
    tab = await stage.tab(context, await stage.session("somewhere else"))
    await tab.page.keyboard.press("Escape")
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("s")
    await tab.page.wait_for_url("**/search?*")
    field = tab.page.get_by_role("searchbox")
    await expect(field).to_be_focused()
    await tab.page.keyboard.type(f"wallaby session:{session} r")
    await tab.page.get_by_role("button", name="ran:").click()
    await expect(field).to_have_value(f"wallaby session:{session} ran:")
    await tab.page.keyboard.type("seq")
    await expect(tab.page.locator(".hit").first).to_contain_text("wallaby")
    await tab.page.locator(".hit").first.click()
    await tab.page.wait_for_url(re.compile(f"/s/{session}[?]found="))
    await tab.connected()
    card = tab.tool("echo the wallaby")
    await expect(card.locator(".tool-output")).to_contain_text("the wallaby")
    await marked(tab.page, "wallaby")


async def test_from_the_palette(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("with a palette"))
    await tab.page.keyboard.press("Control+k")
    async with tab.page.expect_response("**/pickers/palette?*q=*"):
        await tab.page.locator("#palette-search").fill("kookaburra")
    await tab.page.locator("#palette").get_by_role("option", name="Search what was said").click()
    await tab.page.wait_for_url("**/search?q=kookaburra&*")
    await expect(tab.page.get_by_text("Nothing found")).to_be_visible()
