"""Notes, todos and actions of a project by hand: written, ticked, pinned, put into the prompt, run."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from opencode_web.vendor import STATIC
from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage, Tab, hold

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def opened(tab: Tab) -> Locator:
    await tab.prompt.focus()  # in a terminal keys are the terminal's
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("notes, todos")
    await tab.page.get_by_role("option", name="Notes, todos and actions").click()
    panel = tab.page.get_by_role("dialog", name="Notes and actions")
    await expect(panel.get_by_role("heading", name="Todos")).to_be_visible()
    return panel


async def test_notes_and_todos_are_written_and_used(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("known"))
    panel = await opened(tab)
    todo = panel.get_by_label("A new todo")
    for title in ("Mend the gate", "Paint it"):
        await todo.fill(title)
        await todo.press("Enter")
        await expect(panel.get_by_role("checkbox", name=title)).to_be_visible()
        await expect(todo).to_be_focused()
    await panel.get_by_role("checkbox", name="Mend the gate").check()
    await expect(panel.get_by_role("checkbox", name="Mend the gate")).to_be_checked()
    await panel.get_by_text("New note").click()
    await panel.get_by_label("Title").fill("Ports")
    await panel.get_by_label("Text, in Markdown").fill("Use **8080**.")
    form = panel.locator("form").filter(has=tab.page.get_by_label("Text, in Markdown"))
    await form.get_by_role("button", name="Save").click()
    await panel.get_by_text("Ports", exact=True).click()
    await expect(panel.get_by_role("strong")).to_have_text("8080")
    await panel.get_by_role("button", name="Pin for the agent").click()
    await expect(panel.get_by_role("button", name="Pin for the agent")).to_have_attribute(
        "aria-pressed", "true"
    )
    await expect(tab.page.locator("#strip-words")).to_contain_text("1 pinned")
    await expect(panel.get_by_role("strong")).to_be_visible()
    await panel.get_by_role("button", name="Put it into the prompt").last.click()
    await expect(panel).to_be_hidden()
    await expect(tab.prompt).to_have_value("Ports\n\nUse **8080**.")
    panel = await opened(tab)
    await panel.get_by_role("button", name="Remove Paint it").click()
    await expect(panel.get_by_role("checkbox", name="Paint it")).to_have_count(0)
    await panel.get_by_text("Ports", exact=True).click()
    await panel.get_by_role("button", name="Remove Ports").click()
    await expect(tab.page.locator("#strip-words")).not_to_contain_text("pinned")


async def test_what_is_typed_and_not_sent_stays(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("typed"))
    panel = await opened(tab)
    await panel.get_by_text("New note").click()
    await panel.get_by_label("Title").fill("Half a title")
    await panel.get_by_label("Text, in Markdown").fill("Half a text")
    todo = panel.get_by_label("A new todo")
    await todo.fill("Paint the fence")
    await todo.press("Enter")
    await expect(panel.get_by_role("checkbox", name="Paint the fence")).to_be_visible()
    await expect(todo).to_have_value("")
    await expect(panel.get_by_label("Title")).to_have_value("Half a title")
    await tab.page.mouse.click(2, 2)  # beside it
    await expect(panel).to_be_hidden()
    panel = await opened(tab)
    await expect(panel.get_by_label("Text, in Markdown")).to_be_visible()
    await expect(panel.get_by_label("Title")).to_have_value("Half a title")
    await expect(panel.get_by_label("Text, in Markdown")).to_have_value("Half a text")
    await panel.get_by_role("button", name="Remove Paint the fence").click()
    await expect(panel.get_by_role("checkbox", name="Paint the fence")).to_have_count(0)
    toast = tab.page.locator(".toast", has_text="Removed Paint the fence")
    await toast.get_by_role("button", name="Undo").press("Enter")
    await expect(panel.get_by_role("checkbox", name="Paint the fence")).to_be_visible()
    await expect(toast).to_have_count(0)
    await expect(panel.get_by_label("Title")).to_have_value("Half a title")
    await panel.get_by_role("button", name="Remove Paint the fence").click()


async def test_what_is_opened_stays_open_when_the_list_comes_anew(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context, await stage.session("unfolded"))
    panel = await opened(tab)
    todo = panel.get_by_label("A new todo")
    await todo.fill("Oil the hinges")
    await todo.press("Enter")
    checkbox = panel.get_by_role("checkbox", name="Oil the hinges")
    ticked = await hold(tab.page, "**/knowledge/tick")
    async with tab.page.expect_response("**/knowledge/tick"):
        await checkbox.check()
        await ticked.asked.wait()
        await panel.get_by_text("New note").click()
        await expect(panel.get_by_label("Title")).to_be_visible()
        ticked.free.set()
    await expect(panel.locator("#knowledge-list.htmx-request, .htmx-swapping")).to_have_count(0)
    await expect(checkbox).to_be_checked()
    await panel.get_by_role("button", name="Remove Oil the hinges").click()
    await expect(checkbox).to_have_count(0)
    await expect(panel.get_by_label("Title")).to_be_visible()
    toast = tab.page.locator(".toast", has_text="Removed Oil the hinges")
    await toast.get_by_role("button", name="Undo").press("Enter")
    await expect(checkbox).to_be_visible()
    await expect(panel.get_by_label("Title")).to_be_visible()
    await panel.get_by_label("Title").fill("Hinges")
    await panel.get_by_label("Text, in Markdown").fill("Oil them.")
    form = panel.locator("form").filter(has=tab.page.get_by_label("Text, in Markdown"))
    await form.get_by_role("button", name="Save").click()
    await expect(panel.get_by_text("Hinges", exact=True)).to_be_visible()
    await expect(panel.get_by_label("Title").last).to_be_hidden()
    await panel.get_by_role("button", name="Remove Oil the hinges").click()
    await expect(checkbox).to_have_count(0)


async def test_an_action_is_a_button_with_a_terminal(stage: Stage, context: BrowserContext) -> None:
    if not (STATIC / "vendor/@xterm/xterm/xterm.mjs").exists():
        pytest.skip("xterm.js is not here: python -m opencode_web.vendor")
    provokes(context, "/api/pty/")  # one that was closed meanwhile is unknown
    (stage.project / "Makefile").write_text("greet:\n\t@echo made by $$((40 + 2))\n")
    tab = await stage.tab(context, await stage.session("acted"))
    panel = await opened(tab)
    await panel.get_by_role("button", name="Add greet of Makefile").click()
    await expect(panel.get_by_role("button", name="greet", exact=True)).to_be_visible()
    await panel.get_by_role("button", name="greet", exact=True).click()
    await expect(panel).to_be_hidden()
    shown = tab.page.locator(".terminal-view:not([hidden])")
    await expect(shown.locator(".xterm-rows")).to_contain_text("made by 42")
    await expect(shown.get_by_role("button", name="Run again")).to_be_visible()
    await expect(tab.page.get_by_role("tab", name="greet")).to_have_attribute("aria-selected", "true")
    await tab.prompt.focus()
    async with tab.page.expect_response("**/pickers/palette?*q=greet*"):
        await tab.page.keyboard.press("Control+k")
        await tab.page.keyboard.type("greet")
    async with tab.page.expect_request("**/knowledge/run") as asked:
        await tab.page.get_by_role("option", name="greet").first.click()
        await expect(tab.page.locator("#palette")).to_be_hidden()
        recent = await tab.page.evaluate("localStorage.getItem('palette-recent')")
        assert recent.startswith('["action:'), recent
    await (await asked.value).response()
    await expect(tab.page.get_by_role("tab", name="greet")).to_have_count(1)
    await expect(shown.locator("textarea")).to_be_focused()  # then what was asked for is there
    await expect(shown.locator(".xterm-rows")).to_contain_text("made by 42")
    panel = await opened(tab)
    await panel.get_by_label("Edit greet").click()
    await panel.get_by_role("textbox", name="Command").first.fill("make absent")
    await panel.get_by_role("button", name="Save").first.click()
    await expect(panel.locator("code", has_text="make absent")).to_be_visible()
    await panel.get_by_role("button", name="greet", exact=True).click()
    await expect(shown.locator(".xterm-rows")).to_contain_text("absent")
    for terminal in (await stage.client.http.get("/api/pty")).json()["data"]:
        await stage.client.http.delete(f"/api/pty/{terminal['id']}")
