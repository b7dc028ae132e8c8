"""A page shows the truth whatever happens between it and the server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, WebSocketRoute, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Chunks, ToolUse, Turn, Wait
from tests.server import until

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

TEXT: Chunks = [
    "# Begin\n\nfirst ",
    Wait("middle"),
    "second\n\n```py\nx = ",
    Wait("code"),
    "1\n```\n\nthe end",
]
WHOLE = "Begin first second pyCopyx = 1 the end"


@pytest.mark.long
async def test_reload_and_a_second_tab_in_mid_stream(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(reasoning="Let me think.", text=TEXT))
    session = await stage.session("streams")
    tab = await stage.tab(context, session)
    await tab.send("Speak.")
    await stage.model.gate("middle").reached()
    answer = tab.page.locator(".message.assistant .part.text")
    await expect(answer).to_have_text("Begin first")
    await tab.page.reload()
    other = await stage.tab(context, session)
    answers = [tab.page.locator(".part.text"), other.page.locator(".part.text")]
    for shown in answers:
        await expect(shown).to_have_text("Begin first")
    stage.model.gate("middle").open()
    await stage.model.gate("code").reached()
    for shown in answers:
        await expect(shown.locator("pre")).to_have_text("x =")
    await tab.page.reload()
    stage.model.gate("code").open()
    for page in (tab, other):
        await page.idle()
        await expect(page.page.locator(".part.text")).to_have_text(WHOLE)
        await expect(page.page.locator(".reasoning summary")).to_contain_text("Thought for")


async def test_a_dropped_socket_catches_up(stage: Stage, context: BrowserContext) -> None:
    routes: list[WebSocketRoute] = []
    blocked = asyncio.Event()

    async def through(route: WebSocketRoute) -> None:
        routes.append(route)
        if blocked.is_set():
            await route.close()
        else:
            route.connect_to_server()

    await context.route_web_socket("**/ws/**", through)
    stage.plays(Turn(text=["before ", Wait("dropped"), "after"]))
    tab = await stage.tab(context, await stage.session("drops"))
    await tab.send("Speak.")
    await expect(tab.page.locator(".part.text")).to_have_text("before")
    blocked.set()
    await routes[-1].close()
    await expect(tab.connection).to_contain_text("Reconnecting in")
    async with stage.client.events() as events:
        stage.model.gate("dropped").open()
        await until(events, "session.idle", sessionID=tab.session_id)
    await expect(tab.page.locator(".part.text")).to_have_text("before")
    blocked.clear()
    await tab.connected()
    await expect(tab.page.locator(".part.text")).to_have_text("before after")
    await tab.idle()


async def test_what_is_selected_stays_selected_while_it_is_written(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(
        Turn(text=["Before.\n\nOne two ", Wait("grows"), "three *four* ", Wait("closes"), "five.\n\nSix."])
    )
    tab = await stage.tab(context, await stage.session("selects"))
    await tab.send("Speak.")
    answer = tab.page.locator(".message.assistant .part.text")
    await expect(answer).to_have_text("Before. One two")
    selected = "getSelection().toString()"
    await answer.get_by_text("One two").dblclick(position={"x": 5, "y": 5})
    assert (await tab.page.evaluate(selected)).strip() == "One"
    for gate, text in (
        ("grows", "Before. One two three four"),
        ("closes", "Before. One two three four five. Six."),
    ):
        stage.model.gate(gate).open()
        await expect(answer).to_have_text(text)
        assert (await tab.page.evaluate(selected)).strip() == "One"
    await tab.idle()
    assert (await tab.page.evaluate(selected)).strip() == "One"


SCANS = """
window.scans = [];
const { querySelectorAll } = Document.prototype;
Document.prototype.querySelectorAll = function (selector) {
  if (window.event?.type.startsWith("page:") && !selector.startsWith("#")) window.scans.push(selector);
  return querySelectorAll.call(this, selector);
};
"""


async def test_a_frame_costs_no_search_of_the_whole_page(stage: Stage, context: BrowserContext) -> None:
    """Which a long conversation would pay for at each of its frames."""
    await context.add_init_script(SCANS)
    call = ToolUse("bash", {"command": "echo begun; exec sleep 600"})
    stage.plays(Turn(text=["One ", Wait("frame"), "two."], tools=[call]))
    tab = await stage.tab(context, await stage.session("frames"))
    await tab.send("Speak.")
    await expect(tab.messages).to_contain_text("One")
    stage.model.gate("frame").open()
    await expect(tab.tool("sleep 600").locator(".live")).to_contain_text("begun")
    await expect(tab.tool("sleep 600").locator("[data-since]")).to_contain_text(" s")
    await tab.stop.click()
    await tab.idle()
    assert await tab.page.evaluate("window.scans") == []


FRAMES = """
window.frames_told = [];
for (const type of ["page:changed", "page:grown"]) {
  const tell = () => window.frames_told.push([type, document.getElementById("messages").textContent]);
  document.addEventListener(type, tell);
}
"""


async def test_more_of_an_answer_is_no_change_of_the_page(stage: Stage, context: BrowserContext) -> None:
    """What looks at the page when it has changed need not do so at each frame of a text."""
    await context.add_init_script(FRAMES)
    stage.plays(Turn(text=["One ", Wait("more"), "two ", Wait("last"), "three."]))
    tab = await stage.tab(context, await stage.session("grows"))
    await tab.send("Speak.")
    await expect(tab.messages).to_contain_text("One")
    stage.model.gate("more").open()
    await expect(tab.messages).to_contain_text("two")
    stage.model.gate("last").open()
    await expect(tab.messages).to_contain_text("three.")
    await tab.idle()
    told = await tab.page.evaluate("window.frames_told")
    assert next(kind for kind, text in told if "two" in text) == "page:grown"
    assert told[-1][0] == "page:changed"


@pytest.mark.long
async def test_killed_in_mid_turn_and_started_again(
    context: BrowserContext, home: Path, project: Path
) -> None:
    """In a call, and in the answer that goes on: each time one click goes on with the same turn."""
    async with Stage(home, project) as stage:
        call = ToolUse("bash", {"command": "echo begun | tee -a ran.txt; exec sleep 600"})
        talks = Turn(text=["I look", Wait("never")])
        stage.plays(Turn(text="kept", tools=[call]), talks, Turn(text=" and see."), Turn(text="I know."))
        tab = await stage.tab(context, await stage.session("killed"))
        await tab.send("Sleep.")
        await expect(tab.tool("sleep 600").locator(".live")).to_contain_text("begun")
        port = stage.server.url.rpartition(":")[2]
        stage.server.kill()
        await expect(tab.connection).not_to_have_attribute("data-state", "connected")
        await tab.send("Are you there?")
        await expect(tab.page.locator("#unreached")).to_contain_text("cannot be reached")
        await expect(tab.prompt).to_have_value("Are you there?")
        await tab.prompt.press("End")
        await tab.page.keyboard.type(" Hello?")  # what was changed is not sent by itself
        await tab.page.evaluate("void htmx.ajax('GET', '/pickers/models', '#toasts')")  # as the scripts ask
        await expect(tab.page.locator(".toast").first).to_contain_text("cannot be reached")
        go_on = tab.page.get_by_role("button", name="Go on")
        await asyncio.to_thread(stage.server.start, "--port", port)
        await tab.connected()
        await expect(tab.tool("sleep 600")).to_contain_text("Interrupted")
        await expect(tab.page.get_by_text("kept", exact=True)).to_have_count(1)
        await expect(tab.messages).to_contain_text("Interrupted: the server ended")
        row = tab.item(tab.session_id)
        await expect(row.locator(".dot")).to_have_attribute("data-state", "interrupted")
        await expect(row.get_by_text("Interrupted", exact=True)).to_be_visible()
        await go_on.click()
        await expect(tab.messages).to_contain_text("I look")
        await expect(go_on).to_have_count(0)
        stage.server.kill()
        await asyncio.to_thread(stage.server.start, "--port", port)
        await tab.connected()
        await go_on.click()
        await expect(tab.messages).to_contain_text("and see.")
        await tab.idle()
        await expect(go_on).to_have_count(0)
        assert (project / "ran.txt").read_text() == "begun\n"
        await expect(tab.page.locator("#unreached")).to_be_hidden()
        await expect(tab.prompt).to_have_value("Are you there? Hello?")
        await tab.prompt.press("Enter")
        await expect(tab.messages).to_contain_text("I know.")
        await expect(tab.page.locator(".message.user")).to_have_count(2)
        await same_after_reload(tab.page)


async def same_after_reload(page: Page) -> None:
    await expect(page.locator("#activity")).to_have_attribute("data-busy", "false")
    shown = await page.locator("#messages").inner_text()
    await page.reload()
    assert await page.locator("#messages").inner_text() == shown
