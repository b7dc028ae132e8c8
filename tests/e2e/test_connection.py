"""The connection of a page: one that says nothing is opened again, and what is read anew disturbs nobody."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, WebSocketRoute, expect

from tests.e2e.stage import FRAMES, Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SLEEPS = "() => { const now = Date.now; Date.now = () => now() + 3_600_000; }"
"""An hour passes in which the machine slept: timers stood still."""
WAKES = "() => document.dispatchEvent(new Event('visibilitychange'))"
SILENCE = 26_000
"""Milliseconds after which a page gives up a connection that says nothing, and more than the longest until it
opens another."""


async def test_after_a_sleep_it_is_opened_again(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("sleeps"))
    await tab.page.evaluate(SLEEPS)
    async with tab.page.expect_websocket(lambda socket: "/ws/p/" in socket.url):
        await tab.page.evaluate(WAKES)
    await tab.connected()


async def test_who_takes_a_connection_and_never_answers_is_given_up(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project) as stage:
        await context.clock.install()
        tab = await stage.tab(context, await stage.session("never answered"))
        port = stage.server.url.rpartition(":")[2]
        asked: asyncio.Queue[bytes] = asyncio.Queue()
        writers: list[asyncio.StreamWriter] = []

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            asked.put_nowait(await reader.readline())
            await reader.read()

        await asyncio.to_thread(stage.server.stop)
        await expect(tab.connection).not_to_have_attribute("data-state", "connected")
        mute = await asyncio.start_server(take, "127.0.0.1", int(port))
        await tab.page.clock.run_for(SILENCE)
        # Not before there is somebody to be given up: a browser delays, by its own clock, who fails often.
        while b"/ws/p/" not in await asked.get():
            await tab.page.clock.run_for(SILENCE)
        mute.close()
        await asyncio.to_thread(stage.server.start, "--port", port)
        for _ in range(3):  # once for each socket of the page, of which the browser opens one at a time
            await tab.page.clock.fast_forward(SILENCE)
        await tab.connected()
        for writer in writers:
            writer.close()


async def test_what_is_pressed_is_not_read_anew_from_under_the_pointer(
    stage: Stage, context: BrowserContext
) -> None:
    sockets: list[WebSocketRoute] = []

    def listen(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    await context.route_web_socket("**/ws/p/*/?*", listen)
    stage.plays(Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Read."))
    tab = await stage.tab(context, await stage.session("read anew"))
    await tab.send("Read it.")
    await expect(tab.messages).to_contain_text("Read.")
    await tab.idle()
    await tab.page.evaluate("() => document.addEventListener('page:replaced', () => (window.renewed = true))")
    card = tab.tool("hello.py")
    await card.locator("summary").hover()
    await tab.page.mouse.down()
    async with tab.page.expect_response(tab.page.url) as answered:
        sockets[-1].send('{"refresh": true}')
    await (await answered.value).finished()
    for _ in range(3):
        await tab.page.evaluate(FRAMES)
    await tab.page.mouse.up()
    await expect(card.locator(".tool-output")).to_contain_text("def hello")
    await tab.page.wait_for_function("window.renewed")
    await expect(card.locator(".tool-output")).to_be_visible()
