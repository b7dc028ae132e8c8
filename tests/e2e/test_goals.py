"""A goal by hand: set by `/goal`, watched, paused, changed, gone on with, its verdicts read."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def word(verdict: str, reason: str) -> Turn:
    return Turn(text=json.dumps({"verdict": verdict, "reason": reason}))


def write(content: str) -> Turn:
    return Turn(tools=[ToolUse("write", {"filePath": "answer.txt", "content": content})])


async def test_a_goal_is_driven_to_green_and_its_log_read(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        write("wrong\n"),
        Turn(text="I wrote it."),
        word("go_on", "The answer is not right yet."),
        write("right\n"),
        Turn(text="Now it is right."),
        word("done", "The file says what was asked for."),
    )
    session = await stage.session("a goal")
    tab, other = await stage.tab(context, session), await stage.tab(context, session)
    await tab.prompt.fill("/goal Say the right answer")
    await tab.prompt.press("Enter")
    dialog = tab.page.get_by_role("dialog", name="Work until it is done")
    await expect(dialog.get_by_label("What is to be reached")).to_have_value("Say the right answer")
    await dialog.get_by_role("textbox", name="Checks").fill("grep -q right answer.txt\nfile: answer.txt")
    await dialog.get_by_role("spinbutton", name="Turns").fill("5")
    await dialog.get_by_role("button", name="Begin").click()
    await expect(dialog).to_have_count(0)
    for page in (tab.page, other.page):
        bar = page.get_by_role("region", name="Goal")
        await expect(bar).to_contain_text("Done")
        await expect(bar).to_contain_text("2 of 5 turns")
        await expect(page.locator("#strip-words")).to_contain_text("Goal: Done, 2 turns")
        await expect(bar.get_by_role("list", name="Checks").get_by_role("listitem")).to_have_count(2)
    await expect(tab.messages).to_contain_text("The judge: The answer is not right yet.")
    await tab.page.get_by_role("region", name="Goal").get_by_role("button", name="Log").click()
    log = tab.page.get_by_role("dialog", name="What was found after each turn")
    await expect(log.get_by_role("heading", level=3)).to_have_count(2)
    await expect(log).to_contain_text("The file says what was asked for.")
    await expect(log.locator("details[open] summary")).to_contain_text("exit 1")
    await log.get_by_role("button", name="Close").click()
    await tab.page.get_by_role("region", name="Goal").get_by_role("button", name="Dismiss").click()
    await expect(tab.page.get_by_role("region", name="Goal")).to_have_count(0)


async def test_it_is_paused_changed_and_gone_on_with(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["I begin", Wait("never")]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("a paused goal"))
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("a goal")
    await tab.page.get_by_role("option", name="A goal:").click()
    dialog = tab.page.get_by_role("dialog", name="Work until it is done")
    await dialog.get_by_label("What is to be reached").fill("Reach it")
    await dialog.get_by_role("textbox", name="Checks").fill("file: ../outside")
    await dialog.get_by_label("Who judges").select_option("none")
    await dialog.get_by_role("button", name="Begin").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("without .. in its path")
    await dialog.get_by_role("textbox", name="Checks").fill("false")
    await dialog.get_by_role("button", name="Begin").click()
    bar = tab.page.get_by_role("region", name="Goal")
    await expect(tab.messages).to_contain_text("I begin")
    await bar.get_by_role("button", name="Pause").click()
    await expect(bar).to_contain_text("Paused by you.")
    await tab.idle()
    await bar.get_by_role("button", name="Edit").click()
    edit = tab.page.get_by_role("dialog", name="Edit the goal")
    await expect(edit.get_by_label("Who judges")).to_have_value("none")
    await edit.get_by_role("textbox", name="Checks").fill("true")
    await edit.get_by_role("button", name="Save").click()
    await expect(edit).to_have_count(0)
    await bar.get_by_role("button", name="Go on").click()
    await expect(bar).to_contain_text("Done")
    await tab.idle()


async def test_a_new_session_begins_with_one(stage: Stage, context: BrowserContext) -> None:
    stage.plays(write("x\n"), Turn(text="I wrote it."))
    tab = await stage.tab(context)
    await tab.prompt.fill("/goal Write the file")
    await tab.prompt.press("Enter")
    dialog = tab.page.get_by_role("dialog", name="Work until it is done")
    await dialog.get_by_role("textbox", name="Checks").fill("file: answer.txt")
    await dialog.get_by_label("Who judges").select_option("none")
    await dialog.get_by_role("button", name="Begin").click()
    await expect(tab.page.locator("#strip-words")).to_contain_text("Goal: Done, 1 turn")
    await expect(tab.messages).to_contain_text("Write the file")
