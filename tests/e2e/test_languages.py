"""Language servers on the page of servers: switched on, at work, restarted, trusted, installed, off again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, Page, Route, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

INSTALLING = 240_000
"""Milliseconds for a package to come from a registry."""


@pytest_asyncio.fixture(loop_scope="session")
async def place(tmp_path: Path, user_environ: dict[str, str]) -> AsyncIterator[Stage]:
    """A server that finds ruff on PATH, and whose project brings a program of its own."""
    home, programs = tmp_path / "home", tmp_path / "programs"
    programs.mkdir()
    (programs / "ruff").symlink_to(Path(sys.executable).with_name("ruff"))
    project = repository(tmp_path / "project")
    (project / "Dockerfile").write_text("FROM scratch\n")
    (project / "settings.yaml").write_text("a: 1\n")
    own = project / "node_modules" / ".bin" / "yaml-language-server"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\nexit 7\n")
    own.chmod(0o755)
    home.mkdir()
    stage = Stage(home, project)
    users = {name: value for name, value in user_environ.items() if name.startswith(("NODE_", "SSL_"))}
    npmrc = str(Path(user_environ["HOME"], ".npmrc"))
    stage.server.environ = {
        **users,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NPM_CONFIG_USERCONFIG": npmrc,
    }
    async with stage:
        yield stage


async def opened(context: BrowserContext, place: Stage) -> Page:
    """The page, by the way a person takes from a session."""
    tab = await place.tab(context)
    await tab.page.get_by_role("link", name="Settings").click()
    await tab.page.get_by_role("link", name="Servers").click()
    await expect(tab.page.get_by_role("heading", name="Language servers")).to_be_visible()
    return tab.page


def row(page: Page, name: str) -> Locator:
    return page.locator("#languages .server", has=page.get_by_role("heading", name=name))


async def works(place: Stage, *calls: ToolUse) -> None:
    """A turn of the model, in another session."""
    place.plays(Turn(tools=list(calls)), Turn(text=["Done."]))
    session = await place.session("Work")
    await place.client.prompt(session, "Go")


async def test_from_off_to_running_and_back(context: BrowserContext, place: Stage) -> None:
    page = await opened(context, place)
    section = page.locator("#languages")
    await expect(section).to_contain_text("They are off.")
    await section.get_by_role("button", name="Turn on").click()
    ruff = row(page, "Python (Ruff)")
    await expect(ruff).to_contain_text("Not running · starts when a file of it is read or edited")
    written = place.home / ".config" / "opencode" / "opencode.jsonc"
    assert json.loads(written.read_text())["lsp"] is True
    await expect(row(page, "Markdown")).to_contain_text("Not installed")

    content = "import os\n"
    await works(place, ToolUse("write", {"filePath": str(place.project / "a.py"), "content": content}))
    await expect(ruff).to_contain_text("Running")
    await expect(page.locator("#servers-said")).to_contain_text("Python (Ruff): Running")
    await ruff.get_by_text("Log").click()
    await expect(ruff.get_by_role("region", name="Log of Python (Ruff)")).to_contain_text("workspace")
    style = ToolUse("write", {"filePath": str(place.project / "a.css"), "content": "a { color: red }\n"})
    await works(place, style)
    await expect(row(page, "CSS")).to_contain_text("Not installed")
    await expect(ruff.get_by_role("region", name="Log of Python (Ruff)")).to_contain_text("workspace")
    await ruff.get_by_role("button", name="Restart").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#servers-said")).to_contain_text("Python (Ruff): Running")
    await expect(ruff.get_by_role("region", name="Log of Python (Ruff)")).to_contain_text("workspace")

    await section.get_by_role("button", name="Turn off").click()
    await expect(section).to_contain_text("They are off.")
    await expect(section.get_by_role("button", name="Turn on")).to_be_focused()


async def test_one_that_ran_again_before_the_page_looked_is_said_to_run(
    context: BrowserContext, place: Stage
) -> None:
    page = await opened(context, place)
    await page.locator("#languages").get_by_role("button", name="Turn on").click()
    ruff, said = row(page, "Python (Ruff)"), page.locator("#servers-said")
    file = place.project / "a.py"
    await works(place, ToolUse("write", {"filePath": str(file), "content": "import os\n"}))
    await expect(said).to_contain_text("Python (Ruff): Running")

    runs = asyncio.Event()

    async def late(route: Route) -> None:
        await runs.wait()
        await route.continue_()

    await page.route("**/servers/languages?*", late)
    await ruff.get_by_role("button", name="Restart").click()
    await expect(said).to_contain_text("Python (Ruff): starting again")
    edit = {"filePath": str(file), "oldString": "import os", "newString": "import re"}
    await works(place, ToolUse("read", {"filePath": str(file)}), ToolUse("edit", edit))
    runs.set()
    await expect(said).to_contain_text("Python (Ruff): Running")


@pytest.mark.long
async def test_trust_a_failure_and_an_installation(context: BrowserContext, place: Stage) -> None:
    page = await opened(context, place)
    await page.locator("#languages-switch").click()
    yaml = row(page, "YAML")
    await expect(yaml).to_contain_text("Waits for your trust")
    await yaml.get_by_role("button", name="Look at it").click()
    dialog = page.locator("#dialog dialog")
    await expect(dialog).to_contain_text("node_modules/.bin/yaml-language-server")
    await dialog.get_by_role("button", name="Trust").click()
    await expect(yaml).to_contain_text("Not running")
    await works(place, ToolUse("read", {"filePath": str(place.project / "settings.yaml")}))
    await expect(yaml).to_contain_text("Failed")
    await expect(yaml).to_contain_text("exited with code 7")
    (place.project / "node_modules" / ".bin" / "yaml-language-server").write_text("#!/bin/sh\nexit 8\n")
    await yaml.get_by_role("button", name="Try again").click()
    await expect(yaml).to_contain_text("Waits for your trust")

    docker = row(page, "Dockerfile")
    await expect(docker).to_contain_text("from npm: dockerfile-language-server-nodejs")
    await docker.get_by_role("button", name="Install").click()
    await expect(docker).to_contain_text("Installing")
    await expect(docker).to_contain_text("Not running", timeout=INSTALLING)
    await page.get_by_text("All other languages").click()
    gleam = page.locator(".language", has_text="gleam")
    await expect(gleam).to_contain_text("it comes with Gleam")
