"""Sharing and exporting a conversation in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.long
async def test_a_person_shares_reads_exports_and_revokes(stage: Stage, browser: Browser) -> None:
    session = await stage.session("To be shared")
    context = await browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    tab = await stage.tab(context, session)
    stage.plays(
        Turn(tools=(ToolUse("bash", {"command": "echo from the shell"}),)), Turn(text="It **worked**.")
    )
    await tab.send("Run it")
    await expect(tab.messages).to_contain_text("It worked.")
    await tab.idle()
    share = tab.page.locator("#share-button button")
    await expect(share).to_have_accessible_name("Share")
    await share.click()
    await tab.dialog.get_by_role("button", name="Share").click()
    field = tab.dialog.get_by_label("Address of the shared page")
    url = await field.input_value()
    await expect(share).to_have_attribute("data-shared", "")
    await tab.dialog.get_by_role("button", name="Copy").click()
    await expect(tab.dialog.get_by_role("status")).to_have_text("Copied.")
    assert await tab.page.evaluate("navigator.clipboard.readText()") == url

    stranger = await browser.new_context(viewport={"width": 390, "height": 800})
    page = await stranger.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(url)
    await expect(page.get_by_role("heading", name="To be shared")).to_be_visible()
    await expect(page.locator("strong", has_text="worked")).to_be_visible()
    call = page.locator("details.call")
    await expect(call.get_by_text("from the shell").last).to_be_hidden()
    await call.locator("summary").click()
    await expect(call.locator("pre", has_text="from the shell").last).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    assert await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
    assert [address for address in asked if address != url and "favicon" not in address] == []
    assert [text for text in problems if "favicon" not in text] == []

    await tab.dialog.get_by_role("button", name="Stop sharing").click()
    await expect(tab.dialog.get_by_role("button", name="Share")).to_be_visible()
    await expect(share).not_to_have_attribute("data-shared", "")
    answer = await page.reload()
    assert answer is not None
    assert answer.status == 404
    await tab.page.keyboard.press("Escape")
    await expect(tab.dialog).to_have_count(0)

    await tab.send("/export")
    await tab.dialog.get_by_label("Markdown").check()
    async with tab.page.expect_download() as download:
        await tab.dialog.get_by_role("button", name="Download").click()
    assert (await download.value).suggested_filename == "To-be-shared.md"
    await tab.send("/export")
    async with tab.page.expect_download() as download:
        await tab.dialog.get_by_role("button", name="Download").click()
    file: Path = await (await download.value).path()
    assert "Secrets and home folders were taken out" in file.read_text()
    await stranger.close()
    await context.close()
