"""A team in the browser: the machines at a front, and the whole page of one of them through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import ASKED, provokes, repository
from tests.e2e.stage import Stage, Tab, ready
from tests.e2e.whole import stream_allow_undo, use_terminal
from tests.loopback.script import ToolUse, Turn, Wait
from tests.postgres_server import PostgresServer
from tests.server import PASSWORD, Server
from tests.team import begun, environment, front

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@asynccontextmanager
async def team(folder: Path, postgres: PostgresServer) -> AsyncIterator[tuple[Stage, Server]]:
    """The stage of a node, and a front before it."""
    stage = Stage(folder / "home", repository(folder / "project"), permission=ASKED)
    stage.home.mkdir()
    stage.server.environ = {**environment(postgres), "OPENCODE_WEB_NODE": "one"}
    door = front(folder, postgres)
    async with begun(door, verb="front"), stage:
        yield stage, door


async def test_a_person_works_at_a_machine_through_a_front(
    tmp_path: Path, context: BrowserContext, postgres: PostgresServer
) -> None:
    page = await context.new_page()
    async with team(tmp_path, postgres) as (stage, door):
        await page.goto(door.launch_url)
        await expect(page.get_by_role("heading", name="one")).to_be_visible()
        await expect(page.locator(".machine-state")).to_have_text("Here")
        await page.get_by_role("link", name="project").first.click()
        tab = Tab(page, stage)
        await tab.connected()
        assert urlsplit(page.url).netloc == urlsplit(door.url).netloc

        await stream_allow_undo(stage, tab)
        await use_terminal(tab)

        stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch made"})]), Turn(text="Made."))
        await tab.send("Make it.")
        await ready(tab.permissions)
        machines = await context.new_page()
        await machines.goto(door.url)
        await expect(machines.locator(".machine-session")).to_have_text("waiting for you")
        await machines.close()
        await tab.stop.click()
        await tab.idle()

        await page.goto(f"{door.url}/n/one/settings")
        await page.get_by_role("button", name="Sign out", exact=True).click()
        await page.wait_for_url("**/login")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        await page.wait_for_url(f"{door.url}/n/one/**")

        await asyncio.to_thread(stage.server.kill)
        await page.goto(door.url)
        await expect(page.locator(".machine-state")).to_have_text("Away")
        await page.goto(f"{door.url}/n/one/")
        await expect(page.get_by_role("heading", name="one does not answer")).to_be_visible()
        await page.get_by_role("link", name="All machines").click()
        await expect(page.get_by_role("heading", name="Machines")).to_be_visible()
        await page.close()
        await asyncio.to_thread(stage.server.start)


async def test_a_page_goes_on_where_its_front_begins_again(
    tmp_path: Path, context: BrowserContext, postgres: PostgresServer
) -> None:
    provokes(context, "/n/one/")  # nobody answers meanwhile
    page = await context.new_page()
    async with team(tmp_path, postgres) as (stage, door):
        await page.goto(door.launch_url)
        await page.get_by_role("link", name="project").first.click()
        tab = Tab(page, stage)
        await tab.connected()
        stage.plays(Turn(text=["One, ", Wait("front"), "two, ", Wait("back"), "three."]))
        await tab.send("Count.")
        await expect(tab.messages).to_contain_text("One,")
        port = door.url.rpartition(":")[2]
        await asyncio.to_thread(door.stop)
        stage.model.gate("front").open()
        await asyncio.to_thread(door.start, "--port", port, verb="front")
        await expect(tab.messages).to_contain_text("One, two,")
        stage.model.gate("back").open()
        await expect(tab.messages).to_contain_text("One, two, three.")
        await tab.idle()
        await tab.connected()
