"""Review mode in the browser: switched on, a turn staged, one hunk kept, one dropped, the disk checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITED = LINES.replace("line 2\n", "line two\n").replace("line 28\n", "line twenty-eight\n")
KEPT = LINES.replace("line 2\n", "line two\n")


def writes(path: str, content: str) -> Turn:
    return Turn(tools=[ToolUse("write", {"filePath": path, "content": content})])


def fresh(stage: Stage, name: str) -> Path:
    """A file that no other test touches, made by the person."""
    path = stage.project / name
    path.write_text(LINES)
    return path


async def turned_on(tab: Tab) -> Locator:
    switch = tab.page.get_by_role("button", name="Review mode")
    await expect(switch).to_have_attribute("aria-pressed", "false")
    await tab.send("/review-mode")
    await expect(switch).to_have_attribute("aria-pressed", "true")
    await expect(tab.page.locator("#staged-bar")).to_contain_text("edits wait here until you keep them")
    return switch


async def test_one_hunk_is_kept_and_one_dropped(stage: Stage, context: BrowserContext) -> None:
    file = fresh(stage, "waits.txt")
    stage.plays(writes("waits.txt", EDITED), Turn(text="Staged."))
    tab = await stage.tab(context, await stage.session("stages"))
    other = await stage.tab(context, tab.session_id)
    await tab.page.bring_to_front()
    await turned_on(tab)
    await tab.send("Change it.")
    bar = tab.page.locator("#staged-bar")
    await expect(bar).to_contain_text("1 file staged")
    await tab.idle()
    assert file.read_text() == LINES
    await tab.page.get_by_role("button", name="Changed files").click()
    await tab.review.get_by_role("button", name="Review what is staged").click()
    first = tab.review.locator("[data-hunk]", has_text="line two")
    second = tab.review.locator("[data-hunk]", has_text="line twenty-eight")
    await first.get_by_role("button", name="Keep").click()
    await expect(tab.page.locator("#toasts")).to_contain_text("Kept 1 file.")
    await expect(first).to_have_count(0)
    assert file.read_text() == KEPT
    await second.get_by_role("button", name="Drop").click()
    await expect(bar.locator(".staged")).to_have_count(0)
    await expect(other.page.locator("#staged-bar .staged")).to_have_count(0)
    assert file.read_text() == KEPT
    note = tab.page.locator(".toast", has_text="Dropped 1 file.")
    await note.get_by_role("button", name="Undo").click()
    await expect(bar).to_contain_text("1 file staged")
    await expect(other.page.locator("#staged-bar")).to_contain_text("1 file staged")


async def test_what_waits_is_kept_by_keyboard_and_turned_off_with_a_choice(
    stage: Stage, context: BrowserContext
) -> None:
    file = fresh(stage, "kept.txt")
    stage.plays(
        Turn(tools=[*writes("kept.txt", EDITED).tools, *writes("dropped.txt", "new\n").tools]),
        Turn(text="Staged."),
    )
    tab = await stage.tab(context, await stage.session("asks what becomes of it"))
    switch = await turned_on(tab)
    await tab.send("Change both.")
    bar = tab.page.locator("#staged-bar")
    await expect(bar).to_contain_text("2 files staged")
    await tab.idle()
    file.write_text(f"mine\n{LINES}")
    await bar.locator("summary").focus()
    await tab.page.keyboard.press("Enter")
    row = bar.get_by_role("listitem").filter(has_text="kept.txt")
    await expect(row).to_contain_text("changed since")
    await bar.get_by_role("button", name="Keep kept.txt").focus()
    await tab.page.keyboard.press("Enter")
    await expect(bar).to_contain_text("1 file staged")
    await expect(bar.get_by_role("listitem")).to_have_count(1)
    assert file.read_text() == f"mine\n{EDITED}"
    await switch.click()
    await expect(tab.dialog).to_contain_text("1 file waits for your verdict")
    await tab.dialog.get_by_role("button", name="Drop all").click()
    await expect(tab.page.locator("#toasts")).to_contain_text("Review mode is off. Dropped 1 file.")
    await expect(tab.dialog).to_have_count(0)
    await expect(switch).to_have_attribute("aria-pressed", "false")
    await expect(bar).to_be_empty()
    assert not (stage.project / "dropped.txt").exists()


async def test_a_conflict_is_said_beside_the_buttons(stage: Stage, context: BrowserContext) -> None:
    file = fresh(stage, "conflict.txt")
    stage.plays(writes("conflict.txt", EDITED), Turn(text="Staged."))
    tab = await stage.tab(context, await stage.session("conflicts"))
    await turned_on(tab)
    await tab.send("Change it.")
    bar = tab.page.locator("#staged-bar")
    await expect(bar).to_contain_text("1 file staged")
    mine = LINES.replace("line 2\n", "mine\n")
    file.write_text(mine)
    await bar.get_by_role("button", name="Keep all").click()
    await expect(bar.get_by_role("alert")).to_contain_text("the same lines have been changed since")
    assert file.read_text() == mine
    await bar.get_by_role("button", name="Review").click()
    hunk = tab.review.locator("[data-hunk]", has_text="line two")
    await hunk.get_by_role("button", name="Keep").click()
    form = tab.review.get_by_role("form", name="Settle the conflict")
    await expect(form).to_contain_text("mine")
    await form.get_by_label("As the agent staged it").check()
    await form.get_by_role("button", name="Write").click()
    await expect(tab.page.locator("#toasts")).to_contain_text("Kept 1 file.")
    await expect(form).to_have_count(0)
    assert file.read_text() == LINES.replace("line 2\n", "line two\n")
    await expect(tab.review.locator("[data-hunk]")).to_have_count(1)


async def test_only_what_was_looked_at_is_kept(stage: Stage, context: BrowserContext) -> None:
    """A click that was meant for what the page showed keeps nothing else."""
    file = fresh(stage, "looked.txt")
    stage.plays(writes("looked.txt", EDITED), Turn(text="Staged."))
    tab = await stage.tab(context, await stage.session("looks"))
    await turned_on(tab)
    await tab.send("Change it.")
    bar = tab.page.locator("#staged-bar")
    await expect(bar).to_contain_text("1 file staged")
    await tab.idle()
    await tab.page.evaluate("document.getElementById('staged-drawn').value = '0'.repeat(40)")
    await bar.get_by_role("button", name="Keep all").click()
    await expect(bar.get_by_role("alert")).to_contain_text("looked.txt: it has been edited since you looked.")
    assert file.read_text() == LINES
    await tab.page.reload()
    await bar.get_by_role("button", name="Keep all").click()
    await expect(tab.page.locator("#toasts")).to_contain_text("Kept 1 file.")
    assert file.read_text() == EDITED
