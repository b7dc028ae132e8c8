"""The project's own web server beside the conversation: shown, pointed at, and, where it is hostile, held."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from playwright.async_api import BrowserContext, FrameLocator, expect

from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SERVER = Path(__file__).parent / "previewed" / "server.py"
PATIENCE = 30


@asynccontextmanager
async def told() -> AsyncIterator[tuple[int, asyncio.Future[int]]]:
    """A port on which a web server that begins says which one it has."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port.set_result(int(await reader.readline()))
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1", 0) as door:
        yield int(door.sockets[0].getsockname()[1]), port


async def serving(stage: Stage) -> tuple[str, int]:
    """A terminal in which a web server runs, and its port."""
    async with told() as (door, port):
        arguments = [str(SERVER), str(door)]
        terminal = await stage.client.post("/pty", {"command": sys.executable, "args": arguments})
        return str(terminal["id"]), await asyncio.wait_for(port, PATIENCE)


async def opened(tab: Tab) -> FrameLocator:
    """The page around the preview."""
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("v")
    return tab.page.frame_locator("#preview > iframe")


async def shown(tab: Tab, port: int) -> tuple[FrameLocator, FrameLocator]:
    """The page around the preview of a port, and what is previewed."""
    around = await opened(tab)
    await around.get_by_role("button", name=f"localhost:{port}").click()
    inside = around.frame_locator("#preview-frame")
    await expect(inside.get_by_role("heading", name="A shop")).to_be_visible()
    return around, inside


OUTSIDE = """(form) => {
  const { right } = form.getBoundingClientRect();
  const isOutside = (one) => one.checkVisibility() && one.getBoundingClientRect().right > right;
  const parts = [...form.querySelectorAll(".composer-row :is(button, label)")];
  return parts.filter(isOutside).map((one) => one.outerHTML);
}"""


async def test_a_server_of_a_terminal_is_shown_and_works(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("previewed"))
    around = await opened(tab)
    await expect(around.get_by_text("Nothing listens")).to_be_visible()
    await around.get_by_role("button", name="Close").click()
    await expect(tab.prompt).to_be_focused()
    terminal, port = await serving(stage)
    around, inside = await shown(tab, port)
    await expect(inside.get_by_role("status")).to_have_text("You said hello")
    assert await tab.page.locator("#composer").evaluate(OUTSIDE) == []
    await inside.get_by_role("button", name="Buy it").click()
    await expect(inside.get_by_text("1 bought")).to_be_visible()
    await expect(around.locator("#preview-at")).to_have_text(f"localhost:{port}/page/friendly")
    await around.get_by_role("button", name="Reload").click()
    await expect(inside.get_by_text("Nothing yet.")).to_be_visible()
    await around.get_by_label("Size").select_option("390x844")
    await expect(around.locator("#preview-frame")).to_have_css("width", "390px")
    await stage.client.http.delete(f"/pty/{terminal}")
    await around.get_by_role("link", name="Other port").click()
    await expect(around.get_by_text("Nothing listens")).to_be_visible()


async def test_a_server_that_the_agent_started_is_shown(stage: Stage, context: BrowserContext) -> None:
    async with told() as (door, port):
        line = f"{sys.executable} {SERVER} {door} > out.txt 2>&1 & echo $! > pid.txt"
        call = ToolUse("bash", {"command": line, "description": "Serve"})
        stage.plays(Turn(tools=[call]), Turn(text="It runs."))
        tab = await stage.tab(context, await stage.session("served by the agent"))
        await tab.send("Serve it.")
        await expect(tab.messages).to_contain_text("It runs.")
        await shown(tab, await asyncio.wait_for(port, PATIENCE))
    os.kill(int((stage.project / "pid.txt").read_text()), signal.SIGTERM)


