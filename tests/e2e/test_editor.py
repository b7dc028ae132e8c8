"""A file beside the conversation: edited, saved, kept, merged with what comes from the disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def text_of(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("textbox", name=f"Text of {name}")


def opened(tab: Tab) -> Locator:
    return tab.page.locator(".opened:visible")


async def open_file(
    stage: Stage, context: BrowserContext, title: str, name: str, text: str
) -> tuple[Tab, Path]:
    path = stage.project / name
    path.write_text(text)
    tab = await stage.tab(context, await stage.session(title))
    await reopen(tab, name)
    return tab, path


async def reopen(tab: Tab, name: str) -> None:
    await tab.page.keyboard.press("Control+Shift+E")
    field = tab.page.get_by_label("Find a file by its name")
    await field.fill(name)
    await expect(tab.page.locator("#files-tree .files-row")).to_have_count(1)
    await field.press("Enter")
    await expect(text_of(tab, name)).to_be_focused()


async def test_a_file_is_edited_and_saved_by_keys(stage: Stage, context: BrowserContext) -> None:
    tab, path = await open_file(stage, context, "edits", "edited.py", "def one():\n    return 1\n")
    await expect(opened(tab).locator(".opened-place-of")).to_have_text("Line 1, column 1")
    keyboard = tab.page.keyboard
    await keyboard.type("# g i ?\n")
    await expect(tab.page.locator("#inbox")).to_be_hidden()
    await expect(opened(tab).locator(".opened-state")).to_have_text("Not saved")
    await expect(tab.page.locator(".beside-tab[data-unsaved]")).to_have_count(1)
    await keyboard.press("Control+s")
    await expect(opened(tab).locator(".opened-state")).to_have_text("Saved")
    assert path.read_bytes().decode() == "# g i ?\ndef one():\n    return 1\n"
    await expect(tab.page.locator(".beside-tab[data-unsaved]")).to_have_count(0)
    await keyboard.press("Control+g")
    await keyboard.type("3")
    await keyboard.press("Enter")
    await expect(opened(tab).locator(".opened-place-of")).to_have_text("Line 3, column 1")
    await expect(tab.review.locator(".file")).to_have_count(0)
    await tab.page.goto(f"{tab.page.url.partition('/s/')[0]}/log")
    await expect(tab.page.locator(".log-entry", has_text="Edited by hand").first).to_contain_text("edited.py")


async def test_what_is_not_saved_survives_a_reload_and_a_closed_tab(
    stage: Stage, context: BrowserContext
) -> None:
    tab, path = await open_file(stage, context, "unsaved", "unsaved.txt", "one\n")
    await tab.page.keyboard.type("draft ")
    await expect(opened(tab).locator(".opened-state")).to_have_text("Not saved")
    await tab.page.reload()
    await expect(text_of(tab, "unsaved.txt")).to_contain_text("draft one")
    await expect(opened(tab).locator(".opened-state")).to_contain_text("Not saved")
    await tab.page.get_by_role("button", name="Close unsaved.txt").click()
    await expect(text_of(tab, "unsaved.txt")).to_have_count(0)
    assert path.read_bytes().decode() == "one\n"
    await reopen(tab, "unsaved.txt")
    await expect(text_of(tab, "unsaved.txt")).to_contain_text("draft one")
    await opened(tab).get_by_role("button", name="Save").click()
    await expect(opened(tab).locator(".opened-state")).to_have_text("Saved")
    assert path.read_bytes().decode() == "draft one\n"


async def test_what_comes_from_the_disk_is_shown_and_merged(stage: Stage, context: BrowserContext) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 9))
    tab, path = await open_file(stage, context, "merges", "merged.txt", lines)
    path.write_text(lines.replace("line 8", "disk 8"))
    await expect(text_of(tab, "merged.txt")).to_contain_text("disk 8")
    await expect(opened(tab).locator(".opened-state")).to_have_text("Changed on the disk")

    await tab.page.keyboard.type("mine ")
    path.write_text(lines.replace("line 7", "disk 7"))
    await expect(opened(tab)).to_contain_text("It has been changed on the disk.")
    await opened(tab).get_by_role("button", name="Merge").click()
    await expect(text_of(tab, "merged.txt")).to_contain_text("disk 7")
    await expect(text_of(tab, "merged.txt")).to_contain_text("mine line 1")
    await tab.page.keyboard.press("Control+s")
    await expect(opened(tab).locator(".opened-state")).to_have_text("Saved")
    assert path.read_bytes().decode() == lines.replace("line 7", "disk 7").replace(
        "line 1\n", "mine line 1\n", 1
    )


async def test_where_both_changed_the_same_the_person_says(stage: Stage, context: BrowserContext) -> None:
    tab, path = await open_file(stage, context, "conflicts", "both.txt", "one\ntwo\n")
    await tab.page.keyboard.type("mine ")
    path.write_text("disk one\ntwo\n")
    await expect(opened(tab)).to_contain_text("It has been changed on the disk.")
    await tab.page.keyboard.press("Control+s")
    form = opened(tab).get_by_role("form", name="Settle the conflict")
    await expect(form).to_contain_text("disk one")
    assert path.read_bytes().decode() == "disk one\ntwo\n"
    await form.get_by_label("As it is on the disk").check()
    await form.get_by_role("button", name="Take into the text").click()
    await expect(text_of(tab, "both.txt")).to_contain_text("disk one")
    await expect(text_of(tab, "both.txt")).not_to_contain_text("mine")
    await expect(opened(tab).locator(".opened-state")).to_have_text("")


async def test_a_path_in_an_answer_opens_at_its_line(stage: Stage, context: BrowserContext) -> None:
    (stage.project / "linked.py").write_text("".join(f"x{number} = 1\n" for number in range(1, 40)))
    stage.plays(
        Turn(text='Look at `linked.py:30` and `nothing.py:3`.\n\n```\nFile "linked.py", line 12\n```\n')
    )
    tab = await stage.tab(context, await stage.session("links"))
    await tab.send("Where?")
    await tab.idle()
    await expect(tab.messages.locator(".file-link")).to_have_text(["linked.py:30", 'linked.py", line 12'])
    await tab.messages.locator(".file-link", has_text="linked.py:30").click()
    await expect(text_of(tab, "linked.py")).to_be_focused()
    await expect(opened(tab).locator(".opened-place-of")).to_have_text("Line 30, column 1")
    await tab.page.get_by_role("tab", name="Changes").click()
    await expect(tab.review).to_be_visible()


async def test_lines_that_are_selected_go_to_the_model(stage: Stage, context: BrowserContext) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 31))
    tab, _ = await open_file(stage, context, "mentions", "told.txt", text)
    for key in ("Control+g", "1", "2", "Enter"):
        await tab.page.keyboard.press(key)
    await expect(opened(tab).locator(".opened-place-of")).to_have_text("Line 12, column 1")
    await expect(text_of(tab, "told.txt")).to_be_focused()
    for _ in range(2):
        await tab.page.keyboard.press("Shift+ArrowDown")
    await opened(tab).get_by_role("button", name="Add to the prompt").click()
    await expect(tab.prompt).to_have_value("@told.txt#L12-13 ")
    stage.plays(Turn(text="I see them."))
    await tab.page.keyboard.press("Enter")
    await expect(tab.messages).to_contain_text("I see them.")
    told = str(stage.model.requests[-1].body["messages"][-1]["content"])
    assert "line 12" in told
    assert "line 14" not in told


async def test_lines_are_commented_and_the_comments_sent(stage: Stage, context: BrowserContext) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 9))
    tab, path = await open_file(stage, context, "comments", "commented-on.txt", text)
    page, comment = tab.page, opened(tab).locator(".cm-comment")
    for key in ("ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+F2"):
        await page.keyboard.press(key)
    field = page.get_by_role("textbox", name="Comment on lines 2–3")
    await expect(field).to_be_focused()
    await page.keyboard.press("Control+Enter")
    await expect(comment).to_contain_text("Write something first.")
    await page.keyboard.type("Say it <b>better</b>.")
    await page.keyboard.press("Control+Enter")
    await expect(comment.locator(".cm-comment-text")).to_have_text("Say it <b>better</b>.")
    await expect(text_of(tab, "commented-on.txt")).to_be_focused()

    await page.keyboard.press("Control+Home")
    await page.keyboard.type("first\n")
    await opened(tab).get_by_role("button", name="Comment on the line").click()
    await page.get_by_role("textbox", name="Comment on line 2").fill("Never sent.")
    await page.keyboard.press("Control+Enter")
    await expect(comment.locator(".cm-comment-text")).to_have_text(["Never sent.", "Say it <b>better</b>."])
    assert path.read_text() == f"first\n{text}"
    await comment.first.get_by_role("button", name="Edit").click()
    await comment.first.get_by_role("textbox").fill("Taken back.")
    await comment.first.get_by_role("button", name="Save").click()
    await expect(comment.locator(".cm-comment-text").first).to_have_text("Taken back.")
    await comment.first.get_by_role("button", name="Remove").click()
    await expect(comment).to_have_count(1)

    waits = page.locator("#comment-tray li")
    await expect(waits).to_have_count(1)
    await expect(waits).to_contain_text("Say it <b>better</b>.")
    await waits.get_by_role("link").click()
    await expect(opened(tab).locator(".opened-place-of")).to_have_text("Line 2, column 1")
    stage.plays(Turn(text="I see."))
    await page.locator("#comment-tray").get_by_role("button", name="Send to the agent").click()
    await expect(tab.messages).to_contain_text("I see.")
    await expect(comment).to_contain_text("Answered")
    said = str(stage.model.requests[-1].body["messages"][-1])
    assert "My comments on the code:" in said
    assert "commented-on.txt, lines 3-4" in said
    assert "line 2\\nline 3" in said
    assert "Taken back" not in said


async def test_what_the_agent_changed_is_marked_and_judged_there(
    stage: Stage, context: BrowserContext
) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 9))
    tab, path = await open_file(stage, context, "changed lines", "changed.txt", text)
    marked = opened(tab).locator(".cm-lineNumbers .cm-changed")
    await expect(marked).to_have_count(0)
    edit = {"filePath": "changed.txt", "oldString": "line 4\nline 5\n", "newString": "four\n"}
    stage.plays(Turn(tools=[ToolUse("edit", edit)]), Turn(text="Done."))
    await tab.send("Change it.")
    await tab.idle()
    await expect(marked).to_have_text(["4"])

    await text_of(tab, "changed.txt").focus()
    await tab.page.keyboard.type("first\n")
    await expect(marked).to_have_text(["5"])
    await tab.page.keyboard.press("Alt+F3")
    card = tab.page.get_by_role("dialog", name="What was here before")
    await expect(card.locator("pre")).to_have_text("line 4\nline 5")
    await expect(card.get_by_role("button", name="Keep")).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await expect(card).to_have_count(0)
    await expect(text_of(tab, "changed.txt")).to_be_focused()

    await marked.click()
    await card.get_by_role("button", name="Keep").click()
    await tab.page.keyboard.press("Control+s")
    await expect(opened(tab).locator(".cm-lineNumbers .cm-kept")).to_have_text(["5"])
    await marked.click()
    await card.get_by_role("button", name="Undo").click()
    await expect(marked).to_have_count(0)
    await expect(text_of(tab, "changed.txt")).to_contain_text("line 4")
    assert path.read_text() == f"first\n{text}"
    await tab.page.locator("#toasts").get_by_role("button", name="Redo").click()
    await expect(marked).to_have_text(["5"])
    assert path.read_text() == "first\n" + text.replace("line 4\nline 5\n", "four\n")


async def test_symbols_are_offered_without_a_language_server(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await open_file(
        stage, context, "outlines", "shapes.py", "class Square:\n    def area(self):\n        return 4\n"
    )
    await tab.page.keyboard.press("Control+p")
    await tab.page.keyboard.type("@are")
    await expect(tab.page.get_by_role("option")).to_have_text([re.compile("Square"), re.compile("area")])
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Enter")
    await expect(opened(tab).locator(".opened-place-of")).to_have_text("Line 2, column 9")
