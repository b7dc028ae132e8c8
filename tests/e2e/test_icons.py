"""The icons of the page, and the manifest by which it can be installed as an application."""

from __future__ import annotations

import httpx
import pytest
from playwright.async_api import BrowserContext

from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINKS = "[...document.querySelectorAll('link[rel$=icon][href$=png]')].map((link) => link.href)"
SIZE = """async (src) => {
  const image = Object.assign(new Image(), { src });
  await image.decode();
  return image.width;
}"""


async def test_the_browser_takes_the_manifest_and_its_icons(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context)
    devtools = await context.new_cdp_session(tab.page)
    found = await devtools.send("Page.getAppManifest")
    assert found["errors"] == []
    assert found["manifest"]["startUrl"] == f"{stage.server.url}/"
    sizes = [await tab.page.evaluate(SIZE, icon["url"]) for icon in found["manifest"]["icons"]]
    assert sizes == [192, 512, 512]
    links = await tab.page.evaluate(LINKS)
    assert [await tab.page.evaluate(SIZE, link) for link in links] == [32, 180]


async def test_who_is_not_signed_in_gets_them_too(stage: Stage) -> None:
    async with httpx.AsyncClient(base_url=stage.server.url, trust_env=False) as client:
        answer = await client.get("/static/manifest.webmanifest")
        assert answer.headers["content-type"] == "application/manifest+json"
        for icon in answer.json()["icons"]:
            assert (await client.get(f"/static/{icon['src']}")).headers["content-type"] == "image/png"
