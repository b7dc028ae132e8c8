"""The first minutes of a newcomer: the launch link, no model, the scripted tour."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from tests.server import Server, running

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_from_the_launch_link_through_the_demo(
    browser: Browser, context: BrowserContext, home: Path, project: Path
) -> None:
    server = Server(home, project)
    async with running(server):
        page = await context.new_page()
        await page.goto(server.launch_url)
        assert "token" not in page.url
        await expect(page.locator("#notices")).to_contain_text("Scripted demo")
        await page.locator("#prompt").fill("Show me around.")
        await page.keyboard.press("Enter")

        question = page.locator(".permission")
        await expect(question).to_contain_text("Change this file?")
        await expect(page.locator(".tool", has_text="Write")).to_contain_text("Waiting for you")
        assert not (project / "OPENCODE_WEB_DEMO.md").exists()
        await question.get_by_role("button", name="Allow once").click()
        await expect(question).to_contain_text("Run this command?")
        assert (project / "OPENCODE_WEB_DEMO.md").exists()
        await expect(page.locator("#review")).to_contain_text("OPENCODE_WEB_DEMO.md")
        await expect(page.locator(".tool", has_text="Todos").first).to_contain_text("1 of 4 done")
        await question.get_by_role("button", name="Allow once").click()
        await expect(page.locator("#messages")).to_contain_text("What you saw")
        await expect(page.locator("#messages table")).to_contain_text("Proposed an edit")
        await expect(page.locator("#activity")).to_have_attribute("data-busy", "false")

        stranger = await browser.new_page()
        await stranger.goto(server.launch_url)
        await expect(stranger.get_by_role("alert")).to_contain_text("used before")
        await stranger.goto(page.url)
        await expect(stranger.get_by_label("Password")).to_be_visible()
        await stranger.close()
