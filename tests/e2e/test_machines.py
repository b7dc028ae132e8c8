"""The page of machines: one is drained, another one is lost, and its project goes on elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests import programs
from tests.e2e.access.scan import NARROW, WIDE, violations
from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage
from tests.loopback.script import Turn
from tests.postgres_server import PostgresServer
from tests.server import Server
from tests.team import begun, environment, front

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@asynccontextmanager
async def team(folder: Path, postgres: PostgresServer) -> AsyncIterator[tuple[Stage, Server]]:
    """The second of two nodes, and a front before them."""
    door = front(folder, postgres)
    async with begun(door, verb="front"), AsyncExitStack() as stages:
        for name in ("build-1", "gpu-box"):
            stage = Stage(folder / f"home-{name}", repository(folder / name), permission=ASKED)
            stage.home.mkdir()
            own = {"OPENCODE_WEB_NODE": name, "OPENCODE_WEB_PARK": f"file://{folder / 'place'}"}
            stage.server.environ = {**environment(postgres), **own}
            await stages.enter_async_context(stage)
        yield stage, door


async def test_a_project_goes_on_at_another_machine(
    tmp_path: Path, context: BrowserContext, postgres: PostgresServer, user_environ: Mapping[str, str]
) -> None:
    axe = programs.axe(user_environ)
    page = await context.new_page()
    async with team(tmp_path, postgres) as (gpu, door):
        session = await gpu.session("Train it")
        (tmp_path / "gpu-box" / "model").write_text("weights\n")
        gpu.plays(Turn(text="Done."))
        await gpu.client.prompt(session, "Train.")
        await page.goto(door.launch_url)
        machine = page.get_by_role("region", name="gpu-box")
        await expect(machine.get_by_role("link", name="Move to build-1 gpu-box")).to_be_visible()

        await machine.get_by_role("button", name="Drain gpu-box").press("Enter")
        await expect(machine.locator(".machine-state")).to_have_text("Drained")
        await machine.get_by_role("button", name="Take turns again at gpu-box").press("Enter")
        await expect(machine.locator(".machine-state")).to_have_text("Here")

        await asyncio.to_thread(gpu.server.kill)
        await expect(machine.locator(".machine-state")).to_have_text("Away", timeout=20_000)
        assert await violations(page, axe, (WIDE, NARROW)) == []
        await machine.get_by_role("link", name="Restore at build-1 gpu-box").press("Enter")
        await expect(page.get_by_role("heading", name="Restore gpu-box")).to_be_visible()
        assert await violations(page, axe, (WIDE, NARROW)) == []
        await page.get_by_role("button", name="Restore").click()
        await expect(page.get_by_role("alert")).to_contain_text("is there already")
        await page.get_by_label("Folder at build-1").fill(str(tmp_path / "restored"))
        await page.get_by_label("Folder at build-1").press("Enter")
        await page.wait_for_url("**/n/build-1/p/**")
        assert (tmp_path / "restored" / "model").read_text() == "weights\n"
        await expect(page.get_by_role("heading", name="Train it")).to_be_visible()

        await page.goto(door.url)
        await expect(machine).to_contain_text("Goes on at build-1")
        page.once("dialog", lambda dialog: dialog.accept())
        await machine.get_by_role("button", name="Go on with this copy instead").click()
        await expect(page.get_by_role("region", name="build-1")).to_contain_text("Goes on at gpu-box")
        await page.close()
        await asyncio.to_thread(gpu.server.start)
