"""The review panel: verdicts, marks, conflicts, scopes, live renewal; what is shown is in the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINES = "".join(f"line {number}\n" for number in range(1, 31))


def change(name: str, number: int, to: str) -> ToolUse:
    """An edit of one of LINES."""
    return ToolUse("edit", {"filePath": name, "oldString": f"line {number}\n", "newString": f"{to}\n"})


async def turn(tab: Tab, stage: Stage, *tools: ToolUse, says: str = "Done.") -> None:
    """One prompt and its turn, to the end."""
    stage.plays(Turn(tools=list(tools)), Turn(text=says))
    await tab.send("Go on.")
    await expect(tab.messages).to_contain_text(says)
    await tab.idle()


async def edited(stage: Stage, context: BrowserContext, folder: str) -> tuple[Tab, Path]:
    """A session that changed lines 2, 15 and 29 of `<folder>/old.txt` in one turn and wrote `new.txt`."""
    path = stage.project / folder / "old.txt"
    path.parent.mkdir()
    path.write_text(LINES)
    tab = await stage.tab(context, await stage.session(folder))
    name = f"{folder}/old.txt"
    new = ToolUse("write", {"filePath": f"{folder}/new.txt", "content": "made\n"})
    await turn(tab, stage, *(change(name, number, f"agent {number}") for number in (2, 15, 29)), new)
    return tab, path


def file_of(tab: Tab, name: str) -> Locator:
    return tab.review.locator(f'.file[data-file$="{name}"]')


def hunk(tab: Tab, number: int, name: str = "old.txt") -> Locator:
    return file_of(tab, name).locator("[data-hunk]").nth(number)


def button(where: Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


async def top_of(element: Locator) -> float:
    box = await element.bounding_box()
    assert box is not None
    return box["y"]


def without(*numbers: int) -> str:
    """LINES as the agent left them, but for the changes of these lines."""
    text = LINES
    for number in {2, 15, 29} - set(numbers):
        text = text.replace(f"line {number}\n", f"agent {number}\n")
    return text


async def test_undo_keep_and_redo_hunk_by_hunk(stage: Stage, context: BrowserContext) -> None:
    tab, old = await edited(stage, context, "hunks")
    await expect(tab.review.locator(".review-title")).to_contain_text("+4 \u22123")
    await button(hunk(tab, 1), "Undo").click()
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "gone")
    await expect(hunk(tab, 1).locator(".hunk-state")).to_have_text("Undone")
    await expect(hunk(tab, 1)).to_be_focused()
    assert old.read_text() == without(15)
    await expect(tab.review.locator(".review-title")).to_contain_text("+3 \u22122")
    await expect(file_of(tab, "old.txt").locator(".file-tag")).to_have_text("Partly undone")

    await button(hunk(tab, 0), "Keep").click()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "kept")
    await expect(hunk(tab, 0).locator(".line.add, tr.add .line")).to_be_hidden()
    await button(hunk(tab, 0), "Show").click()
    await expect(hunk(tab, 0).locator("tr.add .line")).to_have_text("agent 2")
    await button(file_of(tab, "old.txt").locator(".file-head"), "Undo").click()
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(15, 29), "what is kept stays"

    await button(hunk(tab, 1), "Redo").click()
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "here")
    assert old.read_text() == without(29)
    await tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    await expect(tab.page.locator(".toast")).to_contain_text("Undone")
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(15, 29)

    await tab.page.reload()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "kept")
    await button(hunk(tab, 0), "Unmark").click()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")


@pytest.mark.long
async def test_a_conflict_is_settled_by_a_choice(stage: Stage, context: BrowserContext) -> None:
    tab, old = await edited(stage, context, "settled")
    mine = without().replace("agent 15\n", "mine 15\n")
    old.write_text(mine)
    await button(hunk(tab, 1), "Why\u2026").click()
    await tab.page.keyboard.type("Fifteen is mine")
    await tab.page.keyboard.press("Enter")
    await expect(button(hunk(tab, 1), "Undo")).to_be_focused()
    await tab.page.keyboard.press("Enter")
    form = hunk(tab, 1).get_by_role("form", name="Settle the conflict")
    await expect(form.locator("pre")).to_have_text(["mine 15", "line 15"])
    await expect(hunk(tab, 1).locator(".hunk-state")).to_contain_text("Conflict")
    assert old.read_text() == mine, "nothing is forced"
    await form.get_by_label("Lines to write").fill("ours 15")
    await expect(form.get_by_role("radio", name="Edit by hand")).to_be_checked()
    await form.get_by_role("button", name="Write").click()
    await expect(hunk(tab, 1).locator(".hunk-state")).to_have_text("Changed since")
    assert old.read_text() == mine.replace("mine 15\n", "ours 15\n")
    await tab.page.locator(".toast").get_by_role("button", name="Redo").click()
    await expect(tab.page.locator(".toast")).to_contain_text("Redone")
    assert old.read_text() == mine


@pytest.mark.long
async def test_two_sessions_are_undone_apart(stage: Stage, context: BrowserContext) -> None:
    first, old = await edited(stage, context, "shared")
    second = await stage.tab(context, await stage.session("the other one"))
    others = [change("shared/old.txt", number, f"other {number}") for number in (5, 22)]
    await turn(second, stage, *others)
    both = without().replace("line 5\n", "other 5\n").replace("line 22\n", "other 22\n")
    assert old.read_text() == both
    await first.page.bring_to_front()
    shared = file_of(first, "old.txt")
    await expect(shared.locator(".file-since")).to_contain_text("\u201cthe other one\u201d")
    await button(file_of(first, "old.txt").locator(".file-head"), "Undo").click()
    await expect(file_of(first, "old.txt")).to_have_attribute("data-state", "gone")
    assert old.read_text() == LINES.replace("line 5\n", "other 5\n").replace("line 22\n", "other 22\n")
    await second.page.bring_to_front()
    await button(hunk(second, 0), "Undo").click()
    await expect(hunk(second, 0)).to_have_attribute("data-state", "gone")
    assert old.read_text() == LINES.replace("line 22\n", "other 22\n")
    await first.page.bring_to_front()
    await button(file_of(first, "old.txt").locator(".file-head"), "Redo").click()
    await expect(file_of(first, "old.txt")).to_have_attribute("data-state", "here")
    assert old.read_text() == without().replace("line 22\n", "other 22\n")


@pytest.mark.long
async def test_viewed_goes_when_the_content_changes(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await edited(stage, context, "seen")
    file, progress = file_of(tab, "old.txt"), tab.review.locator("#review-progress")
    await file.locator(".file-head").get_by_label("Viewed").check()
    await expect(progress).to_contain_text("1 of 2 viewed")
    await expect(file.locator("table.diff")).to_be_hidden()
    await hunk(tab, 0, "new.txt").get_by_label("Viewed").check()
    await expect(progress).to_contain_text("2 of 2 viewed")
    await turn(tab, stage, change("seen/old.txt", 22, "again 22"), says="More.")
    await expect(progress).to_contain_text("1 of 2 viewed")
    await expect(file.locator("[data-fold]")).to_have_attribute("aria-expanded", "true")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "viewed")
    await expect(file.locator('[data-hunk][data-state="here"]')).to_have_count(1)


async def test_a_renewal_leaves_what_is_typed_and_open(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await edited(stage, context, "typed")
    await tab.page.set_viewport_size({"width": 1440, "height": 480})
    await file_of(tab, "new.txt").locator("[data-fold]").click()
    await expect(tab.page.locator("#sidebar")).to_be_visible()
    await button(hunk(tab, 2), "Why\u2026").click()
    words = hunk(tab, 2).get_by_label("Tell the agent why")
    await words.fill("half a sen")
    place = await top_of(words)
    other = await stage.tab(context, await stage.session("typing"))
    await turn(other, stage, change("typed/old.txt", 8, "other 8"))
    await tab.page.bring_to_front()
    await expect(file_of(tab, "old.txt").locator(".file-since")).to_contain_text("\u201ctyping\u201d")
    await expect(words).to_be_focused()
    assert abs(await top_of(words) - place) < 2
    await tab.page.keyboard.type("tence")
    await expect(words).to_have_value("half a sentence")
    await expect(file_of(tab, "new.txt").locator("[data-fold]")).to_have_attribute("aria-expanded", "false")


@pytest.mark.long
async def test_scopes_are_chosen_linked_and_kept(stage: Stage, context: BrowserContext) -> None:
    tab, old = await edited(stage, context, "scopes")
    third = ToolUse("write", {"filePath": "scopes/third.txt", "content": "third\n"})
    await turn(tab, stage, third, says="Second.")
    await expect(tab.review.locator("[data-hunk]")).to_have_count(5)
    await tab.page.get_by_role("link", name="Review this turn").last.click()
    await expect(tab.review.locator("[data-hunk]")).to_have_count(1)
    await expect(hunk(tab, 0, "third.txt").locator("tr.add .line")).to_have_text("third")
    await expect(tab.review.locator("#review-scope")).to_contain_text("Turn: Go on.")
    await expect(tab.page).to_have_url(re.compile(r"scope=turn&message="))
    await tab.page.reload()
    await expect(tab.review.locator("[data-hunk]")).to_have_count(1)
    await tab.tool("old.txt").first.locator("summary").click()
    await tab.page.get_by_role("link", name="Review what this call changed").click()
    await expect(hunk(tab, 0).locator("tr.add .line")).to_have_text("agent 2")
    await tab.review.locator("#review-scope").select_option(label="Git: uncommitted")
    await expect(file_of(tab, "scopes/old.txt").locator('[data-state="A"]')).to_have_count(1)
    await tab.review.locator("#review-scope").select_option(label="Session")
    await expect(tab.page).not_to_have_url(re.compile("scope="))

    tree = tab.review.get_by_role("navigation", name="Files of the review")
    await button(tab.review, "Full review").click()
    await expect(tree.get_by_role("button", name="old.txt")).to_have_count(1)  # those of git are gone
    await tree.get_by_role("button", name="old.txt").click()
    await expect(tree.locator("[aria-current]")).to_contain_text("old.txt")
    await expect(file_of(tab, "old.txt").locator("[data-fold]")).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await expect(tree).to_be_hidden()

    await button(hunk(tab, 0), "Keep").click()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "kept")
    old.write_text(old.read_text().replace("agent 29\n", "mine 29\n"))
    await button(tab.review, "Undo all").click()
    listed = tab.dialog.locator(".undo-files > li").filter(has_text="old.txt")
    await expect(listed).to_contain_text("1 hunk conflicts")
    assert "agent 15" in old.read_text()
    await tab.dialog.get_by_role("button", name="Undo", exact=True).click()
    await expect(tab.dialog).to_have_count(0)
    await expect(file_of(tab, "new.txt")).to_have_attribute("data-state", "gone")
    assert old.read_text() == LINES.replace("line 2\n", "agent 2\n").replace("line 29\n", "mine 29\n")
    assert not (old.parent / "new.txt").exists()
