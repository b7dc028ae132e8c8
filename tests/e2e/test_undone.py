"""An undone prompt is in the composer again, and nothing that was typed is lost."""

from __future__ import annotations

import asyncio
import base64

import pytest
from playwright.async_api import BrowserContext, FilePayload, Route, WebSocketRoute, expect

from sessions.web.pages.conversation import PAGE
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
DOT: FilePayload = {"name": "dot.png", "mimeType": "image/png", "buffer": base64.b64decode(PIXEL)}


async def talked(stage: Stage, context: BrowserContext, title: str, *prompts: str) -> Tab:
    """A session of these prompts, the last one with a picture."""
    stage.plays(*[Turn(text=f"Answer {number}.") for number, _ in enumerate(prompts)])
    tab = await stage.tab(context, await stage.session(title))
    for number, prompt in enumerate(prompts):
        if prompt == prompts[-1]:
            await tab.page.locator("#attach").set_input_files([DOT])
        await tab.send(prompt)
        await expect(tab.messages).to_contain_text(f"Answer {number}.")
        await tab.idle()
    return tab


async def undo(tab: Tab, prompt: int) -> None:
    await tab.undo(prompt)
    await tab.dialog.locator(".primary").click()
    await expect(tab.page.locator(".reverted-notice")).to_be_visible()


async def test_the_prompt_is_in_the_composer_again(stage: Stage, context: BrowserContext) -> None:
    tab = await talked(stage, context, "undone prompt", "First words.", "Ask @general\nabout it")
    attached = tab.page.locator("#attachments li")
    await expect(attached).to_have_count(0)
    await tab.send("/undo")
    await tab.dialog.locator(".primary").click()
    await expect(tab.prompt).to_have_value("Ask @general\nabout it")
    await expect(tab.prompt).to_be_focused()
    await expect(attached).to_contain_text("dot.png")
    offer = tab.page.get_by_role("button", name="Put the undone prompt back")
    await expect(offer).to_be_hidden()

    await undo(tab, 0)
    await expect(tab.prompt).to_have_value("First words.")
    await expect(attached).to_have_count(0)
    await tab.page.reload()
    await expect(tab.prompt).to_have_value("First words.")
    await tab.page.get_by_role("button", name="Redo").click()
    await expect(tab.prompt).to_have_value("")
    await expect(tab.page.locator(".message.user:visible")).to_have_count(2)


async def test_what_was_typed_stays_and_the_prompt_is_offered(stage: Stage, context: BrowserContext) -> None:
    tab = await talked(stage, context, "undone draft", "Said before.")
    await tab.prompt.fill("typed since")
    await undo(tab, 0)
    await expect(tab.prompt).to_have_value("typed since")
    offer = tab.page.get_by_role("button", name="Put the undone prompt back")
    await offer.click()
    await expect(tab.prompt).to_have_value("Said before.\n\ntyped since")
    await expect(tab.page.locator("#attachments li")).to_contain_text("dot.png")
    await expect(offer).to_be_hidden()
    await tab.page.get_by_role("button", name="Redo").click()
    await expect(tab.page.locator(".reverted-notice")).to_have_count(0)
    await expect(tab.prompt).to_have_value("Said before.\n\ntyped since")
    await tab.prompt.fill("")


async def test_what_is_typed_while_the_prompt_is_on_its_way_stays(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await talked(stage, context, "typed early", "Said before.")
    typed = asyncio.Event()

    async def late(route: Route) -> None:
        await typed.wait()
        await route.continue_()

    await tab.page.route("**/messages/*/prompt", late)
    async with tab.page.expect_response("**/messages/*/prompt"):
        await undo(tab, 0)
        await expect(tab.dialog).to_have_count(0)
        await tab.prompt.fill("typed since")
        typed.set()
    await expect(tab.page.get_by_role("button", name="Put the undone prompt back")).to_be_visible()
    await expect(tab.prompt).to_have_value("typed since")
    await tab.prompt.fill("")


async def test_what_was_redone_before_the_page_was_connected_is_shown(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await talked(stage, context, "connected late", "Said before.")
    await undo(tab, 0)
    connect = asyncio.Event()

    async def late(route: WebSocketRoute) -> None:
        await connect.wait()
        route.connect_to_server()

    await context.route_web_socket("**/ws/p/**", late)
    await tab.page.reload()
    await expect(tab.messages.locator(".message:visible")).to_have_count(0)
    async with tab.page.expect_response("**/redo"):
        await tab.page.get_by_role("button", name="Redo").click()
    connect.set()
    await expect(tab.messages.locator(".message:visible")).to_have_count(2)
    await expect(tab.prompt).to_have_value("")


async def test_an_undo_in_another_tab_leaves_what_is_read_in_its_place(
    stage: Stage, context: BrowserContext
) -> None:
    session = await stage.session("read above")
    for number in range(PAGE + 6):
        await stage.client.prompt(session, f"Prompt {number}.", noReply=True)
    tab = await stage.tab(context, session)
    await tab.page.locator("#scroller").evaluate("scroller => scroller.scrollTo(0, 0)")
    await expect(tab.messages.locator(".message")).to_have_count(PAGE + 6)
    read = tab.messages.locator(".message").nth(5)
    await read.scroll_into_view_if_needed()
    place = await read.bounding_box()
    last = (await stage.client.messages(session))[-2]["info"]["id"]

    await stage.client.revert(session, last)
    await expect(tab.page.locator(".reverted-notice")).to_contain_text("2 prompts")
    assert await read.bounding_box() == place
    await expect(tab.messages.locator(".message:visible")).to_have_count(PAGE + 4)

    await stage.client.unrevert(session)
    await expect(tab.messages.locator(".message:visible")).to_have_count(PAGE + 6)
    assert await read.bounding_box() == place
