"""A project that wants to run things, in a real browser: shown, refused, trusted, asked again, taken back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import Turn
from tests.opencode_web.site.security.audit import HOSTILE
from tests.runtime.trusting import write

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

PLUGIN = '''
"""Greets whoever reads the log."""

async def plugin(ctx):
    (ctx.directory / "canary.txt").touch()

    async def headers(input, output):
        raise RuntimeError("the greeting failed")

    return {"chat.headers": headers}
'''
CONFIG = {
    "mcp": {"files": {"type": "local", "command": ["npx", "-y", "files-server", HOSTILE]}},
    "provider": {"box": {"options": {"baseURL": "https://box.example/v1", "apiKey": "{env:HOME}"}}},
    "permission": {"bash": {"git push *": "allow"}, "edit": "ask"},
}


@pytest_asyncio.fixture(loop_scope="session")
async def wanting(tmp_path: Path) -> AsyncIterator[Stage]:
    project = repository(tmp_path / "project")
    write(project, {".opencode/plugins/greeting.py": PLUGIN, "opencode.json": json.dumps(CONFIG, indent=2)})
    (tmp_path / "home").mkdir()
    async with Stage(tmp_path / "home", project) as stage:
        yield stage


async def test_a_project_is_looked_at_and_trusted(wanting: Stage, context: BrowserContext) -> None:
    tab = await wanting.tab(context, await wanting.session("Trust"))
    canary = wanting.project / "canary.txt"
    banner = tab.page.locator(".trust-banner")
    await expect(banner).to_contain_text("wants to run 2 things you have not trusted")
    await expect(banner).to_contain_text(".opencode/plugins/greeting.py")

    await tab.prompt.fill("A prompt half written")
    look = tab.page.get_by_role("button", name="Look at it")
    await look.focus()
    await tab.page.keyboard.press("Enter")
    await expect(tab.dialog).to_contain_text("This project wants to run")
    for text in ("npx -y files-server", "https://box.example/v1", "permission.bash.git push *"):
        await expect(tab.dialog).to_contain_text(text)
    await expect(tab.dialog.get_by_role("button", name="Not now")).to_be_focused()
    await tab.dialog.get_by_text("greeting.py, as it is now").click()
    await expect(tab.dialog).to_contain_text("Greets whoever reads the log.")
    await tab.dialog.get_by_role("button", name="Not now").click()
    await expect(tab.dialog).to_have_count(0)

    wanting.plays(Turn(text="Untrusted."))
    await tab.send("Hello.")
    await expect(tab.messages).to_contain_text("Untrusted.")
    await tab.idle()
    assert not canary.exists()

    await tab.prompt.fill("A prompt half written")
    await look.click()
    await tab.dialog.get_by_role("button", name="Trust", exact=True).click()
    await expect(banner).to_have_count(0)
    await tab.connected()
    await expect(tab.prompt).to_have_value("A prompt half written")
    await expect(tab.page.locator(".trust-note")).to_contain_text("You trust 2 files of this project")

    wanting.plays(Turn(text="Trusted."))
    await tab.send("Hello again.")
    await expect(tab.messages).to_contain_text("Trusted.")
    assert canary.exists()
    # The hook failed during the turn: the page says so without being loaded anew.
    problem = tab.page.locator(".banner.problem")
    await expect(problem).to_contain_text("chat.headers: raised RuntimeError: the greeting failed")
    await tab.idle()

    write(wanting.project, {".opencode/plugins/greeting.py": PLUGIN + "# changed\n"})
    await tab.page.reload()
    await expect(banner).to_contain_text("wants to run 1 thing")
    await look.click()
    await expect(tab.dialog.get_by_role("heading", name="Trusted", exact=True)).to_be_visible()
    await tab.dialog.get_by_role("button", name="Trust nothing of this project").click()
    await expect(banner).to_contain_text("wants to run 2 things")


@pytest.mark.parametrize("scheme", ["light", "dark", "narrow"])
async def test_the_dialog_fits(wanting: Stage, browser: Browser, scheme: str) -> None:
    size = {"width": 390, "height": 844} if scheme == "narrow" else {"width": 1440, "height": 900}
    context = await browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        color_scheme="dark" if scheme == "dark" else "light",
    )
    tab = await wanting.tab(context, await wanting.session("Trust"))
    await expect(tab.page.locator(".trust-banner")).to_be_visible()
    await tab.page.get_by_role("button", name="Look at it").click()
    await expect(tab.dialog).to_be_visible()
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await tab.dialog.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    await expect(tab.dialog.get_by_role("button", name="Not now")).to_be_in_viewport()
    await context.close()
