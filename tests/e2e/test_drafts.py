"""What is written and attached and not sent yet is there again: in its session, after a reload or a crash."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import (
    BrowserContext,
    FilePayload,
    Locator,
    Page,
    Playwright,
    async_playwright,
    expect,
)

from tests.e2e.conftest import PATIENCE, QUIET, WIDE
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

NOTE: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"a note"}

KEPT = """async ([text, files]) => {
  const answer = (request) => new Promise((resolve) => {
    request.onupgradeneeded = () => request.transaction.abort();
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
  });
  const there = ({ text: written, files: { length } }) => written === text && length === files;
  for (;;) {
    const database = await answer(indexedDB.open("opencode-web-drafts"));
    const rows = database && (await answer(database.transaction("drafts").objectStore("drafts").getAll()));
    database?.close();
    if (rows?.some(there)) return;
    await new Promise(requestAnimationFrame);
  }
}"""


async def kept(page: Page, text: str, files: int) -> None:
    """The browser has it on the disk."""
    async with asyncio.timeout(PATIENCE / 1000):
        await page.evaluate(KEPT, [text, files])


def attached(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


async def test_each_session_has_its_own_over_a_reload(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("drafted first"), await stage.session("drafted second")
    tab = await stage.tab(context, first)
    await tab.prompt.fill("of the first")
    await tab.page.locator("#attach").set_input_files([NOTE])
    await expect(attached(tab)).to_contain_text("note.txt")
    await kept(tab.page, "of the first", 1)
    await tab.open(second)
    await expect(tab.prompt).to_have_value("")
    await expect(attached(tab)).to_have_count(0)
    await tab.prompt.press("!")
    await tab.prompt.press_sequentially("ls")
    await tab.open(first)
    await expect(tab.prompt).to_have_value("of the first")
    await expect(attached(tab)).to_contain_text("note.txt")
    await tab.open(second)
    await expect(tab.page.locator("#shell-mode")).to_be_visible()
    await expect(tab.prompt).to_have_value("ls")
    await tab.prompt.fill("")


async def test_what_was_sent_or_removed_does_not_come_back(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Read."))
    tab = await stage.tab(context, await stage.session("sent with a note"))
    await tab.page.locator("#attach").set_input_files([NOTE])
    await tab.send("Read it.")
    await expect(tab.messages).to_contain_text("Read.")
    await kept(tab.page, "", 0)
    await tab.page.reload()
    await tab.connected()
    await tab.page.locator("#attach").set_input_files([NOTE])
    await expect(attached(tab)).to_have_count(1)
    await tab.page.get_by_role("button", name="Remove note.txt").click()
    await kept(tab.page, "", 0)
    await tab.page.reload()
    await tab.connected()
    await expect(tab.prompt).to_have_value("")
    await expect(attached(tab)).to_have_count(0)


async def profile(playwright: Playwright, path: str, folder: Path) -> BrowserContext:
    return await playwright.chromium.launch_persistent_context(
        folder, executable_path=path, args=QUIET, viewport=WIDE, reduced_motion="reduce"
    )


def kill(folder: Path) -> None:
    """The browser of this profile, with all its processes, as a power cut would."""
    mine = f"--user-data-dir={folder}".encode()
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mine in process.read_bytes().split(b"\0"):
                os.kill(int(process.parent.name), signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError):
            continue


@pytest.mark.proc
async def test_a_draft_survives_the_browser(stage: Stage, chromium_path: str, tmp_path: Path) -> None:
    """Also the last words, which the browser's own store has on the disk a minute later."""
    session = await stage.session("killed while writing")
    async with async_playwright() as playwright:
        browser = await profile(playwright, chromium_path, tmp_path)
        tab = await stage.tab(browser, session)
        await tab.page.locator("#attach").set_input_files([NOTE])
        for words in ("the first words", ", and the last"):
            await tab.prompt.press_sequentially(words)
        await kept(tab.page, "the first words, and the last", 1)
        gone = asyncio.Event()
        browser.on("close", lambda _: gone.set())
        kill(tmp_path)
        await gone.wait()
        browser = await profile(playwright, chromium_path, tmp_path)
        tab = await stage.tab(browser, session)
        await expect(tab.prompt).to_have_value("the first words, and the last")
        await expect(attached(tab)).to_contain_text("note.txt")
        await tab.page.get_by_role("button", name="Remove note.txt").click()
        await expect(attached(tab)).to_have_count(0)
        await browser.close()
