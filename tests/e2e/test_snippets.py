"""Snippets: made on the settings page and of a prompt, put in by `;` and the palette, with places for Tab."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_a_snippet_is_made_and_put_in(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("puts in a snippet"))
    page, keys = tab.page, tab.page.keyboard
    session = page.url
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_role("link", name="Snippets").click()
    await page.get_by_label("Name").fill("fix")
    await page.get_by_label("Text").fill("Fix ${1:what} in ${2:where}${3}, then ${1:test}.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".snippet-name")).to_have_text(";fix")
    await page.locator(".snippet-name").click()
    await page.get_by_role("button", name="Remove fix").click()
    await expect(page.locator(".snippet-name")).to_have_count(0)
    await page.locator(".toast").get_by_role("button", name="Undo").click()
    await expect(page.locator(".snippet-name")).to_have_text(";fix")
    await expect(page.locator(".toast")).to_have_count(0)

    await page.goto(session)
    await tab.connected()
    await tab.prompt.press_sequentially("Please. ;fi")
    await expect(page.get_by_role("option", name=";fix")).to_be_visible()
    await keys.press("Enter")
    await expect(tab.prompt).to_have_value("Please. Fix what in where, then test.")
    for typed in ("the bug", "tests", "hello.py"):
        await keys.type(typed)
        await keys.press("Tab")
    await expect(tab.prompt).to_have_value("Please. Fix the bug in hello.py, then tests.")
    await keys.press("Shift+Tab")
    await expect(tab.prompt).to_be_focused()
    await keys.type(" soon")
    await expect(tab.prompt).to_have_value("Please. Fix the bug in hello.py soon, then tests.")
    await tab.prompt.fill("")


async def test_places_end_where_something_else_is_typed(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("leaves the places"))
    page, keys = tab.page, tab.page.keyboard
    await tab.prompt.fill("Say it in ${1:language}, ${2:short}.")
    await keys.press("Control+k")
    await keys.type("save the text")
    await expect(page.locator("#palette-list [data-active]")).to_contain_text("Save the text")
    await keys.press("Enter")
    dialog = page.get_by_role("dialog", name="Save the text as a snippet")
    await expect(dialog.get_by_label("Text")).to_have_value("Say it in ${1:language}, ${2:short}.")
    await dialog.get_by_label("Name").fill("two words")
    await keys.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("no spaces")
    await dialog.get_by_label("Name").fill("say")
    await keys.press("Enter")
    await expect(page.locator(".toast")).to_contain_text("type ;say in the prompt")
    await expect(dialog).to_have_count(0)

    await tab.prompt.fill("")
    await keys.press("Control+k")
    await keys.type(";say")
    await expect(page.locator("#palette-list [data-active]")).to_contain_text(";say")
    await keys.press("Enter")
    await expect(tab.prompt).to_have_value("Say it in language, short.")
    await keys.type("French")
    await keys.press("Home")
    await keys.type("And: ")
    await expect(tab.prompt).to_have_value("And: Say it in French, short.")
    agent = page.locator("#choice [name=agent]")
    await expect(agent).to_have_value("build")
    async with page.expect_response("**/pickers/choose"):
        await keys.press("Tab")
    await expect(agent).to_have_value("plan")
    await tab.prompt.fill("")


async def test_it_has_what_is_selected_the_file_and_the_branch(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="A word to quote."))
    tab = await stage.tab(context, await stage.session("quotes"))
    page, keys = tab.page, tab.page.keyboard
    saved = {"name": "about", "text": "“${selection}” of ${file} on ${branch}"}
    posted = await page.evaluate(
        """async (fields) => {
          const headers = JSON.parse(document.body.getAttribute("hx-headers"));
          const body = new URLSearchParams(fields);
          return (await fetch("/settings/snippets/save", { method: "POST", headers, body })).status;
        }""",
        saved,
    )
    assert posted == 200
    await tab.send("Say something.")
    await expect(tab.messages).to_contain_text("A word to quote.")
    await tab.idle()
    await keys.press("Control+p")
    await keys.type("hello.py")
    await expect(page.locator("#palette-list [data-active]")).to_contain_text("hello.py")
    await keys.press("Enter")
    await expect(page.get_by_role("textbox", name="Text of hello.py")).to_be_visible()
    await tab.messages.get_by_text("A word to quote.").select_text()
    await tab.prompt.press_sequentially(";about")
    await expect(page.get_by_role("option", name=";about")).to_be_visible()
    await keys.press("Enter")
    branch = (stage.project / ".git" / "HEAD").read_text().rpartition("/")[2].strip()
    await expect(tab.prompt).to_have_value(f"“A word to quote.” of hello.py on {branch}")
    await page.get_by_role("textbox", name="Text of hello.py").press("Control+a")
    await tab.prompt.fill("")
    await tab.prompt.press_sequentially(";about")
    await expect(page.get_by_role("option", name=";about")).to_be_visible()
    await keys.press("Enter")
    text = (stage.project / "hello.py").read_text()
    await expect(tab.prompt).to_have_value(f"“{text}” of hello.py on {branch}")
    await page.get_by_role("button", name="Close hello.py").click()
    await tab.prompt.fill("")
