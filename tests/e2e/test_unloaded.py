"""What is loaded when it is used, and cannot be had: the page says so, and the next press tries again."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from tests.e2e.stage import Stage, hold

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

UNLOADED = "This could not be loaded: the server cannot be reached. Try it again."


def _module(name: str) -> re.Pattern[str]:
    """The address of a module that is loaded when it is used."""
    return re.compile(rf"\+{name}\.js$")


async def _press_in_vain(page: Page, module: str, keys: str) -> None:
    """Press keys whose module the server does not give; from then on it does."""

    async def refuse(route: Route) -> None:
        await route.abort("connectionrefused")

    await page.route(_module(module), refuse)
    await page.keyboard.press(keys)
    await expect(page.locator("#toasts")).to_contain_text(UNLOADED)
    await page.unroute(_module(module), refuse)


async def test_the_large_editor_is_tried_again(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("writes unloaded"))
    await tab.prompt.click()
    await _press_in_vain(tab.page, "large", "Control+Shift+Enter")
    button = tab.page.get_by_role("button", name="Large editor", exact=True)
    await expect(button).to_have_attribute("aria-pressed", "false")
    await tab.page.keyboard.press("Control+Shift+Enter")
    await expect(button).to_have_attribute("aria-pressed", "true")


async def test_the_palette_does_not_stay_empty(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("palette unloaded"))
    await _press_in_vain(tab.page, "palette", "Control+k")
    await expect(tab.page.locator("#palette")).to_be_hidden()
    await tab.page.keyboard.press("Control+k")
    await expect(tab.page.locator("#palette-list [role=option]").first).to_be_visible()


async def test_the_tree_of_files_leaves_the_list_where_it_was(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("tree unloaded"))
    await _press_in_vain(tab.page, "files-panel", "Control+Shift+E")
    await expect(tab.page.locator("#session-list")).to_be_visible()
    await tab.page.keyboard.press("Control+Shift+E")
    await expect(tab.page.locator("#files-tree [data-path='hello.py']")).to_be_visible()


_AS_IT_GOES = """() => {
  const bar = document.getElementById("find-bar");
  const note = () => { if (bar.hidden) window.keyboard = document.activeElement.tagName; };
  new MutationObserver(note).observe(bar, { attributeFilter: ["hidden"] });
}"""
"""Notes what has the keyboard when the bar is hidden."""


async def test_the_find_in_a_conversation_goes_away(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("find unloaded"))
    await tab.page.evaluate("document.activeElement.blur()")
    await tab.page.evaluate(_AS_IT_GOES)
    await _press_in_vain(tab.page, "find-within", "Control+f")
    await expect(tab.page.locator("#find-bar")).to_be_hidden()
    assert await tab.page.evaluate("keyboard") == "BODY"
    await tab.page.keyboard.press("Control+f")
    await expect(tab.page.locator("#find-words")).to_be_focused()


async def test_escape_counts_before_the_large_editor_is_there(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("writes and leaves at once"))
    held = await hold(tab.page, _module("large"))
    await tab.prompt.click()
    await tab.page.keyboard.press("Control+Shift+Enter")
    await held.asked.wait()
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.press("Control+Shift+Enter")
    held.free.set()
    button = tab.page.get_by_role("button", name="Large editor", exact=True)
    await expect(button).to_have_attribute("aria-pressed", "true")
    await expect(tab.prompt).to_be_focused()
