"""The server cannot be reached: the prompt stays, and is sent by itself when it can be, once."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Route, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_it_is_sent_when_the_server_is_back(home: Path, project: Path, context: BrowserContext) -> None:
    async with Stage(home, project) as stage:
        stage.plays(Turn(text="One."), Turn(text="Two."))
        tab = await stage.tab(context, await stage.session("unreached"))
        notice = tab.page.locator("#unreached")
        port = stage.server.url.rpartition(":")[2]
        await asyncio.to_thread(stage.server.stop)
        await expect(tab.connection).not_to_have_attribute("data-state", "connected")
        await tab.send("first")
        await expect(notice).to_have_text(
            "The server cannot be reached. Your prompt is still here, and is sent when the server is back."
        )
        await expect(tab.prompt).to_have_value("first")
        assert await tab.page.locator("#composer #unreached").count() == 0, "it is no part of the text"
        await asyncio.to_thread(stage.server.start, "--port", port)
        await expect(tab.messages).to_contain_text("One.")
        await expect(notice).to_be_hidden()
        await expect(tab.prompt).to_have_value("")
        await expect(tab.page.locator(".message.user .bubble")).to_have_text(["first"])


async def test_it_comes_back_from_a_server_that_says_nothing(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project) as stage:
        await context.clock.install()
        stage.plays(Turn(text="One."), Turn(text="Two."))
        tab = await stage.tab(context, await stage.session("says nothing"))
        process = stage.server.process
        assert process is not None
        os.kill(process.pid, signal.SIGSTOP)
        try:
            await tab.send("first")
            await tab.page.clock.fast_forward(26_000)
            await expect(tab.page.locator("#unreached")).to_have_text(
                "The server cannot be reached. "
                "Your prompt is still here, and is sent when the server is back."
            )
            await expect(tab.prompt).to_have_value("first")
        finally:
            os.kill(process.pid, signal.SIGCONT)
        await expect(tab.messages).to_contain_text("One.")
        await expect(tab.page.locator("#unreached")).to_be_hidden()
        await expect(tab.prompt).to_have_value("")
        await tab.idle()
        await expect(tab.page.locator(".message.user .bubble")).to_have_text(["first"])


@pytest.mark.long
async def test_a_lost_answer_does_not_double_a_prompt(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="One."), Turn(text="Two."))
    tab = await stage.tab(context, await stage.session("lost answer"))
    ids: list[str] = []

    async def lose_the_first(route: Route) -> None:
        answer = await route.fetch()
        ids.append(str(answer.status))
        await (route.abort() if len(ids) == 1 else route.fulfill(response=answer))

    await tab.page.route("**/prompt", lose_the_first)
    await tab.send("only once")
    await expect(tab.page.locator("#unreached")).to_be_visible()
    await expect(tab.prompt).to_have_value("only once")
    await expect(tab.page.locator("#unreached")).to_be_hidden()
    await expect(tab.prompt).to_have_value("")
    await expect(tab.messages).to_contain_text("One.")
    await tab.idle()
    await tab.page.unroute_all(behavior="wait")
    assert ids == ["204", "204"]
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["only once"])
    await expect(tab.page.get_by_role("list", name="Waiting prompts").locator("li")).to_have_count(0)


@pytest.mark.long
async def test_a_new_session_is_made_once(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="One."))
    tab = await stage.tab(context)
    made = 0

    async def lose_the_first(route: Route) -> None:
        nonlocal made
        if route.request.method != "POST":
            await route.continue_()
            return
        answer = await route.fetch()
        made += 1
        await (route.abort() if made == 1 else route.fulfill(response=answer))

    await tab.page.route("**/s/", lose_the_first)
    before = len(await stage.client.sessions(1000))
    await tab.send("a session of its own")
    await expect(tab.messages).to_contain_text("One.")
    await tab.page.unroute_all(behavior="wait")
    assert made == 2
    assert len(await stage.client.sessions(1000)) == before + 1


async def test_what_is_written_while_a_session_is_made_goes_on_in_it(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(text="One."), Turn(text="Two."))
    tab = await stage.tab(context)
    written = asyncio.Event()

    async def slowly(route: Route) -> None:
        if route.request.method == "POST":
            await written.wait()
        await route.continue_()

    await tab.page.route("**/s/", slowly)
    before = len(await stage.client.sessions(1000))
    await tab.send("the first")
    await tab.send("the second")
    await tab.page.locator("#attach").set_input_files(
        {"name": "note.txt", "mimeType": "text/plain", "buffer": b"later"}
    )
    await tab.prompt.press_sequentially("and the third")
    written.set()
    await expect(tab.messages).to_contain_text("One.")
    await expect(tab.messages).to_contain_text("Two.")
    await tab.page.unroute_all(behavior="wait")
    await expect(tab.prompt).to_have_value("and the third")
    await expect(tab.page.locator("#attachments")).to_contain_text("note.txt")
    assert len(await stage.client.sessions(1000)) == before + 1
    fresh = await stage.tab(context)
    await expect(fresh.prompt).to_have_value("")
    await fresh.open(tab.session_id)
    await expect(fresh.prompt).to_have_value("and the third")
