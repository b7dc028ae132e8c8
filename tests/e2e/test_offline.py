"""What an installed page shows while its server is away, and what the browser keeps for that."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

KEPT = """
async () => {
  const found = [];
  for (const name of await caches.keys()) {
    for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
  }
  return found;
}
"""

INSTALLED = """
const { matchMedia } = window;
const away = "(display-mode: browser)";
window.matchMedia = (query) => query === away ? { matches: false } : matchMedia.call(window, query);
"""


async def test_an_installed_page_says_that_the_server_is_away(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project) as stage:
        tab = await stage.tab(context, await stage.session("installed"))
        page = tab.page
        workers = "navigator.serviceWorker.getRegistrations().then((all) => all.length)"
        assert await page.evaluate(workers) == 0  # of a page in a tab
        await page.add_init_script(INSTALLED)
        await page.reload()
        await page.wait_for_function("() => navigator.serviceWorker.ready.then(() => true)")
        kept = await page.evaluate(KEPT)
        assert sorted(path.rpartition("/")[2] for path in kept) == [
            "base.css",
            "early.js",
            "icon.svg",
            "layout.css",
            "offline",
            "offline.js",
            "tokens.css",
        ]
        port = stage.server.url.rpartition(":")[2]
        stage.server.kill()
        await page.reload()
        await expect(page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()
        assert await page.evaluate("getComputedStyle(document.body).marginTop") == "0px"  # it has its style
        stage.server.start("--port", port)
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator("#title")).to_contain_text("installed")
