"""The settings page: the meter of the store, cleaning it up, removing deleted sessions for good."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from sessions.changes.snapshots.snapshot import FULL_MARK
from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.damaged import leaves, spoil

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.long
async def test_the_store_and_what_holds_it(context: BrowserContext, stage: Stage) -> None:
    session_id = await stage.session("Holds something")
    tab = await stage.tab(context, session_id)
    content = "".join(f"{secrets.token_hex(40)}\n" for _ in range(4000))  # more than any other test leaves
    write = ToolUse("write", {"filePath": "settings.txt", "content": content})
    stage.plays(Turn(tools=[write]), Turn(text=["Done"]))
    await tab.send("Write a file")
    await expect(tab.messages).to_contain_text("Done")
    await tab.idle()
    page = tab.page
    await page.get_by_role("link", name="Settings").click()
    await expect(page.get_by_role("heading", name="Kept for undo")).to_be_visible()
    await expect(page.locator("#store-words")).to_contain_text("of 5.0")
    await page.locator(".store-projects summary").first.click()
    held = page.locator(".holdings li", has_text="Holds something")
    await expect(held.locator(".holding-size")).to_contain_text("KB")
    await page.get_by_role("button", name="Clean up now").press("Enter")
    said = re.compile(r"There was nothing to clean up|Freed .* needs any more")  # packing may free some
    await expect(page.locator(".store-said")).to_have_text(said)
    await page.locator(".store-projects summary").first.click()
    await held.get_by_role("button", name="Delete Holds something").click()
    await expect(page.locator(".toast", has_text="Undo")).to_be_visible()
    await page.reload()
    await page.locator(".store-deleted summary").click()
    await page.get_by_role("button", name="Remove for good").click()
    await expect(page.locator(".store-said")).to_contain_text("gone for good")
    await expect(page.locator(".store-deleted")).to_have_count(0)
    await page.locator(".store-projects summary").first.click()
    await expect(page.locator(".store-holdings").first).not_to_contain_text("Loading")
    await expect(held).to_have_count(0)


async def test_what_is_opened_as_it_comes_is_loaded(context: BrowserContext, stage: Stage) -> None:
    """By somebody quicker than the script that wires it."""
    tab = await stage.tab(context, await stage.session("Quick"))
    await tab.page.add_init_script(
        """new MutationObserver(() => {
          const details = document.querySelector(".store-projects details:not([open])");
          if (details) details.open = true;
        }).observe(document, { childList: true, subtree: true });"""
    )
    await tab.page.get_by_role("link", name="Settings").click()
    await expect(tab.page.locator(".store-holdings").first).not_to_contain_text("Loading")


async def test_what_waits_for_trust_is_looked_at_from_a_setting(
    stage: Stage, context: BrowserContext, tmp_path: Path
) -> None:
    folder = repository(tmp_path / "asks")
    server = {"type": "local", "command": ["true"], "enabled": False}
    (folder / "opencode.json").write_text(json.dumps({"mcp": {"asks": server}}))
    made = await stage.client.http.post("/session", json={}, params={"directory": str(folder)})
    page = (await stage.tab(context)).page
    await page.goto(f"{stage.server.url}/settings?project={made.json()['projectID']}")
    await page.get_by_role("button", name="Look at it").first.click()
    dialog = page.get_by_role("dialog", name="This project wants to run …")
    await dialog.get_by_role("button", name="Trust").click()
    await expect(page.locator("#configuration")).to_contain_text("From ")
    await expect(page.get_by_role("button", name="Look at it")).to_have_count(0)


@pytest.mark.long
async def test_a_full_store_is_said_in_the_page(context: BrowserContext, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    project = repository(tmp_path / "project")
    stage = Stage(home, project, permission=ASKED)
    stage.server.environ = {"OPENCODE_WEB_STORE_GB": "0.000001"}
    async with stage:
        session_id = await stage.session("Over the quota")
        tab = await stage.tab(context, session_id)
        large = "head -c 100000 /dev/urandom > large.bin; echo small > small.txt"
        for command in ("echo first > first.txt", large):
            use = ToolUse("bash", {"command": command, "description": "Write files"})
            stage.plays(Turn(tools=[use]), Turn(text=[f"Did {command}"]))
            await tab.send("Run it")
            await expect(tab.messages).to_contain_text(f"Did {command}")
            await expect(tab.page.locator("#store-notice")).to_contain_text("is full")
        assert (stage.server.data / "snapshots" / FULL_MARK).exists()
        await expect(tab.review.locator(".file", has_text="large.bin")).to_contain_text(
            "while the store is full"
        )
        await expect(tab.review.locator(".file", has_text="small.txt")).to_be_visible()
        await tab.page.get_by_role("link", name="See what holds the room").click()
        await expect(tab.page.locator(".store .problem")).to_contain_text("The store is full.")
        await expect(tab.page.get_by_text("Looking…")).to_have_count(0)  # whole, as the server ends


async def test_a_damaged_database_is_said_on_every_page_until_that_is_dismissed(
    context: BrowserContext, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with Stage(home, repository(tmp_path / "project"), permission=ASKED) as stage:
        session_id = await stage.session("Survives")
        await asyncio.to_thread(stage.server.stop)
        file = stage.server.data / "db.sqlite3"
        spoil(file, leaves(file, "opencode_sessions_event")[-1])
        await asyncio.to_thread(stage.server.start)
        stage.client = stage.server.client()
        await stage.log_in()
        tab = await stage.tab(context, session_id)
        banner = tab.page.get_by_role("region", name="Damaged database")
        await expect(banner).to_contain_text("Saved: 1 conversation")
        await expect(banner).to_contain_text("doctor --repair")
        await expect(tab.prompt).to_be_in_viewport()
        await tab.page.get_by_role("link", name="Settings").click()
        await expect(banner).to_be_visible()
        await expect(tab.page.locator(".store .problem")).to_contain_text("nothing is cleaned up")
        await banner.get_by_role("button", name="Dismiss").click()
        await expect(banner).to_have_count(0)
        await tab.page.go_back()
        await expect(tab.prompt).to_be_visible()
        await expect(banner).to_have_count(0)
