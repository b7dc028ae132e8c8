"""Importing from OpenCode in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.stage import Stage
from tests.sessions.transfer import making

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.long
async def test_a_person_imports_and_reads_what_was_said(stage: Stage, browser: Browser) -> None:
    here, gone = stage.project, "/home/me/gone"
    data = stage.home / ".local" / "share" / "opencode"
    making.files(data, making.session(here, title="About flows"), making.conversation(here))
    making.files(data, making.session(gone, "ses_elsewhere", projectID="p2"), [])
    making.write(data / "storage" / "part" / making.PROMPT / "prt_torn.json", '{"id": "prt_torn", ')
    before = making.snapshot(data)
    context = await browser.new_context()
    tab = await stage.tab(context)
    page = tab.page
    await page.goto(f"{stage.server.url}/?choose")
    await page.get_by_role("link", name="Import from OpenCode").click()
    found = page.locator("#import-found")
    await expect(found).to_contain_text("2 projects, 2 sessions, 2 messages")
    await found.get_by_role("button", name="None").click()
    await found.get_by_role("button", name="Import").click()
    await expect(page.get_by_role("alert")).to_have_text("Choose at least one project.")
    await found.get_by_role("checkbox", name=str(here)).check()
    await found.get_by_role("button", name="Import").click()
    await expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="imported")).to_have_text("1 imported")
    await expect(page.locator(".import-problems")).to_contain_text("prt_torn.json truncated JSON")
    await page.reload()
    await expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    await page.get_by_role("button", name="Import more").click()
    await page.get_by_label("Look somewhere else").fill("flows")
    await page.get_by_role("button", name="Look").click()
    await expect(found).to_contain_text("Give the whole path")
    await page.get_by_label("Look somewhere else").fill(str(data))
    await page.get_by_role("button", name="Look").click()
    await found.get_by_role("button", name="Import").click()
    await expect(page.get_by_role("status").filter(has_text="imported")).to_have_text(
        "1 imported, 1 here already"
    )
    assert making.snapshot(data) == before
    await page.get_by_role("link", name="Projects").first.click()
    await expect(page.get_by_role("link", name="gone")).to_be_visible()
    await tab.open(making.SESSION)
    await expect(tab.messages).to_contain_text("List the flows")
    await expect(tab.messages).to_contain_text("One flow.")
    await page.goto(f"{stage.server.url}/?choose")
    await page.get_by_role("link", name="gone").click()
    await expect(page.get_by_role("heading", name="Flows")).to_be_visible()
    await context.close()
