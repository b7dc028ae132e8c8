"""A walk on a machine that hides its processes and tells of no changes, as far as macOS can be had here."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.bare import hidden, refusal
from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.skipif(bool(refusal()), reason=f"not run {refusal()}")
async def test_write_approve_stop_undo_and_what_is_less(context: BrowserContext, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    project = repository(tmp_path / "project")
    stage = Stage(home, project, permission=ASKED)
    stage.server.prefix = hidden([])
    async with stage:
        tab = await stage.tab(context, await stage.session("Bare"))
        write = ToolUse("write", {"filePath": "new.md", "content": "new\n"})
        stage.plays(
            Turn(tools=[write]),
            Turn(tools=[ToolUse("bash", {"command": "mkdir made && echo by a command > made/file"})]),
            Turn(tools=[ToolUse("bash", {"command": "touch touched.txt"})]),
            Turn(text="Done."),
        )
        await tab.send("Write files")
        await tab.permissions.get_by_role("button", name="Allow once").click()
        await expect(tab.messages).to_contain_text("Done.")
        assert (project / "new.md").read_text() == "new\n"
        assert (project / "made" / "file").exists()
        assert (project / "touched.txt").exists()

        stage.plays(Turn(tools=[ToolUse("bash", {"command": "sleep 1000 & echo begun; wait"})]))
        await tab.send("Wait")
        await expect(tab.tool("sleep 1000").locator(".live")).to_have_text("begun")
        await tab.stop.click()
        await tab.idle()

        await tab.undo(0)
        await tab.dialog.get_by_role("button", name="Undo 2 prompts").click()
        await expect(tab.page.locator(".reverted-notice")).to_contain_text("2 prompts")
        assert not (project / "new.md").exists()
        assert not (project / "made" / "file").exists()
        assert not (project / "touched.txt").exists()

        await tab.page.get_by_role("link", name="Settings").click()
        machine = tab.page.get_by_role("region", name="On this machine")
        await expect(machine).to_contain_text("Other processes cannot be seen")
        await expect(machine).to_contain_text("does not tell of changed files")
        await tab.page.screenshot(path=tmp_path / "settings.png", full_page=True)
