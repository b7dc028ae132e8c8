"""The sidebar, long histories, and what is wrong in the configuration."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time
from contextlib import closing

import pytest
from playwright.async_api import BrowserContext, Route, expect

from tests.e2e.stage import Stage
from tests.loopback.script import HttpError, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_new_rename_archive_delete_and_filter(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Hello."), Turn(fault=HttpError(400, "no such thing")))
    other = await stage.session("Zebra crossing")
    tab = await stage.tab(context, other)
    page = tab.page
    await page.get_by_role("link", name="New session").click()
    await tab.connected()
    await tab.send("Hi!")
    await expect(tab.messages).to_contain_text("Hello.")
    item = tab.item(tab.session_id)
    await expect(item.get_by_role("link")).to_have_attribute("aria-current", "page")
    await item.get_by_label("Actions for").click()
    await page.get_by_role("menuitem", name="Rename").click()
    await expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    await page.keyboard.type("Yak & <b>shaving</b>")
    await page.keyboard.press("Enter")
    await expect(item).to_contain_text("Yak & <b>shaving</b>")
    await expect(page.locator("#title")).to_have_text("Yak & <b>shaving</b>")
    await expect(page).to_have_title(re.compile("Yak & <b>shaving</b>"))
    await tab.send("And now?")
    await expect(item.locator(".dot")).to_have_attribute("data-state", "failed")
    await expect(page.locator(".notice.error")).to_contain_text("no such thing")

    await page.get_by_label("Filter sessions").fill("zebra")
    await expect(page.locator(".session-item")).to_have_count(1)
    zebra = tab.item(other)
    await zebra.get_by_label("Actions for").click()
    await page.get_by_role("menuitem", name="Archive").click()
    await expect(page.locator(".toast")).to_contain_text("was archived")
    await expect(zebra).to_have_count(0)
    await page.get_by_label("Archived").check()
    await expect(zebra).to_contain_text("Archived")
    await page.get_by_label("Archived").uncheck()
    await page.get_by_label("Filter sessions").fill("")

    yak = tab.session_id
    stage.plays(Turn(text="Nothing."))
    await stage.client.prompt(await stage.session("Comes next"), "What now?")  # where a deletion leads
    await page.evaluate("window.mark = 'this document'")
    await item.get_by_label("Actions for").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.wait_for_url(lambda url: yak not in url)
    await expect(tab.item(yak)).to_have_count(0)
    assert await page.evaluate("window.mark") == "this document"
    await page.locator(".toast", has_text="deleted").get_by_role("button", name="Undo").click()
    await page.wait_for_url(f"**/{yak}")
    await expect(tab.messages).to_contain_text("Hello.")


async def test_a_long_history_opens_at_its_end(stage: Stage, context: BrowserContext) -> None:
    session = await stage.session("Long")
    await asyncio.to_thread(fill, stage, session, 2000)
    tab = await stage.tab(context, session)
    messages = tab.page.locator(".message")
    await expect(tab.page.get_by_text("Number 2000.")).to_be_in_viewport()
    assert await messages.count() < 60
    await expect(tab.page.get_by_text("Number 1900.")).to_have_count(0)
    for _ in range(4):
        before = await messages.count()
        first = await messages.first.get_attribute("id")
        await tab.page.locator("#older").scroll_into_view_if_needed()
        await expect(messages.nth(before)).to_be_attached()
        assert await messages.first.get_attribute("id") != first
        await expect(tab.page.locator(f"#{first}")).to_be_in_viewport()
    await expect(tab.page.get_by_text("Number 1950.")).to_have_count(1)
    ids = await messages.evaluate_all("nodes => nodes.map(node => node.id)")
    assert ids == sorted(set(ids))


@pytest.mark.long
async def test_a_page_at_its_end_forgets_what_is_far_above(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="An answer."), Turn(text="Another answer."))
    session = await stage.session("Forgets")
    await asyncio.to_thread(fill, stage, session, 200, 3001)
    tab = await stage.tab(context, session)
    messages = tab.page.locator(".message")
    older = tab.page.locator("#older")
    while await messages.count() < 100:
        before = await messages.count()
        await older.scroll_into_view_if_needed()
        await expect(messages.nth(before)).to_be_attached()
    first = str(await messages.first.get_attribute("id"))
    await tab.send("One.")
    await expect(tab.messages).to_contain_text("An answer.")
    await tab.idle()
    await expect(tab.page.locator(f"#{first}")).to_have_count(0)
    assert 60 <= await messages.count() < 84
    await expect(tab.page.get_by_text("An answer.")).to_be_in_viewport()

    first = str(await messages.first.get_attribute("id"))
    count = await messages.count()
    await older.scroll_into_view_if_needed()
    await expect(messages.nth(count)).to_be_attached()
    await expect(tab.page.locator(f"#{first}")).to_be_in_viewport()
    ids = await messages.evaluate_all("nodes => nodes.map(node => node.id)")
    assert ids == sorted(set(ids))
    await stage.client.prompt(session, "Two.")
    await expect(tab.messages).to_contain_text("Another answer.")
    assert await messages.count() > count, "somebody reads there"

    await tab.page.evaluate("location.hash = 'msg_' + '3003'.padStart(26, '0')")
    await expect(tab.page.get_by_text("Number 3003.")).to_be_in_viewport()


async def test_a_message_is_gone_to_while_older_ones_are_on_their_way(
    stage: Stage, context: BrowserContext
) -> None:
    session = await stage.session("Gone to")
    await asyncio.to_thread(fill, stage, session, 200, 7001)
    tab = await stage.tab(context, session)
    asked, answer = asyncio.Event(), asyncio.Event()

    async def wait(route: Route) -> None:
        asked.set()
        await answer.wait()
        await route.continue_()

    await tab.page.route("**/messages?*", wait)
    await tab.page.locator("#older").scroll_into_view_if_needed()
    await asked.wait()
    await tab.page.evaluate("location.hash = 'msg_' + '7003'.padStart(26, '0')")
    answer.set()
    await expect(tab.page.get_by_text("Number 7003.")).to_be_in_viewport()


async def test_a_message_is_gone_to_from_the_end_while_the_page_changes(
    stage: Stage, context: BrowserContext
) -> None:
    session = await stage.session("Gone to from the end")
    await asyncio.to_thread(fill, stage, session, 200, 9001)
    tab = await stage.tab(context, session)
    await expect(tab.page.get_by_text("Number 9200.")).to_be_in_viewport()
    changed = "() => document.dispatchEvent(new CustomEvent('page:changed'))"
    await tab.page.locator("#scroller").evaluate(f"node => node.addEventListener('scroll', {changed})")
    await tab.page.evaluate("location.hash = 'msg_' + '9003'.padStart(26, '0')")
    await expect(tab.page.get_by_text("Number 9003.")).to_be_in_viewport()
    await expect(tab.page.locator(".message:focus")).to_contain_text("Number 9003.")


def fill(stage: Stage, session: str, count: int, first: int = 1) -> None:
    """Numbered prompts, straight into the tables: through the server it would take minutes."""
    now = int(time.time() * 1000)
    data = {
        "time": {"created": now},
        "agent": "build",
        "model": {"providerID": "fake", "modelID": "fake"},
    }
    with closing(sqlite3.connect(stage.server.data / "db.sqlite3")) as db:
        for number in range(first, first + count):
            message, part = f"msg_0{number:025}", f"prt_0{number:025}"
            db.execute(
                "insert into opencode_sessions_message (id, session_id, role, time_created, data, prompt_id) "
                "values (?, ?, 'user', ?, ?, '')",
                (message, session, now, json.dumps(data)),
            )
            db.execute(
                "insert into opencode_sessions_part (id, message_id, session_id, type, data) "
                "values (?, ?, ?, 'text', ?)",
                (part, message, session, json.dumps({"text": f"Number {number}."})),
            )
        db.commit()


async def test_what_is_wrong_in_the_configuration(stage: Stage, context: BrowserContext) -> None:
    config = stage.project / "opencode.json"
    config.write_text('{\n  // edits\n  "permission": {\n    "edit": "perhaps"\n  }\n}\n')
    try:
        tab = await stage.tab(context)
        banner = tab.page.locator(".banner.problem")
        await expect(banner).to_contain_text("opencode.json, line 4, permission.edit:")
        await expect(banner).to_contain_text("'ask'")
        config.write_text('{ "model": ')
        await tab.page.reload()
        await expect(banner).to_contain_text("opencode.json, line 1")
    finally:
        config.unlink()
