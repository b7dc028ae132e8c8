"""The launch link on its way to a browser."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from opencode_web.cli.link import write
from tests.e2e.conftest import QUIET
from tests.opencode_web.site.security.browser import browsing, link
from tests.runtime.conftest import home, project
from tests.server import ROOT, Server, running

__all__ = ["home", "project"]

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def chromium(chromium_path: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path, args=QUIET)
        yield browser
        await browser.close()


OPENING = """
import sys
from pathlib import Path
from opencode_web.cli.link import _open
_open("http://127.0.0.1:1/auth/launch?token=secret", 1, lambda: not Path(sys.argv[1]).exists())
"""


async def test_the_link_is_in_no_arguments_and_the_file_goes_when_it_was_used(tmp_path: Path) -> None:
    told, used = tmp_path / "told", tmp_path / "used"
    os.mkfifo(told)
    program = tmp_path / "browser"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen({str(told)!r}, 'w').write(repr(sys.argv))\n")
    program.chmod(0o700)
    environ = {**os.environ, "BROWSER": f"{program} %s", "XDG_RUNTIME_DIR": str(tmp_path)}
    opening = subprocess.Popen(  # noqa: ASYNC220 (returns at once)
        [sys.executable, "-c", OPENING, str(used)], env=environ, cwd=ROOT
    )
    arguments = await asyncio.to_thread(told.read_text)
    page = tmp_path / "opencode-web-1.html"
    assert page.as_uri() in arguments
    assert "secret" not in arguments
    assert page.stat().st_mode & 0o777 == 0o600
    assert "token=secret" in page.read_text()
    used.touch()
    assert await asyncio.to_thread(opening.wait, 30) == 0
    assert not page.exists()


async def test_a_file_that_lies_there_is_replaced_and_no_link_followed(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    (tmp_path / "other").write_text("mine")
    os.symlink(tmp_path / "other", tmp_path / "opencode-web-1.html")
    page = write("http://127.0.0.1:1/?a=1&b=%3C", 1, environ)
    assert not page.is_symlink()
    assert (tmp_path / "other").read_text() == "mine"
    assert "url=http://127.0.0.1:1/?a=1&amp;b=%3C" in page.read_text()


async def test_a_browser_is_signed_in_by_the_file(
    home: Path, project: Path, tmp_path: Path, chromium: Browser
) -> None:
    server = Server(home, project)
    async with running(server), browsing(server) as other:
        page = await chromium.new_page()
        await page.goto(write(await link(other), 1, {"XDG_RUNTIME_DIR": str(tmp_path)}).as_uri())
        await expect(page.locator("#prompt")).to_be_visible(timeout=15_000)
