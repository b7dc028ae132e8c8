"""From a word that is remembered to the place in a conversation where it was said."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

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


async def test_a_search_is_kept(stage: Stage, context: BrowserContext) -> None:
    await talked(stage, "kept")
    tab = await stage.tab(context, await stage.session("keeps a search"))
    page = tab.page
    await page.goto(f"{page.url.partition('/p/')[0]}/search")
    field, kept = page.get_by_role("searchbox"), page.get_by_role("list", name="Saved searches")
    await expect(kept).to_have_count(0)
    await field.fill("quokka ran:'x")
    await kept.get_by_role("button", name="Save this search").click()
    await expect(kept.get_by_role("button", name="Save this search")).to_have_count(0)
    await field.fill("wallaby")
    await expect(kept.get_by_role("button", name="Save this search")).to_be_visible()
    await kept.get_by_role("link", name="quokka ran:'x").click()
    await expect(field).to_have_value("quokka ran:'x")

    await tab.open(tab.session_id if "/s/" in page.url else await stage.session("from the palette"))
    await page.keyboard.press("Control+k")
    await page.keyboard.type("quokka ran")
    await page.get_by_role("option", name="quokka ran:'x").click()
    await page.wait_for_url("**/search?q=quokka+ran*")
    await kept.get_by_role("button", name="No longer keep the search quokka ran:'x").click()
    await expect(kept.get_by_role("link")).to_have_count(0)


COUNTED = re.compile(r"^\d+ of \d+$")
MARKED_NOW = "() => [...(CSS.highlights.get('found-current') ?? [])].map((range) => range.toString())"


async def test_a_conversation_is_looked_through_to_its_beginning(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context, await talked(stage, "looked through"))
    page = tab.page
    await tab.prompt.fill("Not sent")
    goes_on = asyncio.Event()

    async def late(route: Route) -> None:
        await goes_on.wait()
        await route.continue_()

    await page.route("**/*find-within.js", late)
    await page.keyboard.press("Control+f")
    await page.keyboard.type("answer 2")
    goes_on.set()
    field, count = page.get_by_role("searchbox", name="Find in the conversation"), page.locator("#find-count")
    await expect(field).to_have_value("answer 2")
    await expect(count).to_have_text(re.compile(r"^1[01] of 11$"))  # 2, and 20 to 29: the first in sight
    await page.wait_for_function(f"() => ({MARKED_NOW})().join() === 'Answer 2'")
    while (await count.text_content()) != "11 of 11":
        await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await expect(count).to_have_text("1 of 11")
    await page.keyboard.press("Shift+Enter")
    await expect(count).to_have_text("11 of 11")

    await field.fill("WALLABY")
    await expect(count).to_have_text(COUNTED)
    await page.wait_for_function(f"() => ({MARKED_NOW})().join() === 'wallaby'")
    await page.wait_for_function(SEEN.replace("'found'", "'found-current'"))
    await field.fill("kangaroo")
    await expect(count).to_have_text("Not found")
    await page.keyboard.press("Escape")
    await expect(field).to_be_hidden()
    await expect(tab.prompt).to_be_focused()
    await expect(tab.prompt).to_have_value("Not sent")
    await page.wait_for_function(f"() => ({MARKED_NOW})().length === 0")


async def test_what_a_card_hides_is_opened(stage: Stage, context: BrowserContext) -> None:
    session = await talked(stage, "about wallabies")
    tab = await stage.tab(context, await stage.session("somewhere else"))
    await tab.page.keyboard.press("Escape")
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("/")
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