async def test_errors_of_its_console_come_to_the_prompt(stage: Stage, context: BrowserContext) -> None:
    terminal, port = await serving(stage)
    tab = await stage.tab(context, await stage.session("console of a preview"))
    around, _ = await shown(tab, port)
    await expect(around.locator("#preview-count")).to_have_text("1")
    await around.get_by_role("button", name="Console").click()
    await expect(around.locator("[data-level=error]")).to_have_text('The cart is {"broken":true}')
    await around.get_by_role("button", name="Put the errors into the prompt").click()
    await expect(tab.prompt).to_have_value(re.compile(rf"localhost:{port}/page/friendly\s+```\s+The cart is"))
    await stage.client.http.delete(f"/pty/{terminal}")


async def test_what_is_pointed_at_comes_to_the_prompt(stage: Stage, context: BrowserContext) -> None:
    terminal, port = await serving(stage)
    tab = await stage.tab(context, await stage.session("pointed at"))
    around, inside = await shown(tab, port)
    await around.get_by_role("button", name="Point at an element").click()
    await inside.get_by_role("button", name="Buy it").click()
    picked = around.get_by_role("region", name="What you pointed at")
    await expect(picked).to_contain_text("#buy")
    await expect(picked).to_contain_text("background-color: rgb(5, 71, 42)")
    await expect(inside.get_by_text("Nothing yet.")).to_be_visible()
    await expect(picked.get_by_role("img")).to_be_visible()
    await expect(tab.prompt).to_have_value("")
    await picked.get_by_role("button", name="Put it into the prompt").click()
    await expect(tab.prompt).to_have_value(re.compile('<button id="buy" type="button">Buy it</button>'))
    await expect(tab.page.locator("#attachments li")).to_have_count(1)
    await stage.client.http.delete(f"/pty/{terminal}")


async def as_the_server_sets_it(context: BrowserContext, stage: Stage) -> None:
    """The cookie of the login, which scripts cannot read."""
    for cookie in await context.cookies(stage.server.url):
        if cookie["name"].startswith("opencode_web_"):
            name, value = cookie["name"], cookie["value"]
            await context.add_cookies(
                [
                    {
                        "name": name,
                        "value": value,
                        "url": stage.server.url,
                        "httpOnly": True,
                        "sameSite": "Strict",
                    }
                ]
            )


async def test_a_hostile_page_reaches_nothing_of_ours(stage: Stage, context: BrowserContext) -> None:
    provokes(context, "Content Security Policy", "status of")
    terminal, port = await serving(stage)
    tab = await stage.tab(context, await stage.session("hostile preview"))
    await as_the_server_sets_it(context, stage)
    around, inside = await shown(tab, port)
    before = tab.page.url
    cookies = {cookie["name"]: cookie["value"] for cookie in await context.cookies(stage.server.url)}
    source = await around.locator("#preview-frame").get_attribute("data-source")
    assert source
    origin = source.partition("/.")[0]
    frame = next(one for one in tab.page.frames if one.url.startswith(origin))
    await frame.evaluate("location.assign('/page/hostile')")
    await expect(inside.locator("#found")).to_have_text("reached: nothing")
    assert tab.page.url == before
    below = [
        one.url for one in tab.page.frames if one.parent_frame and one.parent_frame.url.startswith(origin)
    ]
    assert not [url for url in below if url.startswith(stage.server.url)]
    await expect(tab.prompt).to_have_value("")
    await expect(around.locator("#preview-picked")).to_be_hidden()
    after = {cookie["name"]: cookie["value"] for cookie in await context.cookies(stage.server.url)}
    assert cookies.items() <= after.items()
    assert "opencode_web_evil" not in after
    await tab.page.reload()
    await tab.connected()
    async with httpx.AsyncClient(trust_env=False) as stranger:
        assert (await stranger.get(origin)).status_code == 401
        rebound = {"Host": f"evil.example:{origin.rpartition(':')[2]}"}
        assert (await stranger.get(origin, headers=rebound)).status_code == 421
    await stage.client.http.delete(f"/pty/{terminal}")
