"""Schedules by hand: made with the next times shown, run, read in the inbox, paused, called by an address."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def opened(stage: Stage, context: BrowserContext) -> Page:
    """The schedules of the project, by the key."""
    page = (await stage.tab(context, await stage.session("beside schedules"))).page
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("e")
    await expect(page.get_by_role("heading", name="Schedules", level=1)).to_be_visible()
    return page


async def test_one_is_made_run_and_its_result_read_in_the_inbox(
    stage: Stage, context: BrowserContext
) -> None:
    page = await opened(stage, context)
    await page.get_by_role("link", name="New schedule").click()
    await page.get_by_label("Name").fill("Nightly look")
    await page.get_by_label("What is to be done").fill("Look around.")
    await page.get_by_label("At", exact=True).fill("03:30")
    await page.get_by_label("Time zone").fill("Europe/Berlin")
    times = page.locator("#schedule-times")
    await expect(times.get_by_role("listitem")).to_have_count(5)
    await expect(times.get_by_role("listitem").first).to_contain_text("03:30")
    await page.get_by_label("Time zone").fill("Nowhere")
    await expect(times).to_contain_text("There is no time zone Nowhere here.")
    await page.get_by_role("button", name="Make it").click()
    await expect(page.locator("#schedule-problem")).to_contain_text("There is no time zone Nowhere here.")
    await page.get_by_label("Time zone").fill("Europe/Berlin")
    await page.get_by_role("button", name="Make it").click()
    await expect(page.get_by_role("heading", name="Nightly look")).to_be_visible()
    await expect(page.get_by_text("Every day at 03:30 (Europe/Berlin)")).to_be_visible()
    await expect(page.get_by_text("It has not run yet.")).to_be_visible()
    stage.plays(Turn(text="All is quiet."))
    await page.get_by_role("button", name="Run now").click()
    await expect(page.locator("#schedule-runs")).to_contain_text("All is quiet.")
    await expect(page.locator("#schedule-runs [data-state=done]")).to_be_visible()
    await page.locator("#inbox-button").click()
    inbox = page.locator("#inbox")
    await expect(inbox.get_by_role("heading", name="Nightly look")).to_be_visible()
    await expect(inbox).to_contain_text("All is quiet.")
    await inbox.get_by_role("button", name="Dismiss").click()
    await expect(inbox.get_by_role("heading", name="Nightly look")).to_have_count(0)
    await page.get_by_role("link", name="Open the session").click()
    await expect(page.locator("#messages")).to_contain_text("Look around.")


async def test_one_is_changed_paused_and_removed(stage: Stage, context: BrowserContext) -> None:
    page = await opened(stage, context)
    await page.get_by_role("link", name="New schedule").click()
    await page.get_by_label("Name").fill("On commits")
    await page.get_by_label("What is to be done").fill("Look at it.")
    await page.get_by_role("combobox", name="When").select_option("commit")
    await page.get_by_label("Branch").fill("no branch")
    await page.get_by_role("button", name="Make it").click()
    await expect(page.locator("#schedule-problem")).to_contain_text("Name a branch.")
    await page.get_by_label("Branch").fill("main")
    await page.get_by_role("button", name="Make it").click()
    await expect(page.get_by_text("On a new commit on main")).to_be_visible()
    await page.get_by_role("combobox", name="When").select_option("daily")
    await page.get_by_label("Monday").check()
    await page.get_by_label("Work at it until it is reached").check()
    await page.get_by_label("Checks: a command").fill("file: ../outside")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#schedule-problem")).to_contain_text("without .. in its path")
    await page.get_by_label("Checks: a command").fill("true")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text(re.compile(r"Mon at 09:00"))).to_be_visible()
    await expect(page.get_by_label("Monday")).to_be_checked()
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("h1 .label")).to_have_text("Paused")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator("h1 .label")).to_have_count(0)
    provokes(context, "Remove this schedule?")
    page.once("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("heading", name="Schedules", level=1)).to_be_visible()
    await expect(page.locator("#schedules")).not_to_contain_text("On commits")


async def test_an_address_is_shown_once_and_works(stage: Stage, context: BrowserContext) -> None:
    page = await opened(stage, context)
    await page.get_by_role("link", name="New schedule").click()
    await page.get_by_label("Name").fill("Called")
    await page.get_by_label("What is to be done").fill("Answer the call.")
    await page.get_by_role("combobox", name="When").select_option("hook")
    await page.get_by_role("button", name="Make it").click()
    await page.get_by_role("button", name="Make an address").click()
    url = await page.locator("#schedule-url").inner_text()
    stage.plays(Turn(text="I was called."))
    async with httpx.AsyncClient() as stranger:
        assert (await stranger.post(url)).status_code == 202
    await expect(page.locator("#schedule-runs")).to_contain_text("I was called.")
    await page.reload()
    await expect(page.get_by_role("button", name="Make another address")).to_be_visible()
    await expect(page.locator("main")).not_to_contain_text("/hook/")


async def test_a_file_of_the_project_waits_for_trust(stage: Stage, context: BrowserContext) -> None:
    folder = stage.project / ".agents/loops"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text("---\nname: From a file\ndaily: 03:30\n---\nLook around.\n")
    (folder / "broken.md").write_text("---\nschedule: nonsense\n---\nLook around.\n")
    try:
        page = await opened(stage, context)
        await expect(page.get_by_text("It waits until you trust this file.")).to_be_visible()
        await expect(page.locator("main")).to_contain_text("broken.md: A cron expression has five fields")
        await page.get_by_role("link", name="From a file").click()
        await page.get_by_role("button", name="Look at what this project asks for").click()
        dialog = page.get_by_role("dialog", name="This project wants to run …")
        await expect(dialog).to_contain_text("Runs the agent by itself")
        await dialog.get_by_role("button", name="Trust").click()
        await expect(page.get_by_role("button", name="Run now")).to_be_visible()
        await expect(page.get_by_text("It is in the file .agents/loops/look.md")).to_be_visible()
    finally:
        for file in folder.iterdir():
            file.unlink()
