"""The review by keyboard alone, on a small screen, and after the server was started again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.conftest import repository, watch
from tests.e2e.stage import Stage
from tests.e2e.test_review import button, edited, file_of, hunk, turn, without
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

ON_ONE_LINE = """
(wanted) => {
  const names = [...document.querySelectorAll(".file-head .name")];
  const name = names.find((one) => one.textContent.trim() === wanted);
  return name && name.scrollWidth <= name.clientWidth && name.getClientRects().length === 1;
}
"""

SMALL = {"width": 390, "height": 844}
TOO_SMALL = """(all) => all.map((one) => one.closest("label, button").getBoundingClientRect())
    .filter((box) => box.width && box.height < 40).length"""
TARGETS = ".file button:visible:not(.gap-bar *), .file input:visible, .review-head button:visible"


async def test_by_keyboard_alone(stage: Stage, context: BrowserContext) -> None:
    tab, old = await edited(stage, context, "keys")
    press, said = tab.page.keyboard.press, tab.review.locator("#review-live")
    await expect(tab.review.locator(".file")).to_have_count(2)
    await tab.review.locator("#review-wide").focus()
    await press("n")
    await expect(file_of(tab, "new.txt").locator("[data-fold]")).to_be_focused()
    await press("n")
    await press("j")
    await expect(hunk(tab, 0)).to_be_focused()
    await expect(said).to_have_text("Hunk 1 of 3, keys/old.txt")
    await press("j")
    await press("u")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "gone")
    await expect(hunk(tab, 1)).to_be_focused()
    assert old.read_text() == without(15)
    await press("r")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "here")
    assert old.read_text() == without()
    await press("y")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "kept")
    await press("y")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "here")
    await press("j")
    await press("v")
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "viewed")
    await press("k")
    await press("k")
    await expect(hunk(tab, 0)).to_be_focused()
    await press("e")
    await expect(tab.review.get_by_role("navigation", name="Files of the review")).to_be_visible()
    await expect(tab.prompt).not_to_be_focused()
    await press("s")
    await expect(tab.review.locator("table.split").first).to_be_visible()
    await press("s")
    await expect(tab.review.locator("table.unified").first).to_be_visible()
    await press("?")
    await expect(tab.page.get_by_role("dialog", name="Keys and commands")).to_be_visible()
    await press("Escape")
    await press("Escape")
    await expect(tab.review.get_by_role("navigation", name="Files of the review")).to_be_hidden()
    await button(hunk(tab, 0), "Why\u2026").focus()
    await press("Enter")
    await tab.page.keyboard.type("u y r n")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
    assert old.read_text() == without()
    await press("Enter")
    await expect(button(hunk(tab, 0), "Undo")).to_be_focused()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
    await press("Enter")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(2)


async def test_one_help_on_every_page_of_a_session(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("helped"))
    help = tab.page.get_by_role("dialog", name="Keys and commands")
    await tab.prompt.press("?")
    await expect(tab.prompt).to_have_value("?")
    await expect(help).to_be_hidden()
    await tab.prompt.blur()
    await tab.page.keyboard.press("?")
    await expect(help).to_contain_text("Next hunk")
    close = help.get_by_role("button", name="Close")
    box, inside = await help.bounding_box(), await close.bounding_box()
    assert box
    assert inside
    assert inside["x"] > box["x"] + box["width"] / 2, "the way on is at the right"
    await close.click()
    await tab.page.goto(f"{tab.page.url}/timeline")
    await tab.page.locator("#timeline #scrub").focus()
    await tab.page.keyboard.press("?")
    await expect(help).to_be_visible()


@pytest.mark.long
async def test_the_full_review_keeps_the_place_and_sends_comments(
    stage: Stage, context: BrowserContext
) -> None:
    tab, _ = await edited(stage, context, "place")
    press = tab.page.keyboard.press
    await hunk(tab, 2).focus()
    await press("c")
    await tab.page.get_by_label("Comment on line").fill("Why thirty?")
    await press("Control+Enter")
    await expect(tab.page.locator(".comment-tray")).to_contain_text("1 comment")
    await hunk(tab, 2).focus()
    for key, wide in (("e", "true"), ("Escape", "false"), ("e", "true")):
        await press(key)
        await expect(tab.review.locator("#review-wide")).to_have_attribute("aria-pressed", wide)
        await expect(hunk(tab, 2)).to_be_focused()
        await expect(hunk(tab, 2)).to_be_in_viewport()
    await expect(tab.prompt).to_be_hidden()
    stage.plays(Turn(text="Because."))
    await tab.page.get_by_role("button", name="Send to the agent").click()
    await expect(tab.page.locator(".comment-tray")).to_have_count(0)
    await press("Escape")
    await expect(tab.messages).to_contain_text("Because.")


async def test_the_name_of_a_file_is_whole_beside_its_buttons(stage: Stage, context: BrowserContext) -> None:
    folder = "rather/a/long/way/down/from/the/top/of/the/tree/to/a/file"
    name = "with_a_name_of_some_length.py"
    tab = await stage.tab(context, await stage.session("long name"))
    await turn(tab, stage, ToolUse("write", {"filePath": f"{folder}/{name}", "content": "x = 1\n"}))
    head = file_of(tab, name).locator(".file-head")
    shown = head.locator(".name")
    await expect(shown).to_have_text(name)
    # Asked of the one that is there: the review is renewed when the turn ends.
    await tab.page.wait_for_function(ON_ONE_LINE, arg=name)
    await button(head, "Keep").click()
    await expect(head.locator(".file-tag")).to_have_text("Kept")
    assert await shown.evaluate("(name) => name.scrollWidth <= name.clientWidth")
    assert await head.evaluate("(head) => head.scrollWidth <= head.clientWidth")


async def test_on_a_small_screen(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(viewport=SMALL, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    faults = watch(context)
    tab, old = await edited(stage, context, "small")
    await tab.page.get_by_role("button", name="Changed files").tap()
    await button(tab.review, "Files").tap()
    await tab.review.get_by_label("Filter files by name").fill("old")
    await expect(tab.review.locator(".tree-file:visible")).to_have_count(1)
    await tab.review.locator(".tree-file:visible button").tap()
    await expect(tab.review.locator("#review-tree")).to_be_hidden()
    assert await tab.review.locator(TARGETS).evaluate_all(TOO_SMALL) == 0
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    await button(hunk(tab, 2), "Undo").tap()
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(29)
    await context.close()
    assert faults == []


@pytest.mark.long
async def test_redo_after_a_restart(tmp_path: Path, context: BrowserContext) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with Stage(home, repository(tmp_path / "project")) as stage:
        tab, old = await edited(stage, context, "restarted")
        await button(hunk(tab, 0), "Undo").click()
        await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
        await button(hunk(tab, 2), "Keep").click()
        await expect(hunk(tab, 2)).to_have_attribute("data-state", "kept")
        session = tab.session_id
        await tab.page.close()
        await asyncio.to_thread(stage.server.kill)
        await asyncio.to_thread(stage.server.start)
        await stage.log_in()
        tab = await stage.tab(context, session)
        await expect(hunk(tab, 2)).to_have_attribute("data-state", "kept")
        assert old.read_text() == without(2)
        await button(hunk(tab, 0), "Redo").click()
        await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
        assert old.read_text() == without()


@pytest.mark.long
async def test_the_keyboard_stays_at_its_hunk_when_another_comes_above(
    stage: Stage, context: BrowserContext
) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 61))
    place = stage.project / "above.txt"
    place.write_text(lines)

    def edit(old: str, new: str) -> Turn:
        return Turn(
            tools=[
                ToolUse("edit", {"filePath": "above.txt", "oldString": f"{old}\n", "newString": f"{new}\n"})
            ]
        )

    stage.plays(
        edit("line 50", "line FIFTY"), Turn(text="One."), edit("line 3", "line THREE"), Turn(text="Two.")
    )
    tab = await stage.tab(context, await stage.session("above"))
    await tab.send("Change it.")
    await expect(tab.messages).to_contain_text("One.")
    await tab.idle()
    fifty = tab.review.locator("[data-hunk]", has_text="line FIFTY")
    await fifty.focus()
    await stage.client.prompt(tab.session_id, "And more.")
    await expect(tab.review.locator("[data-hunk]")).to_have_count(2)
    await expect(fifty).to_be_focused()
    await tab.page.keyboard.press("u")
    await expect(fifty).to_have_attribute("data-state", "gone")
    assert place.read_text() == lines.replace("line 3\n", "line THREE\n")
