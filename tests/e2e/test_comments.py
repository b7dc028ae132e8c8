"""Comments on lines of a diff go to the agent together, and show what came of them."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
AFTER = BEFORE.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n")


async def test_comments_are_collected_sent_answered_and_outdated(
    stage: Stage, context: BrowserContext
) -> None:
    path = stage.project / "commented.txt"
    path.write_text(BEFORE)
    rewritten = AFTER.replace("line three\n", "line 3, better\n")
    stage.plays(
        Turn(tools=[ToolUse("write", {"filePath": "commented.txt", "content": AFTER})]),
        Turn(text="First done."),
        Turn(tools=[ToolUse("write", {"filePath": "commented.txt", "content": rewritten})]),
        Turn(text="Better now."),
    )
    tab = await stage.tab(context, await stage.session("commented"))
    await tab.send("Change it.")
    await expect(tab.messages).to_contain_text("First done.")
    await tab.idle()

    hunks = tab.review.locator("[data-hunk]")
    await expect(hunks).to_have_count(2)
    await hunks.nth(0).get_by_role("button", name="Comment").click()
    field = tab.review.get_by_label("Comment on line 3", exact=True)
    await expect(field).to_be_focused()
    await field.fill("Say it <b>better</b>.")
    await field.press("Control+Enter")
    note = tab.review.locator(".comment")
    await expect(note).to_contain_text("Say it <b>better</b>.")
    await expect(note).to_contain_text("Not sent yet")

    tray = tab.page.locator("#comment-tray")
    await tray.get_by_label("Words before the comments").fill("Mind these:")

    number = tab.review.locator("td.num.new[data-n='24']")
    await number.click()
    await tab.review.get_by_label("Comment on line 24", exact=True).press("Escape")
    await number.click()
    await tab.review.locator("td.num.new[data-n='26']").click(modifiers=["Shift"])
    await tab.review.get_by_label("Comment on lines 24–26").fill("And here?")
    await tab.review.get_by_label("Comment on lines 24–26").press("Control+Enter")
    await expect(tray).to_contain_text("2 comments")
    await expect(tray.get_by_label("Words before the comments")).to_have_value("Mind these:")
    await note.filter(has_text="And here?").get_by_role("button", name="Edit").click()
    await tab.review.get_by_label("Comment", exact=True).fill("And there?")
    await tab.review.get_by_role("button", name="Save").click()
    await expect(note.filter(has_text="And there?")).to_be_visible()

    await tray.get_by_role("button", name="Send to the agent").click()
    await expect(tab.messages).to_contain_text("Better now.")
    await tab.idle()
    await expect(tray).to_be_empty()
    sent = json.dumps(stage.model.requests[-1].body)
    assert "Mind these:" in sent
    assert "commented.txt, line 3:" in sent
    assert "commented.txt, lines 24-26:" in sent
    assert "And there?" in sent
    await expect(note.filter(has_text="better</b>")).to_contain_text("Outdated")
    await expect(note.filter(has_text="better</b>")).to_contain_text("Answered")
    await expect(note.filter(has_text="And there?")).to_contain_text("Answered")
    await expect(note.filter(has_text="And there?")).not_to_contain_text("Outdated")
