"""OpenCode's web app, served by OpenCode itself, with our server added in its server picker."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from tests import opencode
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.protocol.conftest import ASKED, repository
from tests.protocol.served import Script
from tests.server import PASSWORD, Server, model_config

PATIENCE = 30_000
"""Milliseconds."""


@asynccontextmanager
async def opencode_serve(program: Path, folder: Path) -> AsyncIterator[str]:
    """The address of an OpenCode that serves its web app, and is asked for nothing else."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        str(program),
        "serve",
        "--port",
        str(port),
        cwd=folder,
        env=opencode.environment(folder),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            if b"listening" in line:
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def page_of(chromium_path: str, url: str) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE)
        await page.goto(url)
        yield page
        await browser.close()


async def add_server(page: Page, server: Server) -> None:
    await page.get_by_role("button", name="Settings").first.click()
    await page.get_by_text("Servers", exact=True).click()
    await page.get_by_role("button", name="Add server").first.click()
    await page.get_by_placeholder("http://localhost:4096").fill(server.url)
    await page.get_by_placeholder("username").fill("opencode")
    await page.get_by_placeholder("password").fill(PASSWORD)
    await page.get_by_role("button", name="Add server").last.click()
    await expect(page.get_by_placeholder("password")).to_have_count(0, timeout=PATIENCE)
    listed = page.get_by_role("dialog").get_by_text(server.url.removeprefix("http://"))
    await expect(listed).to_be_visible(timeout=PATIENCE)


async def open_session(page: Page, app: str, server: Server) -> None:
    """By the app's own address of a session on our server."""
    async with server.client() as client:
        session = await client.create_session("From the web app")
    name = base64.urlsafe_b64encode(server.url.encode()).decode().rstrip("=")
    await page.goto(f"{app}/server/{name}/session/{session['id']}")
    await expect(page.get_by_text("From the web app").first).to_be_visible(timeout=PATIENCE)
    await expect(page.get_by_role("button", name="Fake").first).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
async def test_a_conversation_in_the_web_app(
    chromium_path: str, tmp_path: Path, user_environ: dict[str, str]
) -> None:
    program = opencode.program(user_environ)
    for name in ("app", "home", "project"):
        (tmp_path / name).mkdir()
    touch = ToolUse("bash", {"command": "touch new.txt", "description": "Make a file"})
    script = Script()
    write = ToolUse("write", {"filePath": "made.txt", "content": "a line\n"})
    script.turns.extend([Turn(text="Hello from here."), Turn(tools=[touch]), Turn(text="It is there.")])
    script.turns.extend([Turn(tools=[write]), Turn(text="It is written.")])
    async with OpenAIServer(script) as model, opencode_serve(program, tmp_path / "app") as app:
        project = repository(tmp_path / "project")
        server = Server(tmp_path / "home", project, model_config(model.base_url, permission=ASKED))
        await asyncio.to_thread(server.start, "--cors", app)
        try:
            async with page_of(chromium_path, app) as page:
                await add_server(page, server)
                await open_session(page, app, server)
                prompt = page.locator("[contenteditable=true]").last
                await prompt.fill("Say hello.")
                await page.keyboard.press("Enter")
                await expect(page.get_by_text("Hello from here.")).to_be_visible(timeout=PATIENCE)
                await prompt.fill("Make a file.")
                await page.keyboard.press("Enter")
                await page.get_by_role("button", name="Allow once").click()
                await expect(page.get_by_text("It is there.")).to_be_visible(timeout=PATIENCE)
                await page.get_by_role("button", name="Toggle review").click()
                listed = page.get_by_role("tab").filter(has_text="Files Changed")
                await expect(listed).to_contain_text("1", timeout=PATIENCE)
                await prompt.fill("Write a file.")
                await page.keyboard.press("Enter")
                await expect(page.get_by_text("It is written.")).to_be_visible(timeout=PATIENCE)
                await expect(listed).to_contain_text("2", timeout=PATIENCE)
                await expect(page.get_by_text("made.txt").last).to_be_visible(timeout=PATIENCE)
                rows = page.locator("[data-component=session-review-v2] [data-path]")
                await expect(rows).to_have_count(2, timeout=PATIENCE)
            assert (project / "new.txt").exists()
        finally:
            await asyncio.to_thread(server.stop)
