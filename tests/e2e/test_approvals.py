"""The inbox of approvals on every page, and its answers: by keyboard, from elsewhere, too late."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, WebSocketRoute, expect

from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage, hold, ready
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

NOTIFIED = """
window.Notification = class {
  static permission = "default"; static asked = 0; static shown = [];
  static async requestPermission() { this.asked += 1; return (this.permission = "granted"); }
  constructor(title, { body }) { Object.assign(this, { title, body }); Notification.shown.push(this); }
  close() {}
};
Object.defineProperty(document, "hidden", { get: () => Boolean(window.isHidden) });
"""
ERRAND = {"description": "look around", "prompt": "Look around.", "subagent_type": "general"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def alone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A server on which nothing waits but what these tests ask."""
    project = repository(tmp_path_factory.mktemp("alone") / "project")
    async with Stage(tmp_path_factory.mktemp("home"), project, permission=ASKED) as stage:
        yield stage


def touch(name: str) -> ToolUse:
    return ToolUse("bash", {"command": f"touch {name}"})


async def elsewhere(stage: Stage, page: Page) -> None:
    """Go to a page that shows no session."""
    await page.goto(f"{stage.server.url}/?choose")


@pytest.mark.long
async def test_a_subagents_request_is_answered_on_another_page(alone: Stage, context: BrowserContext) -> None:
    alone.plays(
        Turn(tools=[ToolUse("task", ERRAND)]),
        Turn(tools=[touch("below")]),
        Turn(text="Looked."),
        Turn(text="Done."),
    )
    tab = await alone.tab(context, await alone.session("sends one"))
    other = (await alone.tab(context)).page
    await elsewhere(alone, other)
    await expect(other).to_have_title("Overview · opencode-web")
    await tab.send("Send it.")
    await expect(other).to_have_title("(1) Overview · opencode-web")
    await expect(other.locator("#inbox-news")).to_contain_text("Run this command? touch below")
    button = other.get_by_role("button", name="Approvals: 1 waits for you")
    await button.click()
    entry = other.get_by_role("dialog", name="Waiting for you").locator(".inbox-entry")
    await expect(entry).to_contain_text("asked by look around (@general subagent)")
    await expect(other.locator(".inbox-group h3")).to_contain_text("sends one")
    assert not (alone.project / "below").exists()
    await entry.get_by_role("button", name="Allow once").click()
    await expect(other.locator("#inbox-list")).to_contain_text("Nothing waits for you")
    await expect(other).to_have_title("Overview · opencode-web")
    await expect(tab.messages).to_contain_text("Done.")
    await expect(tab.page).to_have_title(re.compile("^sends one"))
    assert (alone.project / "below").exists()


async def test_the_keyboard_stays_when_a_session_is_renamed(alone: Stage, context: BrowserContext) -> None:
    alone.plays(Turn(tools=[touch("renamed")]), Turn(text="Done."))
    tab = await alone.tab(context, await alone.session("before"))
    await tab.send("Make it.")
    await expect(tab.permissions).to_be_visible()
    await tab.page.locator("#inbox-button").click()
    head = tab.page.locator(".inbox-head")
    await expect(head).to_be_focused()
    renamed = {"title": "after"}
    await alone.client.http.patch(f"/session/{tab.session_id}", json=renamed)
    await expect(tab.page.locator(".inbox-group h3")).to_contain_text("after")
    await expect(head).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await tab.stop.click()
    await tab.idle()


