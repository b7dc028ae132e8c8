"""A session that was left is there at once when somebody goes back to it, and up to date."""

from __future__ import annotations

import pytest
from playwright.async_api import async_playwright, expect

from tests.e2e.conftest import QUIET, WIDE, watch
from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

REASONS = (
    "performance.getEntriesByType('navigation')[0].notRestoredReasons?.reasons.map(({ reason }) => reason)"
)
BROWSERS_OWN = ["masked"]
"""What a browser says that keeps no pages, as the headless shell."""
SHOWN = "addEventListener('pageshow', ({ persisted }) => (window.restored = persisted))"


async def test_going_back_to_a_session(stage: Stage, chromium_path: str) -> None:
    stage.plays(Turn(text="Said before."), Turn(text="Said meanwhile."))
    session = await stage.session("left")
    async with async_playwright() as playwright:
        # Playwright switches off what this is about.
        browser = await playwright.chromium.launch(
            executable_path=chromium_path, args=QUIET, ignore_default_args=["--disable-back-forward-cache"]
        )
        context = await browser.new_context(viewport=WIDE)
        faults = watch(context)
        tab = await stage.tab(context, session)
        await tab.send("Speak.")
        await expect(tab.messages).to_contain_text("Said before.")
        await tab.idle()
        await tab.page.evaluate(SHOWN)
        await tab.page.get_by_role("link", name="Operations log").click()
        await tab.page.wait_for_url("**/log")
        await stage.client.prompt(session, "Speak again.")
        await tab.page.evaluate("() => void setTimeout(() => history.back())")
        await tab.page.wait_for_url(f"**/{session}", wait_until="commit")
        await expect(tab.messages).to_contain_text("Said meanwhile.")
        await tab.connected()
        restored = await tab.page.evaluate("window.restored")
        assert restored or await tab.page.evaluate(REASONS) == BROWSERS_OWN
        await browser.close()
    assert faults == []
