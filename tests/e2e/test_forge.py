"""The panel of the forge: a session from an issue, and a pull request from a branch."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from tests.agents.forge.conftest import fill
from tests.e2e.stage import Stage
from tests.loopback.forges import TOKEN, ForgeServer
from tests.loopback.script import Turn
from tests.sessions.changes.git.conftest import git

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def forge(project: Path, tmp_path: Path) -> AsyncIterator[ForgeServer]:
    """The project is at it; what is pushed lands in a bare repository."""
    async with ForgeServer("github") as server:
        fill(server)
        git(tmp_path, "init", "-q", "--bare", "-b", "main", str(tmp_path / "far.git"))
        git(project, "branch", "--move", "main")
        git(project, "remote", "add", "origin", server.remote)
        git(project, "config", f"url.{tmp_path / 'far.git'}.insteadOf", server.remote)
        git(project, "push", "-q", "origin", "main")
        yield server


def at(forge: ForgeServer, home: Path, project: Path) -> Stage:
    """A stage whose server knows the forge."""
    stage = Stage(home, project, title=None)
    stage.server.environ = forge.environ
    return stage


async def opened(stage: Stage, context: BrowserContext) -> Page:
    page = (await stage.tab(context, await stage.session("at a forge"))).page
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    await expect(page.get_by_role("dialog", name="acme/widget")).to_be_visible()
    return page


async def test_a_session_is_started_from_an_issue_by_keys(
    home: Path, project: Path, context: BrowserContext, forge: ForgeServer
) -> None:
    async with at(forge, home, project) as stage:
        page = await opened(stage, context)
        panel = page.get_by_role("dialog", name="acme/widget")
        await panel.get_by_role("button", name=re.compile("It fails")).focus()
        await page.keyboard.press("Enter")
        await expect(panel.get_by_role("heading", name="It fails")).to_be_focused()
        await expect(panel).to_contain_text("Here, too")
        stage.plays(Turn(text="I look into it."))
        await panel.get_by_label("What is the agent to do?").fill("Find out why.")
        await panel.get_by_role("button", name="Start a session").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Issue 1: It fails")).to_be_visible()
        await expect(page.locator(".message.user")).to_contain_text("Find out why.")
        await expect(page.locator(".message.user")).to_contain_text("comes from outside")
        await expect(page.locator("#messages")).to_contain_text("I look into it.")


async def test_a_forge_is_added_tried_and_removed_among_the_accounts(
    home: Path, project: Path, context: BrowserContext, forge: ForgeServer
) -> None:
    async with Stage(home, project) as stage:
        page = (await stage.tab(context)).page
        await page.goto(f"{stage.server.url}/accounts")
        forges = page.get_by_role("region", name="Forges")
        await forges.get_by_label("URL").fill(forge.url)
        await forges.get_by_label("Token").fill("wrong")
        await page.keyboard.press("Enter")
        await expect(forges.get_by_role("alert")).to_contain_text("does not accept the token")
        await forges.get_by_label("Token").fill(TOKEN)
        await page.keyboard.press("Enter")
        await expect(forges).to_contain_text("the token is kept, it is me’s")
        name = forge.url.removeprefix("http://")
        await expect(forges.get_by_role("heading", name=name)).to_be_visible()
        row = forges.get_by_role("group", name=name)
        await row.get_by_role("button", name="Test").click()
        await expect(forges).to_contain_text("the token is me’s")
        await expect(row.get_by_role("button", name="Test")).to_be_focused()
        await row.get_by_role("button", name="Remove").click()
        await expect(forges.get_by_role("heading", name=name)).to_have_count(0)


async def test_a_pull_request_is_drafted_opened_mended_and_merged(
    home: Path, project: Path, context: BrowserContext, forge: ForgeServer, tmp_path: Path
) -> None:
    git(project, "switch", "-qc", "my-feature")
    (project / "new.txt").write_text("one\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Add a file")
    async with at(forge, home, project) as stage:
        page = await opened(stage, context)
        panel = page.get_by_role("dialog", name="acme/widget")
        await panel.get_by_role("button", name="This branch").click()
        await expect(panel.get_by_label("Title")).to_have_value("Add a file")
        stage.plays(Turn(text="Add a file with one line\n\nIt was missing."))
        await panel.get_by_role("button", name="Draft", exact=True).click()
        await expect(panel.get_by_label("Title")).to_have_value("Add a file with one line")
        await expect(panel.get_by_label("Description")).to_have_value("It was missing.")
        await panel.get_by_role("button", name="Open it").click()
        await expect(panel.get_by_role("heading", name="Add a file with one line")).to_be_visible()
        assert "my-feature" in git(tmp_path / "far.git", "branch")
        made = max(forge.pulls.values(), key=lambda pull: pull.number)
        assert (made.head, made.base, made.body) == ("my-feature", "main", "It was missing.")
        made.runs = forge.pulls[3].runs
        made.commit, forge.pulls[3].commit = "a" * 40, "b" * 40

        await panel.get_by_role("button", name="This branch").click()
        await panel.get_by_role("button", name="Put failed checks into the prompt").click()
        await expect(panel).to_be_hidden()
        told = re.compile("> tests: failure(.|\n)*AssertionError")
        await expect(page.locator("#prompt")).to_have_value(told)

        await page.locator("#scroller").focus()
        await page.keyboard.press("g")
        await page.keyboard.press("h")
        await panel.get_by_role("button", name="Merge…").click()
        await expect(panel).to_contain_text("1 check failed")
        await panel.get_by_label("How", exact=True).select_option("squash")
        await panel.get_by_role("button", name="Merge", exact=True).click()
        await expect(panel.locator(".forge-meta")).to_contain_text("merged")
        assert forge.acts[-1].body["merge_method"] == "squash"
