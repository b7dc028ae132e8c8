"""The prompt's field: keys, drafts, suggestions, attached files, much text."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn, Wait

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


COMPOSED = """([key]) => {
  const field = document.getElementById("prompt");
  const events = ["compositionstart", "compositionend"];
  for (const name of events) field.dispatchEvent(new CompositionEvent(name, { bubbles: true }));
  const pressed = { key, keyCode: 229, bubbles: true, cancelable: true };
  return field.dispatchEvent(new KeyboardEvent("keydown", pressed));
}"""
"""As Safari tells it: the key that ends a composition comes after the end."""


async def test_the_key_that_ends_a_composition_is_the_input_methods(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context, await stage.session("composes"))
    await tab.prompt.fill("日本語")
    for key in ("Enter", "Tab"):
        assert await tab.page.evaluate(COMPOSED, [key]), key
    await tab.prompt.fill("")
    await tab.prompt.press_sequentially("@gui")
    await expect(tab.page.locator("#completions [role=option]")).to_have_count(1)
    for key in ("Enter", "Tab", "ArrowDown", "Escape"):
        assert await tab.page.evaluate(COMPOSED, [key]), key
    await expect(tab.page.locator("#completions [role=option]")).to_have_count(1)
    await expect(tab.prompt).to_have_value("@gui")
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("build")
    await expect(tab.page.locator(".message")).to_have_count(0)
    await tab.prompt.fill("")


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
    await tab.prompt.fill("/help")
    await tab.prompt.press("Escape")
    await tab.prompt.press("Enter")
    await expect(tab.page.get_by_role("dialog", name="Keys and commands")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(attached).to_contain_text("dot.png")
    await tab.send("What is this?")
    await expect(tab.messages).to_contain_text("A dot.")
    await expect(attached).to_have_count(0)
    await tab.page.get_by_role("button", name="Enlarge dot.png").click()
    await expect(tab.page.get_by_role("dialog", name="dot.png").get_by_role("img")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    sides = [await tab.page.locator(f".message.user {part}").bounding_box() for part in ("img", ".bubble")]
    assert sides[0]
    assert sides[1]
    assert sides[0]["x"] + sides[0]["width"] == sides[1]["x"] + sides[1]["width"]
    content = stage.model.requests[-1].body["messages"][-1]["content"]
    assert {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}} in content


@pytest.mark.long
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
    bubble = tab.page.locator(".bubble")
    await expect(bubble.locator("summary")).to_have_text("Show all 260,000 characters", use_inner_text=True)
    assert (await bubble.locator(".prompt-text").inner_text()).endswith("\nline of text")
    await bubble.locator("summary").click()
    await expect(bubble.locator("pre")).to_contain_text("line of text")
    await expect(bubble.locator(".prompt-text")).to_be_hidden()
    await expect(bubble.locator("summary")).to_have_text("Show less", use_inner_text=True)


async def test_tab_switches_the_agent_and_the_field_can_be_left(
    stage: Stage, context: BrowserContext
) -> None:
    session = await stage.session("switches")
    tab = await stage.tab(context, session)
    picker = tab.page.locator("#choice [name=agent]")
    await expect(picker).to_have_value("build")
    await tab.prompt.fill("typed")
    async with tab.page.expect_response("**/pickers/choose"):
        await tab.page.keyboard.press("Tab")
    await expect(picker).to_have_value("plan")
    await expect(tab.prompt).to_be_focused()
    await expect(tab.page.locator("#composer-status")).to_have_text("Agent: Plan")
    assert (await stage.client.session(session))["agent"] == "plan"
    for key in ("Shift+Tab", "Tab"):
        await tab.prompt.focus()
        await tab.page.keyboard.press("Escape")
        await tab.page.keyboard.press(key)
        await expect(tab.prompt).not_to_be_focused()
    await expect(picker).to_have_value("plan")
    described = await tab.prompt.get_attribute("aria-describedby")
    await expect(tab.page.locator(f"#{described}")).to_contain_text("Escape, then Tab")
    await tab.prompt.fill("")


async def test_leaving_the_field_by_keyboard_does_not_stop_a_turn(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(text=["I begin", Wait("left")]))
    tab = await stage.tab(context, await stage.session("leaves"))
    await tab.send("Talk.")
    await expect(tab.messages).to_contain_text("I begin")
    for _ in range(2):
        await tab.prompt.focus()
        await tab.page.keyboard.press("Escape")
        await expect(tab.stop).to_have_attribute("data-armed", "")
        await tab.page.keyboard.press("Tab")
        await expect(tab.prompt).not_to_be_focused()
        await expect(tab.stop).not_to_have_attribute("data-armed", "")
    stage.model.gate("left").open()
    await tab.idle()
    await expect(tab.messages.get_by_text("Stopped")).to_have_count(0)


async def test_commands_of_the_browser(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Said."))
    tab = await stage.tab(context, await stage.session("commands"))
    await tab.send("Say something.")
    await expect(tab.messages).to_contain_text("Said.")
    await tab.idle()
    await tab.send("/models")
    panel = tab.page.get_by_role("dialog", name="Model, variant, agent and how much is asked")
    await expect(panel.get_by_role("listbox", name="Models")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(tab.prompt).to_be_focused()
    await tab.send("/agents")
    await expect(panel.get_by_role("listbox", name="Agents")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await tab.send("/rename A better name")
    await expect(tab.page.locator("#title")).to_have_text("A better name")
    for form in ("Markdown", "JSON"):
        await tab.send("/export")
        await tab.dialog.get_by_label(form).check()
        async with tab.page.expect_download() as download:
            await tab.dialog.get_by_role("button", name="Download").click()
        path = await (await download.value).path()
        assert "Say something." in path.read_text()
    before = tab.session_id
    await tab.send("/fork")
    await tab.dialog.get_by_role("button", name="Fork", exact=True).click()
    await expect(tab.page.locator("#title")).to_have_text("A better name (fork #1)")
    await expect(tab.messages).to_contain_text("Said.")
    assert tab.session_id != before


async def test_a_command_is_taken_as_typed_before_its_suggestions(
    stage: Stage, context: BrowserContext
) -> None:
    """A list that is older than the text must not decide what Enter does."""
    tab = await stage.tab(context, await stage.session("types fast"))
    options = tab.page.locator("#completions [role=option]")
    await tab.prompt.press_sequentially("/")
    await expect(options.first).to_contain_text("/new")
    await tab.page.route("**/complete/commands?**", lambda route: None)
    await tab.prompt.press_sequentially("help")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("dialog", name="Keys and commands")).to_be_visible()


async def test_enter_takes_what_fits_of_suggestions_that_are_older(
    stage: Stage, context: BrowserContext
) -> None:
    """Of all commands the first is chosen, which is not what is typed then."""
    tab = await stage.tab(context, await stage.session("typed faster"))
    await tab.prompt.press_sequentially("/")
    await expect(tab.page.get_by_role("option", name="/rename")).to_be_visible()
    await expect(tab.page.get_by_role("option", selected=True)).not_to_contain_text("/rename")
    await tab.page.route(re.compile("/(pickers|complete)/commands"), lambda route: None)
    await tab.prompt.press_sequentially("ini")
    await tab.prompt.press("Enter")
    await expect(tab.prompt).to_have_value("/init ")
    await expect(tab.messages.locator(".message")).to_have_count(0)


async def test_what_only_looks_like_a_command_is_a_prompt(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="One."), Turn(text="Two."))
    tab = await stage.tab(context, await stage.session("paths"))
    await tab.send("/etc/hosts is wrong")
    await expect(tab.messages).to_contain_text("One.")
    await tab.idle()
    await tab.send("/undo the second paragraph")
    await expect(tab.messages).to_contain_text("Two.")
    await expect(tab.page.locator(".bubble")).to_have_text(
        ["/etc/hosts is wrong", "/undo the second paragraph"]
    )
    await expect(tab.prompt).to_have_value("")
    assert await tab.page.locator(".toast").count() == 0, "nobody is told of a command that was none"


async def test_a_command_of_the_project(stage: Stage, context: BrowserContext) -> None:
    folder = stage.project / ".opencode" / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "greet.md").write_text("---\ndescription: Says hello\n---\nGreet $ARGUMENTS warmly.\n")
    stage.plays(Turn(text="Hello, Ada."))
    tab = await stage.tab(context, await stage.session("greets"))
    await tab.prompt.press_sequentially("/gre")
    option = tab.page.locator("#completions [role=option]")
    await expect(option).to_have_count(1)
    await expect(option).to_contain_text("Says hello")
    await tab.page.keyboard.press("Enter")
    await expect(tab.prompt).to_have_value("/greet ")
    await tab.page.keyboard.type("Ada")
    await tab.page.keyboard.press("Enter")
    await expect(tab.messages).to_contain_text("Hello, Ada.")
    assert "Greet Ada warmly." in str(stage.model.requests[-1].body["messages"][-1]["content"])
    await expect(tab.prompt).to_have_value("")


async def test_an_agent_is_mentioned(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Asked."))
    session = await stage.session("mentions")
    tab = await stage.tab(context, session)
    await tab.prompt.press_sequentially("ask @gene")
    option = tab.page.locator("#completions [role=option]")
    await expect(option).to_have_count(1)
    await expect(option).to_contain_text("general")
    await tab.page.keyboard.press("Enter")
    await expect(tab.prompt).to_have_value("ask @general ")
    await tab.page.keyboard.type("about it")
    await tab.page.keyboard.press("Enter")
    await expect(tab.messages).to_contain_text("Asked.")
    (prompt, *_) = await stage.client.messages(session)
    (mention,) = [part for part in prompt["parts"] if part["type"] == "agent"]
    assert mention["name"] == "general"
    assert mention["source"] == {"value": "@general", "start": 4, "end": 12}
