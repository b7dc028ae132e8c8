"""The states of the git panel."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.e2e.access.state import shown, state
from tests.e2e.access.world import World, settled
from tests.e2e.conftest import repository
from tests.sessions.changes.git.conftest import git as run


@state("/p/{project}/git", "/p/{project}/git/diff")
async def git(world: World) -> Page:
    (world.stage.project / "new.txt").write_text("one\ntwo\n")
    page = (await world.tab("worked")).page
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await page.locator(".git-name", has_text="new.txt").click()
    await page.get_by_role("button", name="Choose lines of").click()
    return await shown(page, page.locator(".git-pick"))


@state("/p/{project}/git/branches")
async def branches_of_git(world: World) -> Page:
    return await view_of_git(world, "Branches")


@state("/p/{project}/git/merge")
async def a_merge_that_is_looked_at(world: World) -> Page:
    top = world.stage.project
    if not run(top, "branch", "--list", "beside"):
        tree = run(top, "rev-parse", "HEAD^{tree}").strip()
        commit = run(top, "commit-tree", tree, "-p", "HEAD", "-m", "Beside").strip()
        run(top, "branch", "beside", commit)
    page = await view_of_git(world, "Branches")
    await page.get_by_role("button", name="Merge beside").click()
    return await shown(page, page.get_by_text("would come into"))


@state("/p/{project}/git/log", "/p/{project}/git/shown")
async def commits_of_git(world: World) -> Page:
    page = await view_of_git(world, "Commits")
    await page.get_by_role("button", name="All branches").click()
    await expect(page.get_by_role("button", name="All branches")).to_have_attribute("aria-pressed", "true")
    await page.locator("[data-git-commit]").last.click()
    return await shown(page, page.locator(".git-inner li"))


@state("/p/{project}/git/stashes")
async def what_git_has_put_aside(world: World) -> Page:
    return await view_of_git(world, "Put aside")


@state("/p/{project}/git/worktrees")
async def worktrees_of_git(world: World) -> Page:
    return await view_of_git(world, "Worktrees")


@state("/p/{project}/git/tags")
async def tags_of_git(world: World) -> Page:
    if not run(world.stage.project, "tag"):
        run(world.stage.project, "tag", "-a", "v1", "-m", "The first")
    if not run(world.stage.project, "remote"):
        run(world.stage.project, "remote", "add", "origin", str(world.stage.home / "far.git"))
    page = await view_of_git(world, "Tags")
    await page.get_by_role("button", name="Delete there… v1").click()
    return await shown(page, page.get_by_role("button", name="Delete it at origin"))


@state("/p/{project}/git/submodules")
async def submodules_of_git(world: World) -> Page:
    page = await in_conflict(world)
    await page.get_by_role("button", name="Submodules", exact=True).click()
    return await shown(page, page.locator("#git-view h3"))


@state("/p/{project}/git/conflict", "/p/{project}/git/abort")
async def a_conflict_of_git(world: World) -> Page:
    page = await in_conflict(world)
    await page.locator(".git-name", has_text="numbers.txt").click()
    await page.get_by_text("Part 1").wait_for()
    await page.get_by_role("button", name="Abort…").click()
    return await shown(page, page.locator("#git-ask form"))


@state("/p/{project}/git/blame")
async def who_wrote_a_file(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.keyboard.press("Control+Shift+E")
    await page.get_by_label("Find a file by its name").fill("hello.py")
    await page.locator("#files-tree .files-row", has_text="hello.py").first.click()
    await expect(page.get_by_role("textbox", name="Text of hello.py")).to_be_focused()
    await page.get_by_role("button", name="Blame").click()
    return await shown(page, page.locator(".cm-blame"))


async def view_of_git(world: World, name: str) -> Page:
    page = (await world.tab("worked")).page
    await page.get_by_role("button", name="Git", exact=True).click()
    await page.get_by_role("button", name=name, exact=True).click()
    return await shown(page, page.locator("#git-view h3"))


async def in_conflict(world: World) -> Page:
    """The panel of another project, in the middle of a merge, with a submodule."""
    folder = world.stage.home / "merging"
    if not folder.exists():
        collided(repository(folder), world.stage.project)
    place = {"directory": str(folder)}
    answer = await world.stage.client.http.post("/session", params=place, json={"title": "merging"})
    session = answer.json()
    page = await world.page(f"{world.url}/p/{session['projectID']}/s/{session['id']}")
    await page.get_by_role("button", name="Git", exact=True).click()
    await page.get_by_text("In the middle of a merge").wait_for()
    await settled(page)
    return page


def collided(top: Path, inner: Path) -> None:
    main = run(top, "branch", "--show-current").strip()
    run(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    run(top, "commit", "-qm", "A submodule")
    for branch, text in (("other", "theirs"), (main, "ours")):
        run(top, "switch", "-q", *(("-c",) if branch == "other" else ()), branch)
        numbers = (top / "numbers.txt").read_text()
        (top / "numbers.txt").write_text(numbers.replace("3\n", f"{text}\n", 1))
        run(top, "commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        run(top, "merge", "-q", "other")
