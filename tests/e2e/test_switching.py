"""From session to session in one document: what a page load would show, without what it loads."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import BrowserContext, FilePayload, Page, Request, Route, expect

from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage, Tab
from tests.e2e.test_review import file_of, turn
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

MARK = "window.mark = 'this document'"
ICON = re.compile("/icon[^/]*$|/manifest")
"""The browser looks it up at each address, in what it keeps."""
MANY = 30
SLACK = 1.1
"""Of the nodes and listeners after many switches to those before: what the browser and its tools hold."""


async def visit(tab: Tab, session: str) -> None:
    """By a click in the list."""
    await tab.item(session).locator("a").first.click()
    await tab.page.wait_for_url(f"**/{session}")
    await tab.connected()


async def is_marked(page: Page) -> bool:
    return bool(await page.evaluate("window.mark === 'this document'"))


async def test_the_page_of_another_takes_the_place(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Said in the first."))
    first, second = await stage.session("The first"), await stage.session("The second")
    tab = await stage.tab(context, first)
    await turn(tab, stage, ToolUse("write", {"filePath": "switched.txt", "content": "made\n"}))
    await tab.page.evaluate(MARK)
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    await visit(tab, second)
    await expect(tab.page.locator("#title")).to_have_text("The second")
    await expect(tab.page).to_have_title(re.compile("The second · "))
    await expect(tab.messages).to_be_empty()
    await expect(tab.item(second).locator("[aria-current=page]")).to_have_count(1)
    await expect(tab.page.locator("#session-list [aria-current]")).to_have_count(1)
    await expect(tab.prompt).to_be_focused()
    await expect(tab.page.locator("#turn-news")).to_have_text("The second")
    await expect(tab.review).to_be_hidden()
    await expect(tab.page.locator("#agent-picker")).to_be_visible()
    assert await tab.page.evaluate("document.body.dataset.session") == second
    await visit(tab, first)
    await expect(tab.messages).to_contain_text("Done.")
    await expect(tab.review).to_be_visible()
    await expect(file_of(tab, "switched.txt")).to_have_count(1)
    assert await is_marked(tab.page)
    assert [url for url in asked if "/static/" in url and not ICON.search(url)] == []


async def test_each_turn_streams_into_its_own_page(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("streams a"), await stage.session("streams b")
    stage.plays(
        Turn(text=["alpha ", Wait("a"), "beta ", Wait("a2"), "gamma"]),
        Turn(text=["one ", Wait("b"), "two ", Wait("b2"), "three"]),
    )
    tab = await stage.tab(context, first)
    await tab.page.evaluate(MARK)
    await tab.send("Greek.")
    await expect(tab.messages).to_contain_text("alpha")
    await visit(tab, second)
    await tab.send("Count.")
    await expect(tab.messages).to_contain_text("one")
    stage.model.gate("a").open()
    await stage.model.gate("a2").reached()
    stage.model.gate("b").open()
    await expect(tab.messages).to_contain_text("one two")
    await expect(tab.page.locator("body")).not_to_contain_text("beta")
    await expect(tab.page.locator("#messages .message.assistant")).to_have_count(1)
    await visit(tab, first)
    await expect(tab.messages).to_contain_text("alpha beta")
    await expect(tab.page.locator("#stop")).to_be_visible()
    stage.model.gate("b2").open()
    stage.model.gate("a2").open()
    await tab.idle()
    await expect(tab.page.locator(".part.text")).to_have_text("alpha beta gamma")
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["Greek."])
    await visit(tab, second)
    await tab.idle()
    await expect(tab.page.locator(".part.text")).to_have_text("one two three")
    assert await is_marked(tab.page)


async def test_what_was_asked_for_does_not_land_in_another(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("asks"), await stage.session("does not ask")
    tab = await stage.tab(context, first)
    await turn(tab, stage, ToolUse("write", {"filePath": "late.txt", "content": "late\n"}))
    held: list[Route] = []
    come = asyncio.Event()

    async def hold(route: Route) -> None:
        held.append(route)
        come.set()

    await tab.page.route(f"**/s/{first}/fork**", hold)
    swap = "{target: '#states', source: '#states'}"
    await tab.page.evaluate(f"void htmx.ajax('POST', '/p/x/s/{first}/fork', {swap})")
    await come.wait()
    await visit(tab, second)
    await held[0].fulfill(status=200, body="<p id='stray'>stray</p>", content_type="text/html")
    stage.plays(Turn(text="Not strayed."))
    await tab.send("Go on.")
    await expect(tab.messages).to_contain_text("Not strayed.")
    await expect(tab.page.locator("#stray")).to_have_count(0)


async def test_text_that_is_not_sent_stays_with_its_session(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("drafts a"), await stage.session("drafts b")
    tab = await stage.tab(context, first)
    await tab.prompt.fill("for the first")
    note = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"note")
    await tab.page.locator("#attach").set_input_files(note)
    attached = tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")
    await expect(attached).to_contain_text("note.txt")
    await visit(tab, second)
    await expect(tab.prompt).to_have_value("")
    await expect(attached).to_have_count(0)
    await tab.prompt.press("!")
    await tab.prompt.fill("ls")
    await expect(tab.page.locator("#shell-mode")).to_be_visible()
    await tab.page.get_by_role("link", name="New session").click()
    await tab.page.wait_for_url("**/s/")
    await expect(tab.prompt).to_have_value("")
    await expect(tab.page.locator("#shell-mode")).to_be_hidden()
    await tab.prompt.fill("for a new one")
    await visit(tab, first)
    await expect(tab.prompt).to_have_value("for the first")
    await expect(attached).to_contain_text("note.txt")
    await visit(tab, second)
    await expect(tab.prompt).to_have_value("ls")
    await expect(tab.page.locator("#shell-mode")).to_be_visible()
    await tab.page.get_by_role("link", name="New session").click()
    await expect(tab.prompt).to_have_value("for a new one")
    await tab.prompt.fill("")


async def test_back_and_forward(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("behind"), await stage.session("ahead")
    tab = await stage.tab(context, first)
    await tab.page.evaluate(MARK)
    await visit(tab, second)
    await tab.page.get_by_role("link", name="New session").click()
    await expect(tab.page.locator("#title")).to_have_text("New session")
    await expect(tab.page.get_by_role("button", name="Changed files")).to_have_count(0)
    for title in ("ahead", "behind"):
        await tab.page.evaluate("history.back()")
        await expect(tab.page.locator("#title")).to_have_text(title)
    await tab.connected()
    assert tab.session_id == first
    await tab.page.evaluate("history.forward()")
    await expect(tab.page.locator("#title")).to_have_text("ahead")
    await tab.connected()
    assert tab.session_id == second
    stage.plays(Turn(text="Heard."))
    await tab.send("Do you hear me?")
    await expect(tab.messages).to_contain_text("Heard.")
    await tab.idle()
    assert await is_marked(tab.page)


async def test_the_first_prompt_of_a_new_session(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["Hello ", Wait("hello"), "there."]))
    tab = await stage.tab(context)
    await tab.page.evaluate(MARK)
    await tab.send("Greet me.")
    await tab.page.wait_for_url(re.compile("/s/ses_"))
    await expect(tab.messages).to_contain_text("Hello")
    await expect(tab.prompt).to_have_value("")
    await expect(tab.prompt).to_be_focused()
    await expect(tab.item(tab.session_id).locator("[aria-current=page]")).to_have_count(1)
    stage.model.gate("hello").open()
    await tab.idle()
    await expect(tab.page.locator(".part.text")).to_have_text("Hello there.")
    stage.plays(Turn(text="Again."))
    await tab.send("Again.")
    await expect(tab.messages.locator(".part.text")).to_have_text(["Hello there.", "Again."])
    assert await is_marked(tab.page)
    await tab.page.get_by_role("link", name="New session").click()
    await expect(tab.page.locator("#title")).to_have_text("New session")
    await expect(tab.prompt).to_have_value("")


async def test_choices_and_scope_are_those_of_the_page(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("scoped"), await stage.session("whole")
    tab = await stage.tab(context, first)
    await turn(tab, stage, ToolUse("write", {"filePath": "scope-a.txt", "content": "a\n"}))
    await tab.choose("agent", "plan")
    await tab.page.locator("#review-scope").select_option("turn")
    await expect(tab.page).to_have_url(re.compile("scope="))
    await visit(tab, second)
    await turn(tab, stage, ToolUse("write", {"filePath": "scope-b.txt", "content": "b\n"}))
    assert "scope=" not in tab.page.url
    await expect(tab.page.locator("#review-scope")).to_have_value("session")
    await expect(file_of(tab, "scope-b.txt")).to_have_count(1)
    await expect(file_of(tab, "scope-a.txt")).to_have_count(0)
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("build")
    await tab.page.evaluate("history.back()")
    await expect(tab.page.locator("#title")).to_have_text("scoped")
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("plan")
    await expect(tab.page.locator("#review-scope")).not_to_have_value("session")
    assert "scope=" in tab.page.url


async def test_what_is_not_of_a_session_stays(stage: Stage, context: BrowserContext) -> None:
    """The place in the list and its filter, notes, the inbox; what lies over the page goes."""
    sessions = [await stage.session(f"many {number}") for number in range(30)]
    tab = await stage.tab(context, sessions[-1])
    await tab.open(sessions[-1])  # the first page tells the time zone, and asks for its list anew
    listed = tab.page.locator("#session-list")
    await listed.evaluate("(list) => { list.scrollTop = 300; }")
    await tab.page.evaluate("document.getElementById('toasts').innerHTML = '<div class=toast>A note</div>'")
    await tab.page.locator("#agent-picker").click()
    await expect(tab.page.locator("#picker")).to_be_visible()
    there = listed.locator(".session-item a:not(.icon-button)")
    near = await there.evaluate_all(
        "(links) => links.findIndex((link) => link.getBoundingClientRect().top > 300)"
    )
    await tab.page.keyboard.press("Escape")
    await there.nth(near).click()
    await tab.connected()
    assert await listed.evaluate("(list) => list.scrollTop") == 300
    await expect(tab.page.locator(".toast")).to_have_text("A note")
    await expect(tab.page.locator(":popover-open")).to_have_count(0)
    await tab.page.locator("#filter").fill("many 1")
    await expect(tab.item(sessions[2])).to_have_count(0)
    await visit(tab, sessions[12])
    await expect(tab.item(sessions[12]).locator("[aria-current=page]")).to_have_count(1)
    await expect(tab.item(sessions[2])).to_have_count(0)
    await expect(tab.page.locator("#filter")).to_have_value("many 1")


async def test_a_drawer_closes_over_what_was_chosen(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("narrow a"), await stage.session("narrow b")
    tab = await stage.tab(context, first)
    await tab.page.set_viewport_size({"width": 390, "height": 844})
    await tab.page.get_by_role("button", name="Sessions and files", exact=True).click()
    await visit(tab, second)
    await expect(tab.page.locator("#layout")).not_to_have_attribute("data-drawer", re.compile("."))
    await expect(tab.page.locator("#main")).not_to_have_attribute("inert", re.compile(".*"))
    await expect(tab.page.locator("#title")).to_be_visible()


async def test_terminals_stay_connected(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("types"), await stage.session("looks")
    provokes(context, "/api/pty/")  # a terminal of a test before, which has ended
    tab = await stage.tab(context, first)
    sockets: list[str] = []
    await tab.page.evaluate(MARK)
    await tab.page.keyboard.press("Control+Backquote")
    rows = tab.page.locator(".terminal-view:not([hidden]) .xterm-rows")
    await expect(tab.page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await tab.page.keyboard.type("A=4; echo is $((A + 2))\n")
    await expect(rows).to_contain_text("is 6")
    tab.page.on("websocket", lambda socket: sockets.append(socket.url))
    await visit(tab, second)
    await expect(rows).to_contain_text("is 6")
    await tab.page.get_by_role("textbox", name="Terminal Terminal").focus()
    await tab.page.keyboard.type("echo still $((A + 1))\n")
    await expect(rows).to_contain_text("still 5")
    assert [url for url in sockets if "/api/pty" in url] == []
    assert await is_marked(tab.page)
    for terminal in (await stage.client.http.get("/api/pty")).json()["data"]:
        await stage.client.http.delete(f"/api/pty/{terminal['id']}")


@pytest.mark.parametrize("fault", ["gone", "signed out", "other files"])
async def test_what_cannot_be_taken_is_loaded(stage: Stage, context: BrowserContext, fault: str) -> None:
    provokes(context, "status of 404")
    first, second = await stage.session("stays"), await stage.session(f"is {fault}")
    tab = await stage.tab(context, first)
    await tab.page.evaluate(MARK)
    kinds: list[str] = []

    async def spoil(route: Route, request: Request) -> None:
        kinds.append(request.resource_type)
        if request.resource_type == "document":
            await route.continue_()
        elif fault == "gone":
            await route.fulfill(status=404, body="gone")
        elif fault == "signed out":
            await route.fulfill(status=200, body="<title>Sign in</title>", content_type="text/html")
        else:
            page = re.sub(r"/static/\w+/", "/static/x/", await (await route.fetch()).text())
            await route.fulfill(status=200, body=page, content_type="text/html")

    await tab.page.route(f"**/s/{second}", spoil)
    await visit(tab, second)
    await expect(tab.page.locator("#title")).to_have_text(f"is {fault}")
    assert kinds == ["fetch", "document"]
    assert not await is_marked(tab.page)


async def test_a_click_for_another_tab_is_the_browsers(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("this tab"), await stage.session("another tab")
    tab = await stage.tab(context, first)
    link = tab.item(second).get_by_role("link")
    async with context.expect_page() as opened:
        await link.click(button="middle")
    page = await opened.value
    await expect(page.locator("#title")).to_have_text("another tab")
    async with context.expect_page() as opened:
        await link.click(button="right")
        await tab.page.get_by_role("menuitem", name="Open in a new tab").click()
    page = await opened.value
    await expect(page.locator("#title")).to_have_text("another tab")
    await expect(tab.page.locator("#title")).to_have_text("this tab")
    assert tab.session_id == first


async def test_the_last_of_quick_clicks_counts(stage: Stage, context: BrowserContext) -> None:
    first, second, third = [await stage.session(f"quick {number}") for number in range(3)]
    tab = await stage.tab(context, first)
    held: list[Route] = []
    come = asyncio.Event()

    async def hold(route: Route) -> None:
        held.append(route)
        come.set()

    await tab.page.route(f"**/s/{second}", hold)
    await tab.item(second).locator("a").first.click()
    await come.wait()
    await visit(tab, third)
    await expect(tab.page.locator("#title")).to_have_text("quick 2")
    assert await tab.page.evaluate("history.length") == 3, "about:blank, the first, the third"


async def test_a_row_that_was_clicked_and_is_gone_is_let_go(stage: Stage, context: BrowserContext) -> None:
    first, second = await stage.session("stays in the list"), await stage.session("leaves the list")
    tab = await stage.tab(context, first)
    await tab.page.evaluate(
        "(id) => { window.row = new WeakRef(document.getElementById(id)); }", f"{second}-item"
    )
    await visit(tab, second)
    await tab.page.go_back()
    await tab.page.wait_for_url(f"**/{first}")
    await tab.connected()
    (await stage.client.http.delete(f"/session/{second}")).raise_for_status()
    await expect(tab.item(second)).to_have_count(0)
    devtools = await context.new_cdp_session(tab.page)
    await devtools.send("HeapProfiler.collectGarbage")
    assert await tab.page.evaluate("window.row.deref()?.id ?? null") is None


@pytest.mark.long
async def test_the_document_does_not_grow(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="# Long\n\n" + "Words. " * 200), Turn(text="Short."))
    first, second = await stage.session("grows"), await stage.session("does not")
    tab = await stage.tab(context, first)
    for session in (first, second):
        await visit(tab, session)
        await turn(tab, stage, ToolUse("write", {"filePath": f"{session}.txt", "content": "x\n" * 50}))
    devtools = await context.new_cdp_session(tab.page)
    await devtools.send("Performance.enable")

    async def counted() -> dict[str, Any]:
        await devtools.send("HeapProfiler.collectGarbage")
        told = await devtools.send("Performance.getMetrics")
        return {one["name"]: one["value"] for one in told["metrics"]}

    async def switch(times: int) -> dict[str, Any]:
        for number in range(times):
            await visit(tab, (first, second)[number % 2])
            await expect(tab.review.locator(".file")).to_have_count(1)
            await expect(tab.page.locator("#choice [name=agent]")).to_have_count(1)
        return await counted()

    before = await switch(4)
    after = await switch(MANY)
    for name in ("Nodes", "JSEventListeners"):
        assert after[name] <= before[name] * SLACK, (name, before[name], after[name])