async def test_by_keyboard_alone(alone: Stage, context: BrowserContext) -> None:
    alone.plays(Turn(tools=[touch("first")]))
    tab = await alone.tab(context, await alone.session("one"))
    await tab.send("Make it.")
    await expect(tab.permissions).to_be_visible()
    one = tab.session_id
    alone.plays(Turn(tools=[touch("second")]), Turn(text="I see."), Turn(text="Made."))
    tab = await alone.tab(context, await alone.session("two"))
    page = tab.page
    await tab.send("Make another.")
    await expect(page).to_have_title(re.compile(r"^\(2\) two"))
    await tab.prompt.fill("Not now")
    await tab.prompt.press("!")
    await expect(tab.prompt).to_have_value("Not now!")
    await tab.prompt.fill("/inbox")
    await page.keyboard.press("Enter")
    heads = page.locator(".inbox-head")
    await expect(heads.nth(0)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("#inbox")).to_be_hidden()
    await page.locator("#messages").evaluate("() => document.activeElement.blur()")
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.keyboard.press("ArrowDown")
    await expect(heads.nth(1)).to_be_focused()
    await ready(page.locator(".inbox-entry"))
    await page.keyboard.press("x")
    words = page.locator("#inbox").get_by_label("Why not")
    await expect(words).to_be_focused()
    await page.keyboard.type("a better name")
    await ready(page.locator(".inbox-entry, .permission"))
    await page.keyboard.press("Enter")
    await expect(heads).to_have_count(1)
    await expect(heads).to_be_focused()
    await expect(tab.messages).to_contain_text("I see.")
    await ready(page.locator(".inbox-entry"))
    await page.keyboard.press("Enter")
    await expect(page.locator("#inbox .permission .command")).to_have_text("touch first")
    await ready(page.locator(".inbox-entry, #inbox .permission"))
    await page.keyboard.press("a")
    await expect(page.locator("#inbox-list")).to_contain_text("Nothing waits")
    await expect(page.locator("#inbox-title")).to_be_focused()
    await expect(tab.item(one).locator(".dot")).to_have_attribute("data-state", "idle")
    assert "a better name" in str(alone.model.requests)
    assert not (alone.project / "second").exists()


async def test_an_answer_that_comes_too_late(alone: Stage, context: BrowserContext) -> None:
    """The second tab hears nothing more, as one does whose computer has just woken up."""
    alone.plays(Turn(tools=[touch("late")]), Turn(text="Made."))
    tab = await alone.tab(context, await alone.session("answered once"))
    await tab.send("Make it.")
    await expect(tab.permissions).to_be_visible()
    asleep = await context.new_page()

    def silent(socket: WebSocketRoute) -> None:
        socket.send("{}")

    await asleep.route_web_socket(re.compile("/ws/"), silent)
    await asleep.goto(tab.page.url)
    card = asleep.locator("#permissions .permission")
    await card.get_by_label("Why not").fill("words of mine")
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("Made.")
    await tab.idle()  # nothing is left to stop
    await card.get_by_role("button", name="Reject").click()
    toast = asleep.locator("#toasts .toast")
    await expect(toast).to_contain_text("“touch late” was answered already: allowed once, in another window")
    await expect(toast.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(card.get_by_label("Why not")).to_have_value("words of mine")
    assert (alone.project / "late").exists()


@pytest.mark.long
async def test_who_rejected_too_late_is_told_and_stops_what_runs(
    alone: Stage, context: BrowserContext
) -> None:
    alone.plays(Turn(tools=[ToolUse("bash", {"command": "touch raced && sleep 600"})]), Turn(text="Made."))
    tab = await alone.tab(context, await alone.session("two answers"))
    other = await alone.tab(context, tab.session_id)
    await tab.send("Make it.")
    held = await hold(other.page, "**/reply")
    await other.permissions.get_by_role("button", name="Reject").click()
    await held.asked.wait()
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.permissions).to_have_count(0)
    held.free.set()
    toast = other.page.locator("#toasts .toast")
    await expect(toast).to_contain_text("answered already: allowed once, in another window")
    await expect(other.permissions).to_have_count(0)
    await toast.get_by_role("button", name="Stop the turn").click()
    await expect(toast).to_have_count(0)
    await other.idle()


