"""A folder and a file in a program of this machine, by a click."""

from __future__ import annotations

import asyncio
import os

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.sessions.project.test_programs import install

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_it_is_asked_in_which_until_it_is_always_one(
    context: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = repository(tmp_path_factory.mktemp("open-in") / "project")
    programs = tmp_path_factory.mktemp("programs") / "bin"
    programs.mkdir()
    pipe = install({"PATH": str(programs)}, "zed")
    stage = Stage(tmp_path_factory.mktemp("home"), project)
    stage.server.environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "DISPLAY": ":9"}

    async def told() -> list[str]:
        return (await asyncio.to_thread(pipe.read_text)).split("|")[:-2]

    async with stage:
        page = (await stage.tab(context, await stage.session("opens"))).page
        await page.get_by_role("button", name="Actions for this session").click()
        await page.get_by_role("menuitem", name="Open the folder in…").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Always in this one").check()
        await dialog.get_by_role("button", name="Zed").click()
        assert await told() == ["zed", str(project), str(project)]
        await expect(page.locator("#toasts")).to_contain_text("in Zed.")
        await page.get_by_role("button", name="Files", exact=True).click()
        await page.get_by_role("treeitem", name="hello.py").click(button="right")
        await page.get_by_role("menuitem", name="Open in…").click()
        assert await told() == ["zed", str(project), str(project / "hello.py")]
        await expect(dialog).to_have_count(0)
        await page.close()
