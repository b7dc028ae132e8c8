"""The git panel: from a change on the disk to a commit, by the pointer and by keys alone."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from tests.e2e.stage import Stage, hold
from tests.loopback.script import Turn
from tests.sessions.changes.git.conftest import git

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINES = [f"{number}\n" for number in range(1, 31)]


def changed() -> str:
    lines = LINES.copy()
    lines[2], lines[24] = "three\n", "twenty-five\n"
    return "".join(lines)


async def opened(stage: Stage, context: BrowserContext) -> Page:
    git(stage.project, "config", "user.name", "Ada")
    git(stage.project, "config", "user.email", "ada@localhost")
    page = (await stage.tab(context, await stage.session("with git"))).page
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await expect(page.get_by_role("dialog", name="Git")).to_be_visible()
    return page


async def test_a_hunk_is_staged_and_committed(home: Path, project: Path, context: BrowserContext) -> None:
    numbered(project)
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        panel = page.get_by_role("dialog", name="Git")
        await expect(panel).to_contain_text("Nothing to commit")
        (project / "numbers.txt").write_text(changed())  # the panel is told
        await panel.get_by_role("button", name=re.compile("numbers.txt$")).first.click()
        await panel.get_by_role("button", name="Stage: Line 25").click()
        await expect(panel.get_by_role("heading", name="Staged 1")).to_be_visible()
        await expect(panel.get_by_role("button", name="Stage: Line 25")).to_have_count(0)
        await panel.get_by_label("Message of the commit").fill("Say it in words")
        await page.keyboard.press("Control+Enter")
        await expect(panel.get_by_role("heading", name="Staged")).to_have_count(0)
        await expect(panel.get_by_label("Message of the commit")).to_have_value("")
        assert git(project, "log", "-1", "--format=%an %s") == "Ada Say it in words\n"
        assert "+twenty-five" in git(project, "show")
        assert "+three" in git(project, "diff")


async def test_lines_are_chosen_by_keys(home: Path, project: Path, context: BrowserContext) -> None:
    (project / "new.txt").write_text("one\ntwo\n")
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.locator(".git-name", has_text="new.txt").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Choose lines of").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("checkbox", name="Line 1, added")).to_be_focused()
        await page.get_by_role("checkbox", name="Line 2, added").focus()
        await page.keyboard.press("Space")
        await page.get_by_role("button", name="Stage: Lines 1–2").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Staged 1")).to_be_visible()
        assert git(project, "cat-file", "blob", ":new.txt") == "two\n"


async def test_what_is_discarded_is_undone_by_its_note(
    home: Path, project: Path, context: BrowserContext
) -> None:
    name = "<b>odd\x07\n\u202e" + os.fsdecode(b"\xff")
    (project / name).write_text("mine\n")
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.get_by_role("button", name="Discard <b>odd").click()
        await expect(page.get_by_text("Nothing to commit")).to_be_visible()
        assert not (project / name).exists()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Undo", exact=True).click()
        await expect(page.locator(".toast", has_text="Discarded")).to_have_count(0)
        assert (project / name).read_text() == "mine\n"


async def test_files_are_staged_faster_than_answers_come(
    home: Path, project: Path, context: BrowserContext
) -> None:
    for name in ("a", "b", "c"):
        (project / f"new-{name}.txt").write_text("one\n")
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        held = await hold(page, "**/git/stage")
        for name in ("a", "b", "c"):
            await page.get_by_role("button", name=f"Stage new-{name}.txt").click()
        held.free.set()
        await expect(page.get_by_role("heading", name="Staged 3")).to_be_visible()


async def test_a_message_is_drafted_from_what_is_staged(
    home: Path, project: Path, context: BrowserContext
) -> None:
    (project / "new.txt").write_text("one\n")
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.get_by_role("button", name="Draft").click()
        await expect(page.locator("#git-problem")).to_contain_text("Nothing is staged")
        await page.get_by_role("button", name="Stage new.txt").click()
        await expect(page.get_by_role("heading", name="Staged 1")).to_be_visible()
        stage.plays(Turn(text="Add a file\n\nIt has one line."))
        await page.get_by_role("button", name="Draft").click()
        await expect(page.get_by_label("Message of the commit")).to_have_value(
            "Add a file\n\nIt has one line."
        )


async def test_a_branch_is_made_pushed_and_deleted(
    home: Path, project: Path, context: BrowserContext, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "far.git"))
    git(project, "remote", "add", "origin", str(tmp_path / "far.git"))
    main = git(project, "branch", "--show-current").strip()
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.get_by_role("button", name="Branches").click()
        await page.get_by_label("Name of a new branch").fill("topic")
        await page.keyboard.press("Enter")
        await expect(page.locator(".git-branch")).to_contain_text("topic")
        await page.get_by_role("button", name="Push").click()
        await expect(page.locator(".git-branch")).to_contain_text("as origin/topic")
        await expect(page.locator(".git-said")).to_contain_text("new branch")
        await page.get_by_role("button", name=f"Switch to {main}", exact=True).click()
        await expect(page.locator(".git-branch")).to_contain_text(main)
        await page.get_by_role("button", name="Delete topic").click()
        await page.get_by_role("button", name="Delete", exact=True).click()
        await expect(page.get_by_role("button", name="Delete topic")).to_have_count(0)
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Undo", exact=True).click()
        await expect(page.locator(".toast", has_text="Deleted the branch")).to_have_count(0)
        assert "topic" in git(project, "branch")


def numbered(project: Path) -> None:
    """A commit of the lines."""
    (project / "numbers.txt").write_text("".join(LINES))
    git(project, "add", ".")
    git(project, "commit", "-qm", "numbers")


def collided(project: Path) -> None:
    """A merge with line 3 in conflict."""
    numbered(project)
    main = git(project, "branch", "--show-current").strip()
    for branch, text in (("other", "theirs"), (main, "ours")):
        git(project, "switch", "-q", *(("-c",) if branch == "other" else ()), branch)
        (project / "numbers.txt").write_text("".join(LINES).replace("3\n", f"{text}\n", 1))
        git(project, "commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")


async def test_a_conflict_is_resolved_by_an_edited_part(
    home: Path, project: Path, context: BrowserContext
) -> None:
    collided(project)
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        panel = page.get_by_role("dialog", name="Git")
        await expect(panel).to_contain_text("1 file in conflict is left")
        await panel.get_by_role("button", name="numbers.txt").click()
        await panel.get_by_label("Text of part 1").fill("neither\n")
        await expect(panel.get_by_label("As edited here")).to_be_checked()
        await panel.get_by_role("button", name="Resolve with these").click()
        await expect(panel).to_contain_text("No conflict is left")
        assert "2\nneither\n4\n" in (project / "numbers.txt").read_text()
        await panel.get_by_role("button", name="Continue").click()
        await expect(panel).to_contain_text("Nothing to commit")
        assert git(project, "rev-list", "--count", "--merges", "HEAD").strip() == "1"


async def test_a_merge_is_aborted_after_a_question(
    home: Path, project: Path, context: BrowserContext
) -> None:
    collided(project)
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        panel = page.get_by_role("dialog", name="Git")
        await panel.get_by_role("button", name="Abort…").click()
        await expect(panel.locator("#git-ask")).to_contain_text("numbers.txt")
        await panel.get_by_role("button", name="Abort it").click()
        await expect(panel).to_contain_text("Nothing to commit")
        await expect(panel.locator("#git-ask")).to_be_empty()
        assert "ours" in (project / "numbers.txt").read_text()


async def test_a_push_says_what_the_remote_says_and_is_stopped(
    home: Path, project: Path, context: BrowserContext, tmp_path: Path
) -> None:
    far = tmp_path / "far.git"
    git(tmp_path, "init", "-q", "--bare", str(far))
    git(project, "remote", "add", "origin", str(far))
    os.mkfifo(tmp_path / "fifo")
    hook = far / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\necho 'looking it over'\nread line < {tmp_path}/fifo\n")
    hook.chmod(0o755)
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.get_by_role("button", name="Push").click()
        await expect(page.locator(".git-said")).to_contain_text("looking it over")
        await page.get_by_role("button", name="Fetch").click()
        await expect(page.locator("#git-problem")).to_contain_text("git push is running here")
        await page.get_by_role("button", name="Stop", exact=True).click()
        await expect(page.locator("#git-problem")).to_contain_text("Stopped.")
        await expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
        assert git(far, "for-each-ref") == ""


async def test_who_wrote_a_line_leads_to_its_commit(
    home: Path, project: Path, context: BrowserContext
) -> None:
    numbered(project)
    (project / "numbers.txt").write_text(changed())
    git(project, "commit", "-qam", "another line")
    async with Stage(home, project) as stage:
        page = (await stage.tab(context, await stage.session("with lines"))).page
        await page.keyboard.press("Control+Shift+E")
        await page.get_by_label("Find a file by its name").fill("numbers.txt")
        await page.locator("#files-tree .files-row", has_text="numbers.txt").first.click()
        await expect(page.get_by_role("textbox", name="Text of numbers.txt")).to_be_focused()
        await page.get_by_role("button", name="Blame").click()
        await expect(page.get_by_role("button", name="t: numbers")).to_be_visible()
        await page.get_by_role("textbox", name="Text of numbers.txt").focus()
        for _ in range(2):
            await page.keyboard.press("ArrowDown")
        await page.get_by_role("button", name="t: another line").click()
        panel = page.get_by_role("dialog", name="Git")
        await expect(panel.locator("#git-view")).to_contain_text("another line")
        await panel.locator("#git-view [data-git-open]").click()
        await expect(panel.locator("#git-view .add").first).to_contain_text("three")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="History").click()
        await expect(panel.locator("#git-view")).to_contain_text("that changed numbers.txt")
        await expect(panel.locator("#git-view li[data-commit]")).to_have_count(2)


async def test_a_worktree_is_made_and_its_branch_merged_after_a_look(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        panel = page.get_by_role("dialog", name="Git")
        await panel.get_by_role("button", name="Worktrees").click()
        await panel.get_by_label("Branch of a new worktree").fill("topic")
        await page.keyboard.press("Enter")
        row = panel.locator("#git-view li", has_text="topic")
        await expect(row.get_by_role("link", name="Open")).to_be_visible()
        folder = Path(git(project, "worktree", "list", "--porcelain").split("worktree ")[2].split("\n")[0])
        (folder / "new.txt").write_text("x")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "Only there")
        (folder / "dirty.txt").write_text("x")
        await row.get_by_role("button", name="Merge topic into what is here").click()
        await expect(row.locator(".git-ask")).to_contain_text("Only there")
        await expect(row.locator(".git-ask")).to_contain_text("1 file in its worktree is in no commit")
        await row.get_by_role("button", name="Merge", exact=True).click()
        await expect(panel.locator(".git-said")).to_contain_text("new.txt")
        assert (project / "new.txt").exists()
        await row.get_by_role("button", name="Remove").click()
        await expect(row.locator(".git-ask")).to_contain_text("dirty.txt")
        await row.get_by_role("button", name="Remove the worktree").click()
        await expect(row).to_have_count(0)
        assert not folder.exists()
        await panel.get_by_role("button", name="Put aside").click()
        await expect(panel.locator("#git-view")).to_contain_text("From the worktree topic")


async def test_the_log_is_of_all_branches_with_their_lanes(
    home: Path, project: Path, context: BrowserContext
) -> None:
    main = git(project, "branch", "--show-current").strip()
    git(project, "switch", "-qc", "topic")
    git(project, "commit", "-q", "--allow-empty", "-m", "On the topic")
    git(project, "switch", "-q", main)
    git(project, "commit", "-q", "--allow-empty", "-m", "On the trunk")
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        view = page.locator("#git-view")
        await page.get_by_role("button", name="Commits").click()
        await expect(view.locator("li[data-commit]")).to_have_count(2)
        await expect(view).not_to_contain_text("On the topic")
        await page.get_by_role("button", name="All branches").click()
        await expect(view).to_contain_text("On the topic")
        await expect(page.get_by_role("button", name="All branches")).to_be_focused()
        await expect(view.locator("li[data-commit] .git-graph circle")).to_have_count(3)
        # Lanes go through a commit that is unfolded: the drawing is as high as its row.
        row = view.locator("li[data-commit]").last
        await row.locator("[data-git-commit]").click()
        await expect(row.locator(".git-inner li").first).to_be_visible()
        heights = [
            await one.evaluate("(it) => it.getBoundingClientRect().height")
            for one in (row, row.locator("svg"))
        ]
        assert heights[0] > 80
        assert heights[0] == heights[1]


async def test_a_question_is_there_whatever_is_renewed_meanwhile(
    home: Path, project: Path, context: BrowserContext, tmp_path: Path
) -> None:
    """Here of a tag, while what a push has changed is on its way."""
    far = tmp_path / "far.git"
    git(tmp_path, "init", "-q", "--bare", str(far))
    git(project, "remote", "add", "origin", str(far))
    git(project, "tag", "v1")
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.get_by_role("button", name="Tags").click()
        push = page.get_by_role("button", name="Push v1")
        await expect(push).to_be_visible()
        held: asyncio.Queue[Route] = asyncio.Queue()
        await page.route(
            lambda url: url.partition("?")[0].endswith("/git/tags") and "lost=" not in url, held.put
        )
        await push.click()
        renewed = await held.get()
        await page.get_by_role("button", name="Delete there… v1").click()
        async with page.expect_event("requestfinished", lambda request: request == renewed.request):
            await renewed.continue_()
        await page.evaluate("() => new Promise(requestAnimationFrame)")
        await expect(page.get_by_role("button", name="Delete it at origin")).to_be_focused()
        await page.keyboard.press("Enter")
        await (await held.get()).continue_()
        await expect(page.get_by_role("button", name="Delete it at origin")).to_have_count(0)
        assert git(far, "tag") == ""


async def test_a_tag_is_pushed_and_deleted_there_after_a_question(
    home: Path, project: Path, context: BrowserContext, tmp_path: Path
) -> None:
    far = tmp_path / "far.git"
    git(tmp_path, "init", "-q", "--bare", str(far))
    git(project, "remote", "add", "origin", str(far))
    async with Stage(home, project) as stage:
        page = await opened(stage, context)
        await page.get_by_role("button", name="Tags").click()
        await page.get_by_label("Name of a new tag").fill("v1")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Push v1").click()
        await expect(page.locator(".git-said")).to_contain_text("new tag")
        assert git(far, "tag") == "v1\n"
        await page.get_by_role("button", name="Delete there… v1").click()
        await expect(page.get_by_role("button", name="Delete it at origin")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator(".git-said")).to_contain_text("deleted")
        await expect(page.get_by_role("button", name="Push v1")).to_be_visible()
        assert git(far, "tag") == ""