async def test_what_comes_takes_nothing_from_who_writes(alone: Stage, context: BrowserContext) -> None:
    alone.plays(
        Turn(tools=[touch("early"), ToolUse("task", ERRAND)]), Turn(tools=[touch("later")]), Turn(text=".")
    )
    tab = await alone.tab(context, await alone.session("two at once"))
    await tab.send("Make them.")
    await expect(tab.permissions).to_have_count(2)
    first, second = tab.permissions.first, tab.permissions.last
    await second.get_by_label("Why not").press_sequentially("half a tho")
    await second.get_by_role("button", name="Allow…").click()
    pattern = second.get_by_label("Pattern of the rule")
    await pattern.fill("touch l")
    await first.get_by_role("button", name="Allow once").dispatch_event("click")
    await expect(tab.permissions).to_have_count(1)
    await expect(pattern).to_be_focused()
    await tab.page.keyboard.type("a*")
    await expect(tab.permissions.get_by_label("Why not")).to_have_value("half a tho")
    await expect(pattern).to_have_value("touch la*")
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await tab.idle()


async def hide(page: Page, hidden: bool) -> None:
    """Whether a page is looked at is known to the others once it has, or has let go of, what says so."""
    asked = "hidden => { window.isHidden = hidden; document.dispatchEvent(new Event('visibilitychange')); }"
    await page.evaluate(asked, hidden)
    held = (
        "async hidden => hidden || (await navigator.locks.query()).held.some(one => one.name === 'looked-at')"
    )
    await page.wait_for_function(held, arg=hidden)


@pytest.mark.long
async def test_a_notification_while_nobody_looks(alone: Stage, context: BrowserContext) -> None:
    """The browser's own part is played: a page of a test is never hidden, and nobody sees a notification."""
    await context.add_init_script(NOTIFIED)
    alone.plays(Turn(tools=[touch("unseen")]), Turn(text="."), Turn(tools=[touch("seen")]), Turn(text="."))
    tab = await alone.tab(context, await alone.session("notifies"))
    page = (await alone.tab(context)).page
    await elsewhere(alone, page)
    await page.get_by_role("button", name="Approvals: nothing waits").click()
    notify = page.get_by_role("button", name="Notify me")
    assert await page.evaluate("Notification.asked") == 0
    await notify.click()
    await expect(page.get_by_role("button", name="Notifies you")).to_have_attribute("aria-pressed", "true")
    near = (await alone.tab(context)).page
    await near.evaluate("Notification.permission = 'granted'")
    await hide(near, True)
    for name, hidden in (("unseen", True), ("seen", False)):
        await hide(page, hidden)
        await hide(tab.page, True)
        await tab.send(f"Make {name}.")
        await expect(page.locator(".inbox-line")).to_contain_text(name)
        await tab.permissions.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".inbox-line")).to_have_count(0)
        await tab.idle()
        for one in (page, near):
            await one.wait_for_function("() => Notification.shown.length === 2")
    shown = await page.evaluate("Notification.shown.map(({ title, body }) => ({ title, body }))")
    assert shown == [
        {"title": "Run this command?", "body": "touch unseen · notifies · project"},
        {"title": "Done", "body": "notifies · project"},
    ]
    await page.evaluate("Notification.shown[0].onclick()")
    await expect(page).to_have_url(re.compile(tab.session_id))
    await near.evaluate("window.mark = 'this document'; Notification.shown[0].onclick()")
    await expect(near).to_have_url(re.compile(tab.session_id))
    assert await near.evaluate("window.mark") == "this document"
    await tab.idle()


async def test_a_question_is_answered_in_the_inbox(alone: Stage, context: BrowserContext) -> None:
    options = [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    alone.plays(Turn(tools=[ToolUse("question", asked)]), Turn(text="Blue it is."))
    tab = await alone.tab(context, await alone.session("asks"))
    page = (await alone.tab(context)).page
    await elsewhere(alone, page)
    await tab.send("Ask me.")
    await page.get_by_role("button", name="Approvals: 1 waits for you").click()
    await page.locator(".inbox-head").click()
    form = page.locator("#inbox .question")
    await form.get_by_role("button", name="Answer").click()
    await expect(form.get_by_role("alert")).to_contain_text("has no answer yet")
    await form.get_by_label("Blue").check()
    await form.get_by_role("button", name="Answer").click()
    await expect(tab.messages).to_contain_text("Blue it is.")
    await expect(page.locator("#inbox-list")).to_contain_text("Nothing waits for you")
