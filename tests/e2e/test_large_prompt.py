"""The prompt in a large editor: the same text, with Enter for lines and Ctrl+Enter to send."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

CARET = "(field) => [field.selectionStart, field.selectionEnd]"


async def test_it_grows_and_keeps_text_caret_and_undo(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Read."))
    tab = await stage.tab(context, await stage.session("writes large"))
    keys = tab.page.keyboard
    await tab.prompt.click()
    await keys.type("one two")
    await keys.press("ArrowLeft")
    await keys.press("Control+Shift+Enter")
    button = tab.page.get_by_role("button", name="Large editor")
    await expect(button).to_have_attribute("aria-pressed", "true")
    await expect(tab.prompt).to_be_focused()
    assert await tab.prompt.evaluate(CARET) == [6, 6]
    box = await tab.prompt.bounding_box()
    assert box is not None
    assert box["height"] > 450
    await keys.press("Enter")
    await keys.type("more")
    await expect(tab.prompt).to_have_value("one tw\nmoreo")
    await keys.press("Escape")
    await expect(button).to_have_attribute("aria-pressed", "false")
    await expect(tab.prompt).to_be_focused()
    assert await tab.prompt.evaluate(CARET) == [11, 11]
    await keys.press("Control+z")
    await keys.press("Control+z")
    await expect(tab.prompt).not_to_have_value("one tw\nmoreo")
    await button.click()
    await tab.prompt.fill("one\ntwo")
    await expect(tab.messages.locator(".message")).to_have_count(0)
    await keys.press("Control+Enter")
    await expect(tab.messages).to_contain_text("Read.")
    assert stage.model.requests[-1].body["messages"][-1]["content"] == "one\ntwo"
    await expect(button).to_have_attribute("aria-pressed", "false")


async def test_monospace_is_off_until_it_is_wanted(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("writes in monospace"))
    family = "(field) => getComputedStyle(field).fontFamily"
    await tab.page.get_by_role("button", name="Large editor").click()
    assert "Mono" not in await tab.prompt.evaluate(family)
    mono = tab.page.get_by_role("button", name="Monospace", exact=True)
    await mono.click()
    assert "Mono" in await tab.prompt.evaluate(family)
    await tab.page.get_by_role("button", name="Large editor").click()
    await expect(mono).to_be_hidden()
    assert "Mono" not in await tab.prompt.evaluate(family)
    await tab.page.reload()
    await tab.connected()
    await tab.page.get_by_role("button", name="Large editor").click()
    await expect(mono).to_have_attribute("aria-pressed", "true")
    await mono.click()
