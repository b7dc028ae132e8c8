"""The palette by its key and by its button: found, done, remembered."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import BrowserContext, Locator, Route, expect

from opencode_web.vendor import STATIC
from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage, Tab, hold

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def palette(tab: Tab) -> Locator:
    return tab.page.locator("#palette")


async def find(tab: Tab, text: str) -> Locator:
    """The entry that Enter takes, once the list is of this text."""
    async with tab.page.expect_response("**/pickers/palette?*"):
        await tab.page.keyboard.press("Control+k")
    field = palette(tab).get_by_role("combobox")
    await expect(field).to_be_focused()
    async with tab.page.expect_response("**/pickers/palette?*q=*"):
        await field.fill(text)
    chosen = palette(tab).locator("[data-active]")
    await expect(chosen).to_have_count(1)
    return chosen


async def test_everything_is_a_few_letters_away(stage: Stage, context: BrowserContext) -> None:
    other = await stage.session("the other one")
    tab = await stage.tab(context, await stage.session("this one"))
    await expect(await find(tab, "keys and")).to_contain_text("Keys and commands")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator("#help")).to_be_visible()
    await expect(tab.page.locator("#help")).to_contain_text("Do something, or go to a session")
    await tab.page.keyboard.press("Escape")

    await find(tab, "plan")
    await palette(tab).locator("[data-id='agent:plan']").click()
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("plan")

    await tab.prompt.fill("Look at")
    await find(tab, "hello.py")
    await palette(tab).locator("[data-id='file:hello.py']").click(modifiers=["Control"])
    await expect(tab.prompt).to_have_value("Look at @hello.py ")
    await expect(tab.prompt).to_be_focused()

    await expect(await find(tab, "the other")).to_contain_text("the other one")
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url(f"**/{other}")
    await tab.connected()
    await expect(palette(tab)).to_be_hidden()


async def test_what_is_typed_while_it_loads_is_heard(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("loads late"))
    goes_on = asyncio.Event()

    async def late(route: Route) -> None:
        await goes_on.wait()
        await route.continue_()

    await tab.page.route("**/*palette.js", late)
    await tab.page.keyboard.press("Control+p")
    await tab.page.keyboard.type("numb")
    goes_on.set()
    await expect(palette(tab).locator("[data-active]")).to_contain_text("numbers.txt")
    await expect(palette(tab).get_by_role("combobox")).to_have_value("numb")
    await expect(tab.prompt).to_have_value("")


async def test_an_entry_stays_between_press_and_release(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("presses"))
    await find(tab, "plan")
    entry = palette(tab).locator("[data-id='agent:plan']")
    held = await hold(tab.page, "**/pickers/palette?*")
    async with tab.page.expect_response("**/pickers/palette?*q=*") as answered:
        await palette(tab).get_by_role("combobox").fill("pla")
        await entry.hover()
        await tab.page.mouse.down()
        held.free.set()
    await (await answered.value).finished()
    await tab.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    await tab.page.mouse.up()
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("plan")
    await expect(palette(tab)).to_be_hidden()


async def test_enter_waits_for_what_was_typed(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("in a hurry"))
    await tab.page.keyboard.press("Control+p")
    await expect(palette(tab).locator("[data-active]")).to_have_count(1)
    for letter in "numbers":
        await tab.page.keyboard.press(letter)
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("textbox", name="Text of numbers.txt")).to_be_focused()


async def test_enter_is_for_the_option_that_was_gone_to_though_the_list_comes_anew(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context, await stage.session("goes to it"))
    await find(tab, "agen")
    options = palette(tab).get_by_role("option")
    plan = palette(tab).locator("[data-id='agent:plan']")
    await expect(options.first).not_to_have_attribute("data-id", "agent:plan")
    held = await hold(tab.page, "**/pickers/palette?*")
    await tab.page.keyboard.press("t")
    await held.asked.wait()
    for _ in range(await options.count()):
        if await plan.get_attribute("data-active") is None:
            await tab.page.keyboard.press("ArrowDown")
    await expect(plan).to_have_attribute("data-active", "")
    await tab.page.keyboard.press("Enter")
    held.free.set()
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("plan")


async def test_what_was_done_last_is_offered_first(stage: Stage, context: BrowserContext) -> None:
    if not (STATIC / "vendor/@xterm/xterm/xterm.mjs").exists():
        pytest.skip("xterm.js is not here: python -m opencode_web.vendor")
    provokes(context, "/api/pty/")  # one that was closed meanwhile is unknown
    tab = await stage.tab(context, await stage.session("remembers"))
    await find(tab, "timeline")
    await tab.page.keyboard.press("Escape")
    await expect(palette(tab)).to_be_hidden()
    await find(tab, "hide the terminals")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await tab.page.keyboard.press("Control+`")
    await expect(tab.page.locator("#terminal")).to_be_hidden()
    await tab.page.get_by_role("button", name="Do something, or go somewhere").click()
    await expect(palette(tab).locator("[role=group]").first).to_contain_text("Recent")
    options = palette(tab).get_by_role("option")
    await expect(options.first).to_contain_text("Show or hide the terminals")
    await expect(options.first).to_have_attribute("data-active", "")
    await tab.page.keyboard.press("ArrowUp")
    await expect(options.last).to_have_attribute("data-active", "")
    await tab.page.keyboard.press("Control+k")
    await expect(palette(tab)).to_be_hidden()
    for terminal in (await stage.client.http.get("/api/pty")).json()["data"]:
        await stage.client.http.delete(f"/api/pty/{terminal['id']}")


async def test_a_file_is_opened_by_a_few_letters_and_a_line(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("picks"))
    await tab.page.keyboard.press("Control+p")
    field = tab.page.get_by_role("dialog", name="Open a file").get_by_role("combobox")
    async with tab.page.expect_response("**/pickers/palette?*q=numb*"):
        await field.fill("numbers.txt:12")
    await expect(palette(tab).locator("[data-active]")).to_contain_text("numbers.txt")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("textbox", name="Text of numbers.txt")).to_be_focused()
    place = tab.page.locator(".opened:visible .opened-place-of")
    await expect(place).to_have_text("Line 12, column 1")

    await tab.page.keyboard.press("Control+p")
    async with tab.page.expect_response("**/pickers/palette?*q=%3A3*"):
        await field.fill(":3")
    await expect(palette(tab).locator("[data-active]")).to_contain_text("Line 3")
    await tab.page.keyboard.press("Enter")
    await expect(place).to_have_text("Line 3, column 1")

    await tab.page.keyboard.press("Control+p")
    await expect(palette(tab)).to_be_visible()
    await expect(palette(tab).locator("[data-active]")).to_contain_text("numbers.txt")
    await tab.page.keyboard.press("Control+Enter")
    await expect(tab.prompt).to_have_value("@numbers.txt ")
