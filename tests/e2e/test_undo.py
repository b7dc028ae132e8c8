"""Undo and review: what is shown is what happens to the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINES = "".join(f"line {number}\n" for number in range(1, 31))


async def two_turns(stage: Stage, context: BrowserContext, folder: str) -> tuple[Tab, Path]:
    """A session that changed lines 2 and 29 of `old.txt` and wrote `new.txt`, then changed line 15."""
    path = stage.project / folder / "old.txt"
    path.parent.mkdir()
    path.write_text(LINES)

    def change(number: int, to: str) -> ToolUse:
        name = f"{folder}/old.txt"
        edit = {"filePath": name, "oldString": f"line {number}\n", "newString": f"{to}\n"}
        return ToolUse("edit", edit)

    stage.plays(
        Turn(
            tools=[
                change(2, "line two"),
                change(29, "line 29 and more"),
                ToolUse("bash", {"command": f"echo made > {folder}/new.txt"}),
            ]
        ),
        Turn(text="First done."),
        Turn(tools=[change(15, "line fifteen")]),
        Turn(text="Second done."),
    )
    tab = await stage.tab(context, await stage.session(folder))
    for prompt, answer in (("First.", "First done."), ("Second.", "Second done.")):
        await tab.send(prompt)
        await expect(tab.messages).to_contain_text(answer)
        await tab.idle()
    return tab, path


async def test_undo_and_redo(stage: Stage, context: BrowserContext) -> None:
    tab, old = await two_turns(stage, context, "undone")
    changed = old.read_text()
    old.write_text(changed.replace("line 22\n", "line 22, mine\n"))
    other = await stage.tab(context, tab.session_id)
    await tab.page.bring_to_front()
    await tab.undo(0)
    await expect(tab.dialog).to_contain_text("This prompt and the one after it are undone")
    files = tab.dialog.locator(".undo-files > li")
    await expect(files).to_have_count(2)
    await expect(files.filter(has_text="old.txt")).to_contain_text("what has been changed since stays")
    await expect(files.filter(has_text="new.txt")).to_contain_text("Will be removed")
    await tab.dialog.get_by_role("button", name="Cancel").click()
    await expect(tab.dialog).to_have_count(0)
    assert old.read_text() != LINES

    await tab.undo(0)
    await tab.dialog.get_by_role("button", name="Undo 2 prompts").click()
    for page in (tab, other):
        await expect(page.page.locator(".reverted-notice")).to_contain_text("2 prompts")
        await expect(page.page.locator(".message:visible")).to_have_count(0)
        await expect(page.review.locator(".file")).to_have_count(0)
    await expect(tab.page.locator(".toast")).to_contain_text("2 files changed")
    assert old.read_text() == LINES.replace("line 22\n", "line 22, mine\n")
    assert not (old.parent / "new.txt").exists()

    await tab.page.reload()
    await tab.page.get_by_role("button", name="Redo").click()
    for page in (tab, other):
        await expect(page.page.locator(".reverted-notice")).to_have_count(0)
        await expect(page.page.locator(".message.user:visible")).to_have_count(2)
        await expect(page.review.locator(".file")).to_have_count(2)
    assert old.read_text() == changed.replace("line 22\n", "line 22, mine\n")
    assert (old.parent / "new.txt").read_text() == "made\n"

    await tab.undo(1)
    await tab.dialog.get_by_role("button", name="Undo 1 prompt").click()
    await expect(tab.page.locator(".reverted-notice")).to_be_visible()
    await expect(tab.dialog).to_have_count(0)  # while it closes, the focus goes back to where it was
    stage.plays(Turn(text="Another way."))
    await tab.send("Try again.")
    await expect(tab.messages).to_contain_text("Another way.")
    await expect(tab.page.locator(".reverted-notice")).to_have_count(0)
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["First.", "Try again."])


@pytest.mark.long
async def test_a_conflict_is_shown_and_left_alone(stage: Stage, context: BrowserContext) -> None:
    tab, old = await two_turns(stage, context, "conflicts")
    mine = old.read_text().replace("line fifteen\n", "line 15, by hand\n")
    old.write_text(mine)
    await tab.undo(1)
    warned = tab.dialog.locator(".undo-files .warn")
    await expect(warned).to_contain_text("left alone")
    await warned.locator("summary").click()
    await expect(warned.locator("pre")).to_have_text(["line 15, by hand", "line 15"])
    await tab.dialog.get_by_role("button", name="Undo 1 prompt").click()
    await expect(tab.page.locator(".toast")).to_contain_text("1 file left alone because of conflicts")
    assert old.read_text() == mine


async def test_review_panel(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await two_turns(stage, context, "reviewed")
    old = tab.review.locator(".file", has_text="old.txt")
    await expect(tab.review.locator(".review-title")).to_contain_text("+4 \u22123")
    await expect(old.locator(".counts")).to_have_text("+3 \u22123")
    await expect(old.locator("table.unified tr.add .line").first).to_have_text("line two")
    await expect(old.locator("tr.add mark").first).to_have_text("two")
    await expect(old.locator("tr.gap").first).to_contain_text("unchanged lines")
    await tab.review.get_by_text("Split").click()
    row = old.locator("table.split tr", has_text="line fifteen")
    await expect(row.locator("td.del.line")).to_have_text("line 15")
    await expect(row.locator("td.add.line")).to_have_text("line fifteen")
    await tab.review.locator("#review-scope").select_option(label="Last prompt")
    await expect(tab.review.locator(".file")).to_have_count(1)
    await expect(tab.review.locator(".review-title")).to_contain_text("+1 \u22121")
    await expect(tab.review.locator("table.split")).to_have_count(1)
    await tab.page.reload()
    await expect(tab.review.locator("table.split").first).to_be_visible()
    await tab.page.locator(".changed button", has_text="new.txt").click()
    await expect(tab.review.locator(".file", has_text="new.txt").locator(".line.add")).to_have_text("made")
