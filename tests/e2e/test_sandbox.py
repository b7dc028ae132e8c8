"""What a person sees of the sandbox: that an agent works alone in it, and the way to a server in there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from agents.toolkit.sandbox import probe
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}"),
]
SERVE = "echo -n Served > index.html; python3 -m http.server --bind 127.0.0.1 8123 &"


def serve() -> Turn:
    return Turn(tools=[ToolUse("bash", {"command": SERVE, "description": "Serve the folder"})])


async def test_a_server_in_the_sandbox_is_opened_by_a_click(tmp_path: Path, context: BrowserContext) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    async with Stage(home, project, permission=None) as stage:
        stage.plays(serve(), Turn(text="It runs."))
        tab = await stage.tab(context)
        shown = tab.page.locator("#preset-picker .pick-name")
        await expect(shown).to_have_text("Work alone")
        await tab.send("Serve it.")
        await expect(tab.messages).to_contain_text("It runs.")
        await expect(shown).to_have_text("Work alone")
        ports = tab.page.locator("#sandbox-ports")
        await expect(ports).to_contain_text("Something in the sandbox listens on port 8123.")
        await tab.page.get_by_role("button", name="1 port in the sandbox").click()
        await ports.get_by_role("button", name="Open it here").click()
        async with context.expect_page() as opened:
            await ports.get_by_role("link", name="localhost:").click()
        page = await opened.value
        await expect(page.locator("body")).to_have_text("Served")
        assert page.url.startswith("http://localhost:")
        await page.close()
        await tab.page.reload()
        await ports.get_by_role("button", name="Close").click()
        await expect(ports.get_by_role("button", name="Open it here")).to_be_visible()
        await tab.choose("preset", "ask")
        await expect(shown).to_have_text("Ask")
        await tab.prompt.focus()
        async with tab.page.expect_response("**/pickers/choose"):
            await tab.page.keyboard.press("Shift+Tab")
        await expect(shown).to_have_text("Work alone")


async def test_without_a_sandbox_the_page_of_a_new_session_says_so(
    tmp_path: Path, context: BrowserContext
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with Stage(home, home, permission=None) as stage:
        stage.plays(Turn(text="Hello."))
        tab = await stage.tab(context)
        await expect(tab.page.locator("#preset-picker .pick-name")).to_have_text("Ask")
        note = tab.page.get_by_text("There is no sandbox here, as your home folder is this project")
        await expect(note).to_be_visible()
        await tab.send("Hi.")
        await expect(tab.messages).to_contain_text("Hello.")
        await expect(note).to_have_count(0)
