"""Prompts that wait, in the page: steer or queue, the list and its buttons by keyboard, edits too late."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, FilePayload, Locator, Route, expect

from tests.e2e.conftest import watch
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def busy(stage: Stage, context: BrowserContext, gate: str, *then: Turn) -> Tab:
    """A page whose turn stands at a gate."""
    stage.plays(Turn(text=["I work", Wait(gate)]), *then)
    tab = await stage.tab(context, await stage.session(gate))
    await tab.send("Begin.")
    await expect(tab.page.locator(".part.text")).to_have_text("I work")
    return tab


def rows(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Waiting prompts").get_by_role("listitem")


async def texts(tab: Tab, *expected: str) -> None:
    await expect(rows(tab).locator(".queued-text")).to_have_text(list(expected))


async def deliver(tab: Tab, way: str) -> None:
    """Choose what Enter does while the agent works."""
    await tab.page.locator("#delivery-button").click()
    await tab.page.get_by_role("menuitemradio", name=way).click()


@pytest.mark.long
async def test_the_choice_is_offered_while_the_agent_works(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "choice")
    button = tab.page.locator("#delivery-button")
    steer = tab.page.get_by_role("menuitemradio", name="Steer now")
    queue = tab.page.get_by_role("menuitemradio", name="Queue")
    await expect(button).to_have_text("While the agent works: Queue")
    await expect(tab.page.get_by_role("button", name="Send")).to_have_accessible_description("Queue")
    await tab.send("waits")
    await tab.prompt.fill("steers")
    await tab.prompt.press("Alt+Enter")
    await texts(tab, "steers", "waits")
    await expect(rows(tab).locator(".label")).to_have_text(["Steers", "Queued"])
    await button.press("Enter")
    await expect(queue).to_be_checked()
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("ArrowDown")
    await expect(steer).to_be_focused()
    await tab.page.keyboard.press("Enter")
    await expect(button).to_be_focused()
    await expect(button).to_have_text("While the agent works: Steer now")
    await expect(steer).to_be_hidden()
    await tab.send("steers too")
    await tab.prompt.fill("waits too")
    await tab.prompt.press("Control+Enter")
    await texts(tab, "steers", "steers too", "waits", "waits too")
    await tab.page.reload()
    await expect(button).to_have_text("While the agent works: Steer now")
    await deliver(tab, "Queue")
    for row in range(4):
        await rows(tab).first.get_by_role("button", name="Withdraw").click()
        await expect(rows(tab)).to_have_count(3 - row)
    stage.model.gate("choice").open()
    await tab.idle()
    await expect(button).to_be_hidden()


async def test_a_steer_is_seen_between_two_steps(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(text=["First.", Wait("steered")], tools=[ToolUse("list", {})]),
        Turn(text="As you say."),
    )
    tab = await stage.tab(context, await stage.session("steers"))
    await tab.send("Begin.")
    await expect(tab.page.locator(".part.text")).to_have_text("First.")
    await tab.prompt.fill("Another way.")
    await tab.prompt.press("Alt+Enter")
    await texts(tab, "Another way.")
    stage.model.gate("steered").open()
    await tab.idle()
    await expect(rows(tab)).to_have_count(0)
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["Begin.", "Another way."])
    await expect(tab.page.locator(".message").last).to_contain_text("As you say.")


async def test_the_list_works_by_keyboard(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "keyboard", Turn(text="A."), Turn(text="B."))
    for words in ("one", "two", "three"):
        await tab.send(words)
    await expect(rows(tab)).to_have_count(3)
    up = rows(tab).nth(2).get_by_role("button", name="Move up, now 3 of 3")
    await up.press("Enter")
    await texts(tab, "one", "three", "two")
    moved = rows(tab).nth(1).get_by_role("button", name="Move up, now 2 of 3")
    await expect(moved).to_be_focused()
    await moved.press("Enter")
    await texts(tab, "three", "one", "two")
    first = rows(tab).nth(0).get_by_role("button", name="Move up, now 1 of 3")
    await expect(first).to_be_focused()
    await expect(first).to_have_attribute("aria-disabled", "true")
    await rows(tab).nth(0).get_by_role("button", name="Move down").press("Enter")
    await texts(tab, "one", "three", "two")
    await rows(tab).nth(2).get_by_role("button", name="Steer now").press("Enter")
    await texts(tab, "two", "one", "three")
    await expect(rows(tab).nth(0).get_by_role("button", name="Queue")).to_be_focused()
    await rows(tab).nth(0).get_by_role("button", name="Withdraw").press("Enter")
    await texts(tab, "one", "three")
    await expect(rows(tab).nth(0).get_by_role("button", name="Withdraw")).to_be_focused()
    stage.model.gate("keyboard").open()
    await expect(tab.messages).to_contain_text("B.")
    await tab.idle()
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["Begin.", "one", "three"])


async def test_an_edit_in_time_and_the_draft_that_comes_back(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "edited", Turn(text="Edited."))
    await tab.send("first\nwords")
    await tab.prompt.fill("a draft")
    await rows(tab).get_by_role("button", name="Edit").press("Enter")
    await expect(tab.prompt).to_have_value("first\nwords")
    await expect(tab.prompt).to_be_focused()
    await tab.prompt.fill("better words")
    await tab.page.reload()
    await expect(tab.prompt).to_have_value("better words")
    await expect(tab.page.locator("#editing")).to_contain_text("Enter saves")
    await tab.page.get_by_role("button", name="Cancel").click()
    await expect(tab.prompt).to_have_value("a draft")
    await texts(tab, "first words")
    await rows(tab).get_by_role("button", name="Edit").click()
    await tab.prompt.fill("best words")
    await tab.prompt.press("Enter")
    await texts(tab, "best words")
    await expect(tab.prompt).to_have_value("a draft")
    await expect(tab.page.locator("#editing")).to_be_hidden()
    stage.model.gate("edited").open()
    await expect(tab.page.locator(".message.user .bubble").last).to_have_text("best words")
    await expect(tab.messages).to_contain_text("Edited.")
    await tab.idle()
    await tab.prompt.fill("")


@pytest.mark.long
async def test_an_edit_that_comes_too_late_keeps_the_words(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "late", Turn(text="Old."), Turn(text="New."))
    await tab.send("old words")
    await tab.prompt.fill("a draft")
    await rows(tab).get_by_role("button", name="Edit").click()
    await expect(tab.prompt).to_have_value("old words")
    await tab.prompt.fill("new words")
    stage.model.gate("late").open()
    await expect(tab.messages).to_contain_text("Old.")
    await tab.idle()
    await expect(tab.page.locator("#editing")).to_contain_text("Too late to edit")
    await expect(tab.prompt).to_have_value("new words")
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("New.")
    await expect(tab.prompt).to_have_value("a draft")
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["Begin.", "old words", "new words"])
    await tab.prompt.fill("")


async def test_an_edit_sent_a_moment_too_late_is_told(stage: Stage, context: BrowserContext) -> None:
    """The page has not heard of the promotion yet when Enter is pressed."""
    tab = await busy(stage, context, "moment", Turn(text="Old."))
    await tab.send("old words")
    await rows(tab).get_by_role("button", name="Edit").click()
    await expect(tab.prompt).to_have_value("old words")
    await tab.prompt.fill("new words")
    await tab.page.evaluate(
        "document.addEventListener('page:changed', (e) => e.stopImmediatePropagation(), true)"
    )
    stage.model.gate("moment").open()
    await expect(tab.messages).to_contain_text("Old.")
    await tab.prompt.press("Enter")
    await expect(tab.page.locator("#composer-problem")).to_contain_text("Your text is still here")
    await expect(tab.prompt).to_have_value("new words")
    await tab.page.get_by_role("button", name="Discard").click()
    await expect(tab.prompt).to_have_value("")


async def session_of(tab: Tab) -> str:
    return (await tab.page.locator("#composer").get_attribute("data-session")) or ""


async def held(tab: Tab, session_id: str) -> asyncio.Queue[Route]:
    """The prompts that the page sends, which arrive when the test lets them."""
    routes: asyncio.Queue[Route] = asyncio.Queue()
    await tab.page.route(f"**/{session_id}/prompt", routes.put_nowait)
    return routes


async def test_prompts_wait_for_the_one_on_its_way(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "way", *[Turn(text=text) for text in ("A.", "B.", "C.")])
    routes = await held(tab, await session_of(tab))
    for text in ("one", "two"):
        await tab.send(text)
        await expect(tab.prompt).to_have_value("")
    await tab.prompt.press("Enter")
    await deliver(tab, "Steer now")
    await tab.prompt.fill("three")
    await tab.page.get_by_role("button", name="Send").click()
    await tab.prompt.fill("not sent")
    for _ in range(3):
        await (await routes.get()).continue_()
    await texts(tab, "three", "one", "two")
    await expect(rows(tab).locator(".label")).to_have_text(["Steers", "Queued", "Queued"])
    await expect(tab.prompt).to_have_value("not sent")
    assert routes.empty()
    stage.model.gate("way").open()
    await expect(tab.messages).to_contain_text("C.")


async def test_an_edit_waits_for_the_prompts_before_it(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "edits last", *[Turn(text=text) for text in ("A.", "B.", "C.")])
    await tab.send("old")
    await texts(tab, "old")
    routes = await held(tab, await session_of(tab))
    for text in ("one", "two"):
        await tab.send(text)
    await rows(tab).get_by_role("button", name="Edit").click()
    await expect(tab.prompt).to_have_value("old")
    await tab.send("new")
    for _ in range(2):
        await (await routes.get()).continue_()
    await texts(tab, "new", "one", "two")
    await expect(tab.prompt).to_have_value("")
    stage.model.gate("edits last").open()
    await expect(tab.messages).to_contain_text("C.")


async def test_what_does_not_arrive_comes_back(stage: Stage, context: BrowserContext) -> None:
    tab = await busy(stage, context, "lost", Turn(text="A."))
    routes = await held(tab, await session_of(tab))
    for text in ("one", "two"):
        await tab.send(text)
    await tab.prompt.press_sequentially("three")
    await (await routes.get()).abort()
    await expect(tab.page.locator("#unreached")).to_contain_text("cannot be reached")
    await expect(tab.prompt).to_have_value("one\n\ntwo\n\nthree")
    await tab.prompt.press("Enter")
    await expect(tab.prompt).to_have_value("")
    await routes.get()
    await tab.page.reload()
    await expect(tab.prompt).to_have_value("one\n\ntwo\n\nthree")
    stage.model.gate("lost").open()
    await tab.idle()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_there_is_room_on_a_narrow_screen(stage: Stage, browser: Browser, scheme: str) -> None:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        color_scheme="dark" if scheme == "dark" else "light",
    )
    faults = watch(context)
    tab = await busy(stage, context, f"narrow {scheme}", Turn(text="A."), Turn(text="B."), Turn(text="C."))
    await tab.send("a prompt that is much too long for one line of a narrow screen, so that it is cut")
    await tab.send("two")
    await tab.prompt.fill("three")
    await tab.page.locator("#delivery-button").tap()
    await tab.page.get_by_role("menuitemradio", name="Steer now").tap()
    await tab.page.get_by_role("button", name="Send").tap()
    await expect(rows(tab)).to_have_count(3)
    await tab.prompt.fill("more")
    inside = (
        "(nodes) => nodes.every((node) => { const box = node.getBoundingClientRect();"
        " return box.left >= 0 && box.right <= innerWidth && box.width >= 36; })"
    )
    assert await tab.page.locator("#queue button").evaluate_all(inside)
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stage.model.gate(f"narrow {scheme}").open()
    await expect(tab.messages).to_contain_text("C.")
    await context.close()
    assert faults == []


@pytest.mark.long
async def test_a_stopped_prompt_is_put_back_with_what_was_attached(
    home: Path, project: Path, context: BrowserContext
) -> None:
    note: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Attached."}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        rules = f"http://127.0.0.1:{silent.getsockname()[1]}/rules.md"  # without them nothing is asked
        async with Stage(home, project, instructions=[rules]) as stage:
            tab = await stage.tab(context, await stage.session("stops at once"))
            await tab.page.locator("#attach").set_input_files([note])
            await tab.send("Read it.")
            await tab.stop.click()
            stopped = tab.page.get_by_role("list", name="Prompts that were stopped")
            await expect(stopped).to_contain_text("Read it. (+ 1 attached)")
            await stopped.get_by_role("button", name="Put back").click()
            await expect(tab.prompt).to_have_value("Read it.")
            await expect(tab.page.locator("#attachments")).to_contain_text("note.txt")
            await expect(stopped).to_have_count(0)
