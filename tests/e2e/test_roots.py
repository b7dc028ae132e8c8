"""A session that writes in a folder beside its project: what the person sees and does there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab
from tests.e2e.test_review import LINES, button, change, file_of, hunk, turn
from tests.loopback.script import ToolUse
from tests.runtime.test_writable_folders import SPELLER

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def library(stage: Stage, tmp_path: Path) -> Path:
    """A folder beside the project."""
    folder = tmp_path.resolve() / "library"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "old.txt").write_text(LINES)
    return folder


async def added(stage: Stage, context: BrowserContext, library: Path) -> Tab:
    """A session that may write in it, and changed a file of it and one of the project."""
    session = await stage.session("beside")
    body = {"folders": [{"path": str(library), "write": True}]}
    (await stage.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
    tab = await stage.tab(context, session)
    (stage.project / "own.txt").unlink(missing_ok=True)
    own = ToolUse("write", {"filePath": "own.txt", "content": "own\n"})
    changes = (change(str(library / "src" / "old.txt"), number, f"agent {number}") for number in (2, 29))
    await turn(tab, stage, own, *changes)
    return tab


async def test_the_review_goes_over_both(stage: Stage, context: BrowserContext, library: Path) -> None:
    tab, old = await added(stage, context, library), library / "src" / "old.txt"
    page = tab.page
    heading = tab.review.get_by_role("heading", name="library", level=3)
    await expect(heading).to_have_attribute("title", str(library))
    await expect(tab.review.get_by_role("heading", name="old.txt", level=4)).to_be_visible()
    assert await tab.review.locator(".file, .review-root").evaluate_all(
        "(all) => all.map((one) => one.dataset.file ?? one.title)"
    ) == ["own.txt", str(library), str(old)]

    await tab.review.locator("#review-files [data-fold]").first.focus()
    await page.keyboard.press("n")
    fold = file_of(tab, "old.txt").locator("[data-fold]")
    await expect(fold).to_be_focused()
    await page.keyboard.press("j")
    await expect(hunk(tab, 0)).to_be_focused()
    await page.keyboard.press("u")
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
    assert old.read_text() == LINES.replace("line 29\n", "agent 29\n")
    await button(hunk(tab, 0), "Redo").click()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
    await button(hunk(tab, 1), "Keep").click()
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "kept")
    await file_of(tab, "old.txt").get_by_label("Viewed").first.check()
    await expect(tab.review.locator("#review-progress")).to_contain_text("1 of 2 viewed")
    await page.reload()
    await expect(fold).to_have_attribute("aria-expanded", "false")
    await fold.click()
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "kept")
    await expect(heading).to_be_visible()

    await tab.review.get_by_role("button", name="Full review").click()
    tree = tab.review.get_by_role("navigation", name="Files of the review")
    await tree.get_by_text("library", exact=True).click()
    await expect(tree.get_by_role("button", name="old.txt")).to_be_hidden()
    await tree.get_by_role("searchbox").fill("libr")
    await tree.get_by_role("button", name="old.txt").click()
    await expect(fold).to_be_focused()


async def test_a_file_of_it_is_opened_and_edited(
    stage: Stage, context: BrowserContext, library: Path
) -> None:
    tab, old = await added(stage, context, library), library / "src" / "old.txt"
    page = tab.page
    await hunk(tab, 0).get_by_role("button", name="Comment").click()
    await tab.review.get_by_label("Comment on line 2", exact=True).fill("Say it better.")
    await page.keyboard.press("Control+Enter")
    await page.locator("#comment-tray li").get_by_role("link").click()
    opened, text = (
        page.locator("#opened-files section.opened"),
        page.get_by_role("textbox", name="Text of old.txt"),
    )
    await expect(text).to_contain_text("agent 2")
    await expect(opened.locator(".cm-comment-text")).to_have_text("Say it better.")
    await page.keyboard.press("Alt+F3")
    card = page.get_by_role("dialog", name="What was here before")
    await card.get_by_role("button", name="Undo").click()
    await expect(text).to_contain_text("line 29")
    assert old.read_text() == LINES.replace("line 2\n", "agent 2\n")

    await text.press("Control+End")
    await page.keyboard.type("mine\n")
    await page.keyboard.press("Control+s")
    await expect(opened.locator(".opened-state")).to_have_text("Saved")
    assert old.read_text().endswith("line 30\nmine\n")
    old.write_text(f"above\n{old.read_text()}")
    await expect(text).to_contain_text("above")

    await opened.get_by_role("button", name="Add to the prompt").click()
    await expect(tab.prompt).to_have_value(f"@{old} ")
    await page.keyboard.press("Control+p")
    picker = page.get_by_role("dialog", name="Open a file")
    await page.keyboard.type("old")
    await expect(picker.get_by_role("group", name="Files of library").get_by_role("option")).to_have_text(
        "library/src/old.txt"
    )


async def test_it_is_in_the_tree_the_search_and_what_is_mentioned(
    stage: Stage, context: BrowserContext, library: Path
) -> None:
    tab = await added(stage, context, library)
    page, src = tab.page, library / "src"
    await tab.prompt.fill("")
    await tab.prompt.press_sequentially("@old")
    await expect(page.get_by_role("option", name="old.txt library/src")).to_be_visible()
    await page.keyboard.press("Escape")

    await page.keyboard.press("Control+Shift+E")
    tree = page.get_by_role("tree", name="Files of the project")
    root = tree.get_by_role("treeitem", name="library may be written", exact=True)
    await root.focus()
    await page.keyboard.press("ArrowRight")
    await expect(tree.locator(f"[data-path='{src}']")).to_be_visible()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    old = tree.locator(f"[data-path='{src}/old.txt']")
    await expect(old).to_be_visible()
    await page.keyboard.press("ArrowRight")
    await expect(old).to_be_focused()
    await expect(old).to_have_attribute("data-changed", "")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Text of old.txt")).to_contain_text("agent 2")
    (src / "fresh.txt").write_text("fresh\n")
    await expect(tree.locator(f"[data-path='{src}/fresh.txt']")).to_be_visible()
    await root.click(button="right", position={"x": 40, "y": 8})
    menu = page.get_by_role("menu", name="What to do with it")
    await expect(menu.get_by_role("menuitem", name="New file…")).to_be_visible()
    await expect(menu.get_by_role("menuitem", name="Delete")).to_be_hidden()
    await page.keyboard.press("Escape")

    await page.keyboard.press("Control+Shift+F")
    await page.get_by_role("searchbox", name="Search in the files").fill("agent 29")
    found = page.get_by_role("region", name="What was found")
    await expect(found.get_by_role("heading", name="library")).to_be_visible()
    await found.get_by_role("button", name="29 agent 29").last.click()
    await expect(page.locator(".opened:visible .opened-place-of")).to_have_text("Line 29, column 1")


async def test_review_mode_is_on_both(stage: Stage, context: BrowserContext, library: Path) -> None:
    session, old = await stage.session("stages in both"), library / "src" / "old.txt"
    own = stage.project / "old.txt"
    own.write_text(LINES)
    body = {"folders": [{"path": str(library), "write": True}], "staging": True}
    (await stage.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
    tab = await stage.tab(context, session)
    page, bar = tab.page, tab.page.locator("#staged-bar")
    await turn(
        tab,
        stage,
        change("old.txt", 2, "own"),
        change(str(old), 2, "near"),
        change(str(old), 29, "far"),
    )
    await expect(bar).to_contain_text("2 files staged")
    await bar.locator("summary").click()
    await expect(bar.get_by_role("listitem").locator(".path")).to_have_text(
        ["old.txt", "library/src/old.txt"]
    )
    await bar.get_by_role("button", name="Review", exact=True).click()
    await expect(tab.review.get_by_role("heading", name="library", level=3)).to_be_visible()
    await expect(tab.review.locator(".file")).to_have_count(2)
    first, second = (tab.review.locator("[data-hunk]", has_text=text) for text in ("near", "far"))
    await button(first, "Keep").click()
    await expect(first).to_have_count(0)
    assert old.read_text() == LINES.replace("line 2\n", "near\n")
    await button(second, "Drop").click()
    await expect(second).to_have_count(0)
    await expect(bar).to_contain_text("1 file staged")
    note = page.locator(".toast", has_text="Dropped 1 file.")
    await note.get_by_role("button", name="Undo").click()
    await expect(bar).to_contain_text("2 files staged")
    await bar.get_by_role("button", name="Keep all").click()
    await expect(bar.locator(".staged")).to_have_count(0)
    assert old.read_text() == LINES.replace("line 2\n", "near\n").replace("line 29\n", "far\n")
    assert own.read_text() == LINES.replace("line 2\n", "own\n")


async def test_what_a_language_server_says_there_is_shown_at_once(
    tmp_path: Path, context: BrowserContext
) -> None:
    project, library = repository(tmp_path / "project"), repository(tmp_path.resolve() / "library")
    (tmp_path / "home").mkdir()
    (library / "note.md").write_text("all is well\n")
    speller = {"command": [sys.executable, str(SPELLER), str(tmp_path / "starts")], "extensions": [".md"]}
    async with Stage(tmp_path / "home", project, lsp={"speller": speller}) as stage:
        session = await stage.session("speaks of both")
        body = {"folders": [{"path": str(library), "write": True}]}
        (await stage.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
        tab = await stage.tab(context, session)
        page, note = tab.page, {"filePath": str(library / "note.md")}
        await turn(
            tab,
            stage,
            ToolUse("read", note),
            ToolUse("edit", {**note, "oldString": "all is well", "newString": "all is wrong"}),
        )
        button = page.locator("#problems-button")
        await expect(button).to_have_attribute("aria-label", "Problems: 1 error")
        await expect(tab.review.locator(".problem-mark[data-line='1']")).to_be_visible()
        await button.click()
        panel = page.locator("#problems")
        await expect(panel.locator(f"section[data-key='{library}/note.md']")).to_contain_text("all is wrong")
        await panel.get_by_role("button", name="Close").click()
        await tab.prompt.press_sequentially("@note")
        await expect(page.get_by_role("option", name="library/note.md:1")).to_be_visible()
