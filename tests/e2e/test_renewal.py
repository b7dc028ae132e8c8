"""What the socket brings does not take away what is being pressed, nor what waits for its answer."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import BrowserContext, Locator, Route, expect

from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage, Tab, hold
from tests.e2e.test_staging import EDITED, LINES, fresh, turned_on, writes
from tests.loopback.script import Chunks, ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

COUNT = """
() => {
  window.renewals = 0;
  const isBar = (node) => node.id === "staged-bar";
  new MutationObserver((list) => {
    window.renewals += list.flatMap((one) => [...one.addedNodes]).filter(isBar).length;
  }).observe(document.body, { childList: true, subtree: true });
}
"""


async def staged(stage: Stage, context: BrowserContext, name: str, *turns: Turn) -> tuple[Tab, Locator]:
    """A page with one staged edit in its bar."""
    fresh(stage, name)
    stage.plays(writes(name, EDITED), *turns)
    tab = await stage.tab(context, await stage.session(name))
    await turned_on(tab)
    await tab.send("Change it.")
    bar = tab.page.locator("#staged-bar")
    await expect(bar).to_contain_text("1 file staged")
    return tab, bar


async def seen(stage: Stage, tab: Tab, title: str) -> None:
    """An event of the session that changes nothing in the bar, and that the page has shown."""
    await stage.client.http.patch(f"/session/{tab.session_id}", json={"title": title})
    await expect(tab.page.locator("#title")).to_contain_text(title)


async def test_what_did_not_change_is_not_renewed(stage: Stage, context: BrowserContext) -> None:
    tab, bar = await staged(stage, context, "still.txt", Turn(text="Staged."))
    await tab.idle()
    await seen(stage, tab, "first of them")
    await tab.page.evaluate(COUNT)
    keep = bar.get_by_role("button", name="Keep all")
    await keep.focus()
    for number in range(3):
        await seen(stage, tab, f"title {number}")
    assert await tab.page.evaluate("window.renewals") == 0
    await expect(keep).to_be_focused()


async def test_what_is_pressed_stays_until_it_is_let_go(stage: Stage, context: BrowserContext) -> None:
    second = writes("pressed-too.txt", "new\n")
    tab, bar = await staged(
        stage,
        context,
        "pressed.txt",
        Turn(text=["Staged. ", Wait("pressed")], tools=second.tools),
        Turn(text="Both."),
    )
    keep = bar.get_by_role("button", name="Keep all")
    box = await keep.bounding_box()
    assert box
    await tab.page.mouse.move(box["x"] + 5, box["y"] + 5)
    await tab.page.mouse.down()
    stage.model.gate("pressed").open()
    await expect(tab.messages).to_contain_text("Both.")
    await tab.idle()
    await expect(bar).to_contain_text("1 file staged")
    async with tab.page.expect_request("**/staging/keep"):
        await tab.page.mouse.up()
    await expect(tab.page.locator("#toasts")).to_contain_text("Kept 1 file.")
    await expect(bar).to_contain_text("1 file staged")
    assert (stage.project / "pressed.txt").read_text() == EDITED
    assert not (stage.project / "pressed-too.txt").exists()


async def test_what_is_said_in_answer_is_seen_though_its_button_was_renewed(
    stage: Stage, context: BrowserContext
) -> None:
    tab, bar = await staged(stage, context, "answered.txt", Turn(text="Staged."))
    await tab.idle()
    mine = LINES.replace("line 2\n", "mine\n")
    (stage.project / "answered.txt").write_text(mine)
    held = await hold(tab.page, "**/staging/keep")
    await bar.get_by_role("button", name="Keep all").click()
    await held.asked.wait()
    await seen(stage, tab, "while it is asked")
    await stage.client.http.post(
        f"/session/{tab.session_id}/message",
        json={"noReply": True, "parts": [{"type": "text", "text": "more"}]},
    )
    await expect(tab.messages).to_contain_text("more")
    held.free.set()
    await expect(bar.get_by_role("alert")).to_contain_text("the same lines have been changed since")


async def test_a_fault_is_said_though_its_button_was_renewed(stage: Stage, context: BrowserContext) -> None:
    provokes(context, "/staging/keep")
    tab, bar = await staged(stage, context, "faulty.txt", Turn(text="Staged."))
    await tab.idle()
    sent, gate = asyncio.Event(), asyncio.Event()

    async def fail(route: Route) -> None:
        sent.set()
        await gate.wait()
        await route.fulfill(status=500)

    await tab.page.route("**/staging/keep", fail)
    await bar.get_by_role("button", name="Keep all").click()
    await sent.wait()
    await seen(stage, tab, "while it fails")
    gate.set()
    await expect(tab.page.locator("#toasts")).to_contain_text("That did not work (500)")


async def test_what_comes_before_the_answer_to_a_request_without_one_is_shown(
    stage: Stage, context: BrowserContext
) -> None:
    """A page says that it was read, and hears so before its request has ended."""
    stage.plays(Turn(text=["Begun. ", Wait("read"), "Ended."]))
    session = await stage.session("is read")
    tab = await stage.tab(context, session)
    gate = asyncio.Event()

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        await gate.wait()
        await route.fulfill(response=answer)

    await tab.page.route("**/read", hold)
    await tab.send("Go.")
    await expect(tab.messages).to_contain_text("Begun.")
    stage.model.gate("read").open()
    async with tab.page.expect_request("**/read"):
        pass
    await expect(tab.item(session)).not_to_have_attribute("data-unread", "")
    await seen(stage, tab, "after it was read")
    gate.set()
    await expect(tab.page.locator("#activity:not([data-unread])")).to_be_attached()


async def test_an_answer_waits_until_what_is_pressed_is_let_go(stage: Stage, context: BrowserContext) -> None:
    """The dialog grows or shrinks by it: the button would be elsewhere."""
    stage.plays(Turn(text="Said."))
    tab = await stage.tab(context, await stage.session("is forked"))
    await tab.send("Say it.")
    await expect(tab.messages).to_contain_text("Said.")
    await tab.idle()
    held = await hold(tab.page, "**/fork/files**")
    await tab.send("/fork")
    button = tab.dialog.get_by_role("button", name="Fork", exact=True)
    await button.hover()
    box = await button.bounding_box()
    assert box
    await tab.page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 2)
    await tab.page.mouse.down()
    async with tab.page.expect_event("requestfinished"):
        held.free.set()
    await tab.page.evaluate("() => new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))")
    await tab.page.mouse.up()
    await expect(tab.page.locator("#title")).to_have_text("is forked (fork #1)")


async def test_text_that_streams_draws_nothing_from_under_the_pointer(
    stage: Stage, context: BrowserContext
) -> None:
    long: Chunks = ["Well. ", Wait("held"), "\n\nmore" * 80, Wait("seen"), "\n\nThe end."]
    stage.plays(
        Turn(tools=[ToolUse("bash", {"command": "echo pressed", "description": "Say it"})]), Turn(text=long)
    )
    tab = await stage.tab(context, await stage.session("streams below"))
    await tab.send("Go.")
    await expect(tab.messages).to_contain_text("Well.")
    card = tab.messages.locator(".tool details").first
    await card.locator("summary").hover()
    await tab.page.mouse.down()
    stage.model.gate("held").open()
    await expect(tab.messages.get_by_text("more").nth(70)).to_be_attached()
    await tab.page.mouse.up()
    await expect(card).to_have_attribute("open", "")
    stage.model.gate("seen").open()
    await expect(tab.messages.get_by_text("The end.")).to_be_in_viewport()
    await tab.idle()
