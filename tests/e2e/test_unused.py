"""Plugins of OpenCode that nothing here can run, named in a real browser until that is dismissed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.opencode_web.site.security.audit import HOSTILE
from tests.programs import without_javascript
from tests.runtime.trusting import write

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def guarded(tmp_path: Path) -> AsyncIterator[Stage]:
    project = repository(tmp_path / "project")
    named = {"plugin": ["opencode-wakatime", HOSTILE]}
    write(project, {".opencode/plugins/guard.ts": "", "opencode.json": json.dumps(named)})
    (tmp_path / "home").mkdir()
    stage = Stage(tmp_path / "home", project)
    stage.server.environ = without_javascript(tmp_path / "programs")
    async with stage:
        yield stage


@pytest.mark.parametrize("scheme", ["light", "dark", "narrow"])
async def test_they_are_named_until_that_is_dismissed(guarded: Stage, browser: Browser, scheme: str) -> None:
    size = {"width": 390, "height": 844} if scheme == "narrow" else {"width": 1440, "height": 900}
    context = await browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        color_scheme="dark" if scheme == "dark" else "light",
    )
    tab = await guarded.tab(context, await guarded.session("Guarded"))
    notice = tab.page.get_by_role("region", name="Not loaded")
    await expect(notice).to_contain_text("3 of OpenCode's plugins and tools are not loaded")
    await notice.locator("summary").focus()
    await tab.page.keyboard.press("Enter")
    for text in (".opencode/plugins/guard.ts", "opencode-wakatime", "is not guarded here"):
        await expect(notice.get_by_text(text).first).to_be_visible()
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await notice.get_by_role("button", name="Dismiss").focus()
    await tab.page.keyboard.press("Enter")
    await expect(notice).to_have_count(0)
    await tab.page.reload()
    await tab.connected()
    await expect(notice).to_have_count(0)

    write(guarded.project, {".opencode/tools/adder.ts": ""})
    await tab.page.reload()
    await expect(notice).to_contain_text("4 of OpenCode's")
    await context.close()
