"""The prompt's field: keys, drafts, suggestions, attached files, much text."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

PASTE = """([data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const clipboard = new DataTransfer();
  clipboard.items.add(new File([bytes], "dot.png", { type: "image/png" }));
  const event = new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true, cancelable: true });
  document.getElementById("prompt").dispatchEvent(event);
}"""

FILL = """(field, text) => {
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}"""

COMPOSE = """() => {
  const field = document.getElementById("prompt");
  field.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
  const enter = { key: "Enter", isComposing: true, bubbles: true, cancelable: true };
  return field.dispatchEvent(new KeyboardEvent("keydown", enter));
}"""


async def test_keys_and_drafts(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Read."))
    tab = await stage.tab(context, await stage.session("types"))
    await tab.prompt.click()
    await tab.page.keyboard.type("one")
    await tab.page.keyboard.press("Shift+Enter")
    await tab.page.keyboard.type("two")
    assert await tab.page.evaluate(COMPOSE), "the input method has the key"
    await tab.page.reload()
    await expect(tab.prompt).to_have_value("one\ntwo")
    await expect(tab.page.locator(".message")).to_have_count(0)
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Read.")
    assert stage.model.requests[-1].body["messages"][-1]["content"] == "one\ntwo"
    await expect(tab.prompt).to_have_value("")
    await tab.page.reload()
    await expect(tab.prompt).to_have_value("")
    await tab.prompt.press("Enter")
    await expect(tab.page.locator("#composer-problem")).to_contain_text("Write something first")


async def test_suggestions(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("completes"))
    options = tab.page.get_by_role("option").and_(tab.page.locator("#completions *"))
    await tab.prompt.click()
    await tab.page.keyboard.type("look at @gui")
    await expect(options).to_have_count(1)
    await tab.page.keyboard.press("Tab")
    await expect(tab.prompt).to_have_value("look at @docs/guide.md ")
    await tab.prompt.fill("")
    await tab.page.keyboard.type("/")
    await expect(options.filter(has_text="/undo")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(options).to_have_count(0)
    await tab.page.keyboard.type("hel")
    await expect(options).to_have_count(1)
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("dialog", name="Keys and commands")).to_be_visible()
    await expect(tab.prompt).to_have_value("")


async def test_a_pasted_image_is_sent(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="A dot."))
    tab = await stage.tab(context, await stage.session("pastes"))
    await tab.page.evaluate(PASTE, [PNG])
    attached = tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")
    await expect(attached.locator("img")).to_be_visible()
    await expect(attached).to_contain_text("dot.png")
    await tab.send("What is this?")
    await expect(tab.messages).to_contain_text("A dot.")
    await expect(attached).to_have_count(0)
    await expect(tab.page.locator(".message.user img")).to_be_visible()
    content = stage.model.requests[-1].body["messages"][-1]["content"]
    assert {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}} in content


async def test_much_text(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Long."))
    tab = await stage.tab(context, await stage.session("writes much"))
    await tab.prompt.evaluate(FILL, "x" * 5_000_000)
    await tab.prompt.press("Enter")
    await expect(tab.page.locator("#composer-problem")).to_contain_text("a prompt may have")
    await tab.prompt.evaluate(FILL, "line of text\n" * 20_000)
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Long.")
    assert len(stage.model.requests[-1].body["messages"][-1]["content"]) >= 259_999
    await expect(tab.page.locator(".bubble summary")).to_contain_text("more characters")
