"""The server below a path of a host that has something else at its root, behind a proxy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.async_api import BrowserContext, Page, expect

from bench.client import Client
from opencode_web.base_path import VARIABLE
from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage, Tab
from tests.e2e.whole import stream_allow_undo, use_terminal
from tests.loopback.script import Turn
from tests.proxy import Proxy
from tests.server import PASSWORD

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

PATH = "/agent"  # which is an operation of the API, too
ADDRESSES = """
() => ["href", "src", "action", "formaction", "hx-get", "hx-post", "hx-put", "hx-delete"].flatMap((name) =>
  [...document.querySelectorAll(`[${name}^="/"]`)].map((element) => element.getAttribute(name)))
"""
PAGES = (
    "?choose",
    "settings",
    "settings/keys",
    "accounts",
    "servers",
    "search?q=hello",
    "settings/snippets",
    "import",
)
OF_A_PROJECT = ("log", "rules")


@asynccontextmanager
async def behind(tmp_path: Path) -> AsyncIterator[tuple[Stage, Proxy]]:
    stage = Stage(tmp_path / "home", repository(tmp_path / "project"), permission=ASKED)
    stage.home.mkdir()
    async with Proxy(PATH) as proxy:
        stage.server.anew = True
        stage.server.environ = {
            VARIABLE: PATH,
            "OPENCODE_WEB_ALLOWED_HOSTS": proxy.host,
            "OPENCODE_WEB_TRUSTED_PROXY": "127.0.0.1",
        }
        async with stage:
            where = urlsplit(stage.server.url)
            assert where.path == PATH
            proxy.upstream = f"http://{where.netloc}"
            yield stage, proxy
            assert proxy.strays == []


async def signed_in(page: Page, client: Client) -> None:
    """By a link that the server makes of the address by which it was asked."""
    link = (await client.post("/auth/launch"))["url"]
    assert link.startswith(f"{str(client.http.base_url).rstrip('/')}/auth/launch")
    await page.goto(link)


async def test_everything_is_below_the_path(tmp_path: Path, context: BrowserContext) -> None:
    page = await context.new_page()
    async with behind(tmp_path) as (stage, proxy), Client(proxy.url, PASSWORD) as client:
        await signed_in(page, client)
        (cookie,) = await context.cookies()
        assert cookie["path"] == f"{PATH}/"
        tab = Tab(page, stage)
        await tab.connected()

        await stream_allow_undo(stage, tab)

        await page.keyboard.press("Control+Shift+E")
        field = page.get_by_label("Find a file by its name")
        await field.fill("hello.py")
        await expect(page.locator("#files-tree .files-row")).to_have_count(1)
        await field.press("Enter")
        await expect(page.get_by_role("textbox", name="Text of hello.py")).to_be_focused()
        await page.keyboard.type("# mine\n")
        await page.keyboard.press("Control+s")
        await expect(page.locator(".opened:visible .opened-state")).to_have_text("Saved")
        assert (stage.project / "hello.py").read_text().startswith("# mine\n")

        await use_terminal(tab)

        session = page.url.partition("?")[0]
        pages = [f"{proxy.url}/{name}" for name in PAGES]
        pages += [f"{session.partition('/s/')[0]}/{name}" for name in OF_A_PROJECT]
        for url in (session, f"{session}/timeline", *pages):
            assert await strangers(page, url) == []

        await page.goto(f"{proxy.url}/settings")
        await page.get_by_role("button", name="Sign out", exact=True).click()
        await page.wait_for_url(f"{proxy.url}/login")
        assert {cookie["path"] for cookie in await context.cookies()} == {f"{PATH}/"}
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        await page.wait_for_url(f"{proxy.url}/p/**")
        await page.close()


async def strangers(page: Page, url: str) -> list[str]:
    """The addresses of a page that are not below the path."""
    answer = await page.goto(url)
    assert answer is not None
    assert answer.ok, url
    return [address for address in await page.evaluate(ADDRESSES) if not address.startswith(f"{PATH}/")]


async def test_clients_and_commands_find_it(tmp_path: Path) -> None:
    async with behind(tmp_path) as (stage, proxy), Client(proxy.url, PASSWORD) as client:
        assert (await client.health())["healthy"]
        assert {agent["name"] for agent in await client.get("/agent")} >= {"build", "plan"}
        stage.plays(Turn(text="Heard."))
        session = await client.create_session("by the API")
        async with client.events() as events:
            await client.prompt(session["id"], "Say something.")
            seen = {(await anext(events)).type for _ in range(3)}
        assert any(kind.startswith(("session.", "message.")) for kind in seen)
        shared = (await client.post(f"/session/{session['id']}/share"))["share"]["url"]
        assert shared.startswith(f"{proxy.url}/s/")
        async with httpx.AsyncClient(trust_env=False) as nobody:
            assert "Heard." in (await nobody.get(shared)).text
            assert (await nobody.get(proxy.url, headers={"Accept": "text/html"})).headers[
                "location"
            ] == f"{PATH}/"
            login = await nobody.get(f"{proxy.url}/settings", headers={"Accept": "text/html"})
            assert login.headers["location"] == f"{PATH}/login?next=/settings"
        assert (await client.get("/doc"))["servers"] == [{"url": PATH}]

        stage.plays(Turn(text="From a terminal."))
        for arguments, said in (
            (["url"], f"{stage.server.url}/auth/launch?token="),
            (["run", "Hi."], "From a terminal."),
        ):
            done = await asyncio.to_thread(stage.server.command, *arguments)
            assert (done.returncode, done.stderr) == (0, ""), done
            assert said in done.stdout
