"""Keys that a person changes: found, recorded, refused, taken over, live in other pages, reset."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def place(tmp_path: Path) -> AsyncIterator[Stage]:
    """One that has no keys of other tests."""
    home = tmp_path / "home"
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    keybinds = {
        "leader": "ctrl+x",
        "session_compact": "none",
        "session_new": "<leader>n,ctrl+n",
        "theme_list": "x",
    }
    (folder / "tui.json").write_text(json.dumps({"keybinds": keybinds}))
    async with Stage(home, repository(tmp_path / "project"), permission=ASKED) as stage:
        yield stage


async def settings(stage: Stage, context: BrowserContext, tab: Tab) -> Page:
    page = await context.new_page()
    await page.goto(f"{stage.server.url}/settings/keys")
    await expect(page.locator("#keys-help key-hint kbd")).to_have_text("?")
    return page


def row(page: Page, name: str) -> Locator:
    return page.locator(f"#keys-{name}")


async def record(page: Page, name: str, *pressed: str) -> None:
    """Press keys into the field of a row, by keyboard alone, and save them."""
    await row(page, name).get_by_role("button", name="Add keys").press("Enter")
    await expect(row(page, name).get_by_label("New keys")).to_be_focused()
    for chord in pressed:
        await page.keyboard.press(chord)
    await page.keyboard.press("Enter")


SHOWS = """
(name) => {
  if (document.querySelector(`body > key-hint[name=${name}]`)) return;
  const hint = document.createElement("key-hint");
  hint.setAttribute("name", name);
  document.body.append(hint);
}
"""


async def known(tab: Tab, name: str, keys: str) -> None:
    """The page has been told, and goes by these."""
    await tab.page.evaluate(SHOWS, name)
    await expect(tab.page.locator(f"body > key-hint[name={name}]")).to_have_text(keys)


async def test_a_key_is_recorded_and_acts_at_once_in_other_pages(
    place: Stage, context: BrowserContext
) -> None:
    tab = await place.tab(context, await place.session("keys"))
    page = await settings(place, context, tab)
    await record(page, "fold-list", "Control+Shift+L")
    ways = row(page, "fold-list").locator(".keys-way")
    await expect(ways).to_have_text(["Ctrl B", "Ctrl Shift L"])
    await expect(row(page, "fold-list").get_by_role("button", name="Add keys")).to_be_focused()
    await expect(page.locator("#keys-said")).to_contain_text("Saved: Fold the list")

    fold = tab.page.locator(".fold")
    await expect(fold).to_have_attribute("title", "Fold the list (Ctrl+B or Ctrl+Shift+L)")
    await expect(fold).to_have_attribute("aria-keyshortcuts", "Control+B Control+Shift+L")
    await tab.prompt.press("Control+Shift+L")
    await expect(fold).to_be_hidden()
    await tab.prompt.press("Control+b")
    await expect(fold).to_be_visible()

    await row(page, "fold-list").get_by_role("button", name="Remove Ctrl B").press("Enter")
    await expect(ways).to_have_text(["Ctrl Shift L"])
    await expect(fold).to_have_attribute("title", "Fold the list (Ctrl+Shift+L)")
    await tab.page.reload()
    await tab.connected()
    await expect(fold).to_have_attribute("title", "Fold the list (Ctrl+Shift+L)")
    other = await settings(place, context, tab)
    await row(page, "fold-list").get_by_role("button", name="Reset").press("Enter")
    await expect(row(other, "fold-list").locator(".keys-way")).to_have_text(["Ctrl B"])
    await expect(ways).to_have_text(["Ctrl B"])
    await expect(fold).to_have_attribute("title", "Fold the list (Ctrl+B)")


async def test_what_another_has_is_said_and_can_be_taken(place: Stage, context: BrowserContext) -> None:
    tab = await place.tab(context, await place.session("conflicts"))
    page = await settings(place, context, tab)
    await record(page, "compact", "Control+w")
    problem = row(page, "compact").get_by_role("alert")
    await expect(problem).to_contain_text("Ctrl+W is the browser's: it closes the tab.")
    await page.keyboard.press("Backspace")
    await page.keyboard.press("Control+k")
    await page.keyboard.press("Enter")
    await expect(problem).to_contain_text("Ctrl+K is “Do something, or go to a session, a file, a setting")
    await expect(problem).to_contain_text("(anywhere)")
    await problem.get_by_role("button", name="Use it here instead").press("Enter")
    await expect(row(page, "compact").locator(".keys-way")).to_have_text(["Ctrl K"])
    await expect(row(page, "palette").locator(".keys-note")).to_contain_text("Ctrl+K is “Sum up")
    await expect(row(page, "palette").locator(".keys-ways")).to_have_text("none")
    await page.get_by_role("button", name="Reset all").press("Enter")
    await expect(row(page, "palette").locator(".keys-way")).to_have_text(["Ctrl K"])
    await expect(page.locator(".keys-note", has_text="Ctrl+K")).to_have_count(0)


async def test_rows_are_found_by_words_and_by_keys(place: Stage, context: BrowserContext) -> None:
    tab = await place.tab(context, await place.session("found"))
    page = await settings(place, context, tab)
    shown = page.locator(".keys-row:not([hidden])")
    await page.get_by_label("Find", exact=True).fill("side by side")
    await expect(shown).to_have_count(1)
    await expect(page.locator("#keys-said")).to_have_text("1 found")
    await page.get_by_label("Find", exact=True).fill("")
    pressed = page.get_by_label("Find by pressing")
    await pressed.press("Control+b")
    await expect(pressed).to_have_value("Ctrl+B")
    await expect(shown).to_have_count(1)
    await expect(shown).to_contain_text("Fold the list")
    await page.keyboard.press("Backspace")
    await page.keyboard.press("g")
    await expect(row(page, "inbox")).to_be_visible()
    await page.keyboard.press("i")
    await expect(pressed).to_have_value("g i")
    await expect(shown).to_have_count(1)
    await expect(page.locator("#inbox")).to_be_hidden()
    await page.keyboard.press("Escape")
    await expect(pressed).not_to_be_focused()
    await expect(row(page, "send")).to_be_visible()


async def test_the_configuration_of_opencode_is_shown_and_counts(
    place: Stage, context: BrowserContext
) -> None:
    first = await place.session("the first")
    tab = await place.tab(context, first)
    page = await settings(place, context, tab)
    await expect(row(page, "new")).to_contain_text("from tui.json")
    await expect(row(page, "new").locator(".keys-way")).to_have_text(["Ctrl X n"])
    await expect(row(page, "new").locator(".keys-note")).to_contain_text(
        "From tui.json: Ctrl+N is the browser's"
    )
    await tab.prompt.fill("cut")
    await tab.prompt.press("Control+a")
    await tab.prompt.press("Control+x")
    await expect(tab.prompt).to_have_value("")
    await tab.prompt.press("Control+x")
    await tab.prompt.press("n")
    await tab.page.wait_for_url("**/s/")
    await expect(tab.prompt).to_have_value("")

    await record(page, "new", "F9")
    await expect(row(page, "new").locator(".keys-way")).to_have_text(["Ctrl X n", "F9"])
    await expect(row(page, "new")).not_to_contain_text("from tui.json")


async def test_ctrl_enter_sends_where_a_person_wants_that(place: Stage, context: BrowserContext) -> None:
    tab = await place.tab(context, await place.session("sends"))
    page = await settings(place, context, tab)
    await record(page, "send", "Control+Enter")
    await page.get_by_role("button", name="Use it here instead").press("Enter")
    await expect(row(page, "send").locator(".keys-way")).to_have_text(["Enter", "Ctrl Enter"])
    await row(page, "send").get_by_role("button", name="Remove Enter", exact=True).press("Enter")
    await expect(row(page, "send").locator(".keys-way")).to_have_text(["Ctrl Enter"])
    await known(tab, "send", "Ctrl Enter")
    place.plays(Turn(text=["Heard"]))
    await tab.prompt.fill("two")
    await tab.prompt.press("Enter")
    await tab.prompt.press_sequentially("lines")
    await expect(tab.prompt).to_have_value("two\nlines")
    await tab.prompt.press("Control+Enter")
    await expect(tab.messages).to_contain_text("Heard")

    await record(page, "new-line", "Control+Shift+o")
    await known(tab, "new-line", "Shift Enter or Ctrl Shift O")
    await tab.prompt.fill("one")
    await tab.prompt.press("Control+Shift+O")
    await expect(tab.prompt).to_have_value("one\n")
    await tab.prompt.press("Control+z")
    await expect(tab.prompt).to_have_value("one")


async def test_stopping_goes_by_other_keys_and_says_what_is_missing(
    place: Stage, context: BrowserContext
) -> None:
    tab = await place.tab(context, await place.session("stops"))
    page = await settings(place, context, tab)
    await record(page, "stop", "Control+;", "Control+;")
    await expect(row(page, "stop").locator(".keys-way")).to_have_text(["Esc Esc", "Ctrl ; Ctrl ;"])
    await known(tab, "stop", "Esc Esc or Ctrl ; Ctrl ;")
    place.plays(Turn(text=["I begin", Wait("never")]))
    await tab.send("Work")
    await expect(tab.messages).to_contain_text("I begin")
    await tab.prompt.press("Control+;")
    await expect(tab.stop).to_have_attribute("data-armed", "")
    await tab.prompt.press("x")
    await expect(tab.stop).not_to_have_attribute("data-armed", "")
    await tab.prompt.press("Control+;")
    await tab.prompt.press("Control+;")
    await tab.idle()


async def test_what_can_be_done_has_keys(place: Stage, context: BrowserContext) -> None:
    one, two = await place.session("one of two"), await place.session("two of two")
    tab = await place.tab(context, two)
    await tab.prompt.press("Escape")
    await tab.page.locator("#title-button").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("j")
    await tab.page.wait_for_url(f"**/{one}")
    await tab.connected()
    await tab.page.locator("#title-button").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("k")
    await tab.page.wait_for_url(f"**/{two}")
    await tab.connected()
    await tab.page.locator("#title-button").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("p")
    await expect(tab.prompt).to_be_focused()
    await tab.prompt.press("Tab")
    await tab.page.locator("#title-button").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("f")
    await expect(tab.page.locator("#filter")).to_be_focused()
    await tab.page.locator("#title-button").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("t")
    await expect(tab.page.get_by_role("textbox", name="Title", exact=True)).to_be_focused()


PRESS = """([element, init]) => {
  const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
  if (init.graph) Object.defineProperty(event, "getModifierState", { value: (name) => name === "AltGraph" });
  document.querySelector(element).dispatchEvent(event);
  return event.defaultPrevented;
}"""


async def test_nothing_is_taken_from_who_types(place: Stage, context: BrowserContext) -> None:
    """Neither a composition, nor what AltGr types, nor a letter."""
    tab = await place.tab(context, await place.session("typed"))

    async def taken(**init: object) -> bool:
        return bool(await tab.page.evaluate(PRESS, ["#prompt", init]))

    assert await taken(key="b", ctrlKey=True)
    assert not await taken(key="b", ctrlKey=True, isComposing=True)
    assert not await taken(key="b", ctrlKey=True, keyCode=229)
    assert not await taken(key="b", ctrlKey=True, graph=True)
    assert not await taken(key=".", ctrlKey=True, altKey=True)
    assert not await taken(key="g")
    assert not await taken(key="?")
    assert not await taken(key="ArrowDown", shiftKey=True)
