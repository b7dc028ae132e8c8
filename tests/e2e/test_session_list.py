"""The list of sessions: by groups, then by days, in the order of their last use."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Request, Route, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def rename(stage: Stage, session: str, title: str) -> None:
    """As another client of the server does it."""
    (await stage.client.http.patch(f"/session/{session}", json={"title": title})).raise_for_status()


async def test_sessions_are_listed_by_days(tmp_path: Path, context: BrowserContext) -> None:
    async with Stage(tmp_path, repository(tmp_path / "listed")) as stage:
        names = ("Of today", "Of yesterday", "Of last year")
        today, yesterday, old = [await stage.session(name) for name in names]
        day = 24 * 3600 * 1000
        with closing(sqlite3.connect(stage.server.data / "db.sqlite3", timeout=15)) as rows, rows:
            for aged in ((day, yesterday), (400 * day, old)):
                rows.execute("UPDATE opencode_sessions_session SET used = used - ? WHERE id = ?", aged)
        tab = await stage.tab(context, today)
        listed = tab.page.get_by_role("navigation", name="Sessions")
        heads = listed.get_by_role("heading")
        await expect(heads).to_have_count(3)
        await expect(heads.nth(0)).to_have_text("Today")
        await expect(heads.nth(1)).to_have_text("Yesterday")
        await expect(heads.nth(2)).to_have_text(re.compile(r"^[A-Z][a-z]+ \d{4}$"))
        await expect(listed.get_by_role("list", name="Yesterday")).to_contain_text("Of yesterday")

        await tab.page.get_by_label("Filter sessions").fill("last year")
        await expect(heads).to_have_count(1)
        await rename(stage, yesterday, "Renamed elsewhere")
        await tab.page.get_by_label("Filter sessions").fill("")
        first = listed.get_by_role("list", name="Today").get_by_role("listitem").first
        await expect(first).to_contain_text("Renamed elsewhere")
        await expect(heads).to_have_count(2)
        await tab.item(old).get_by_role("link").focus()
        await rename(stage, old, "Renamed too")
        await expect(first).to_contain_text("Renamed too")
        await expect(tab.item(old).get_by_role("link")).to_be_focused()
        await expect(heads).to_have_count(1)


async def test_a_session_is_listed_by_what_it_does(stage: Stage, context: BrowserContext) -> None:
    asks = ToolUse("bash", {"command": "touch grouped"})
    stage.plays(Turn(tools=[asks]), Turn(text=["Going.", Wait("grouped"), " Gone."]))
    tab = await stage.tab(context, await stage.session("Busy one"))
    other = await stage.tab(context, await stage.session("Another"))
    row, page = other.item(tab.session_id), other.page
    await expect(page.get_by_role("list", name="Today").locator(row)).to_be_visible()
    await row.get_by_role("link").focus()
    await tab.send("Go.")
    await expect(page.get_by_role("list", name="Waiting for you").locator(row)).to_be_visible()
    await expect(row.get_by_role("link")).to_be_focused()
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(page.get_by_role("list", name="Running").locator(row)).to_be_visible()
    await expect(page.get_by_role("heading", name="Waiting for you")).to_be_hidden()
    stage.model.gate("grouped").open()
    await expect(page.get_by_role("list", name="Today").locator(row)).to_be_visible()
    await expect(row.get_by_role("link")).to_be_focused()
    await expect(page.get_by_role("heading", name="Running")).to_be_hidden()


async def test_what_is_pinned_stays_above_in_every_window(stage: Stage, context: BrowserContext) -> None:
    session, later = await stage.session("To be pinned"), await stage.session("Used later")
    tab, other = await stage.tab(context, session), await stage.tab(context, later)
    await tab.item(session).get_by_role("link").focus()
    await tab.page.keyboard.press("p")
    for place in (tab, other):
        await expect(
            place.page.get_by_role("list", name="Pinned").locator(place.item(session))
        ).to_be_visible()
    await expect(tab.item(session).get_by_role("link")).to_be_focused()
    await rename(stage, later, "Used now")
    await expect(tab.item(later)).to_contain_text("Used now")
    await tab.page.reload()
    await tab.connected()
    await expect(tab.page.locator(".session-item").first).to_contain_text("To be pinned")

    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("pin this")
    await tab.page.get_by_role("option", name="Pin this session").click()
    for place in (tab, other):
        await expect(
            place.page.get_by_role("list", name="Today").locator(place.item(session))
        ).to_be_visible()
        await expect(place.page.get_by_role("heading", name="Pinned", exact=True)).to_be_hidden()


async def test_rows_stay_where_they_are_while_a_pointer_is_among_them(
    stage: Stage, context: BrowserContext
) -> None:
    first, second = await stage.session("Pointed at"), await stage.session("Beside it")
    tab = await stage.tab(context, first)
    await tab.page.clock.install()
    await tab.page.clock.pause_at(time.time() + 3600)
    await tab.item(first).hover()
    await rename(stage, first, "Moves later")
    await expect(tab.item(first)).to_contain_text("Moves later")
    rows = tab.page.locator("#sessions-today .session-item")
    await expect(rows.first).to_have_id(f"{second}-item")
    await tab.page.clock.run_for(2000)
    await expect(rows.first).to_have_id(f"{first}-item")


async def test_the_list_is_asked_for_again_when_the_day_ends(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("Late"))
    await tab.page.clock.install()
    await tab.page.reload()
    await tab.connected()
    async with tab.page.expect_request("**/sessions?*"):
        await tab.page.clock.fast_forward("24:00:00")


async def test_days_begin_where_the_person_is(stage: Stage, browser: Browser) -> None:
    session = await stage.session("Somewhere")
    begins = []
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        context = await browser.new_context(timezone_id=zone)
        tab = await stage.tab(context, session)
        today = tab.page.locator("[data-begin]").first
        midnight = "new Date().setHours(0, 0, 0, 0).toString()"
        await expect(today).to_have_attribute("data-begin", await tab.page.evaluate(midnight))
        await tab.page.reload()
        begins.append(await today.get_attribute("data-begin"))
        await context.close()
    assert begins[0] != begins[1]


async def test_a_session_is_unread_until_it_is_looked_at(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["Begun.", Wait("unread"), " Ended."]), Turn(text="Seen."))
    session = await stage.session("Ends elsewhere")
    tab = await stage.tab(context, session)
    other = await stage.tab(context, await stage.session("Looked at"))
    await tab.send("Go.")
    await expect(tab.messages).to_contain_text("Begun.")
    await tab.open(other.session_id)
    stage.model.gate("unread").open()
    for place in (tab, other):
        await expect(place.item(session)).to_have_attribute("data-unread", "")
        await expect(place.item(session).get_by_role("link")).to_have_accessible_name(re.compile("unread"))
    await tab.item(session).get_by_role("link").click()
    await expect(tab.messages).to_contain_text("Ended.")
    await expect(other.item(session)).not_to_have_attribute("data-unread", "")
    await tab.send("Go on.")
    await expect(tab.messages).to_contain_text("Seen.")
    await tab.idle()
    await expect(tab.page.locator("#activity:not([data-unread])")).to_be_visible()
    await other.open(other.session_id)
    await expect(other.item(session)).not_to_have_attribute("data-unread", "")


async def test_a_session_that_nobody_sees_stays_unread(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Unseen."))
    tab = await stage.tab(context, await stage.session("Behind"))
    other = await stage.tab(context, await stage.session("In front"))
    hide = "hidden => Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true})"
    await tab.page.evaluate(hide, True)
    await tab.send("Go.")
    await expect(other.item(tab.session_id)).to_have_attribute("data-unread", "")
    await tab.page.evaluate(hide, False)
    await tab.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(other.item(tab.session_id)).not_to_have_attribute("data-unread", "")


async def test_the_title_is_edited_where_it_stands(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("First title"))
    page, title = tab.page, tab.page.locator("#title")
    field = title.get_by_role("textbox", name="Title")
    await title.get_by_role("button", name="First title").press("Enter")
    await expect(field).to_be_focused()
    await field.fill("Second title")
    await rename(stage, tab.session_id, "Meanwhile")
    await expect(tab.item(tab.session_id)).to_contain_text("Meanwhile")
    await field.press("Enter")
    await expect(title.get_by_role("button", name="Second title")).to_be_focused()
    await expect(tab.item(tab.session_id)).to_contain_text("Second title")
    await expect(page).to_have_title(re.compile("^Second title"))

    await page.keyboard.press("Enter")
    await field.fill("Third title")
    await field.press("Escape")
    await expect(title.get_by_role("button", name="Second title")).to_be_focused()
    await page.keyboard.press("Enter")
    await field.fill("  ")
    await field.press("Enter")
    await expect(field).to_be_focused()
    await expect(field).to_have_js_property("validity.valid", False)
    composing = {"key": "Escape", "isComposing": True, "bubbles": True}
    await field.dispatch_event("keydown", composing)
    await expect(field).to_have_value("  ")
    await field.press("Escape")
    await expect(tab.item(tab.session_id)).to_contain_text("Second title")


async def test_the_keyboard_stays_in_a_row_that_is_renewed(stage: Stage, context: BrowserContext) -> None:
    session, other = await stage.session("Here"), await stage.session("Elsewhere")
    tab = await stage.tab(context, session)
    row = tab.item(other)
    actions = row.get_by_label("Actions for")
    await actions.focus()
    await rename(stage, other, "Renamed meanwhile")
    await expect(row).to_contain_text("Renamed meanwhile")
    await expect(actions).to_be_focused()


async def test_the_menu_of_a_session_is_opened_by_all_ways_and_gives_the_focus_back(
    stage: Stage, context: BrowserContext
) -> None:
    session, other = await stage.session("Here"), await stage.session("Its menu")
    tab = await stage.tab(context, session)
    page, row = tab.page, tab.item(other)
    menu = page.get_by_role("menu", name="What to do with the session")
    entry = menu.get_by_role("menuitem")
    actions, link = row.get_by_label("Actions for"), row.get_by_role("link")

    await actions.focus()
    await page.keyboard.press("Enter")
    await expect(entry.first).to_be_focused()
    await page.keyboard.press("End")
    await expect(menu.get_by_role("menuitem", name="Delete")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(entry.first).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Home")
    await expect(entry.first).to_be_focused()
    await rename(stage, other, "Renamed meanwhile")
    await expect(row).to_contain_text("Renamed meanwhile")
    await page.keyboard.press("Escape")
    await expect(menu).to_be_hidden()
    await expect(actions).to_be_focused()

    await link.focus()
    await page.keyboard.press("Shift+F10")
    await expect(entry.first).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(link).to_be_focused()

    await row.click(button="right")
    await menu.get_by_role("menuitem", name="Pin").click()
    await expect(page.get_by_role("list", name="Pinned").locator(row)).to_be_visible()
    await expect(menu).to_be_hidden()
    await row.click(button="right")
    await menu.get_by_role("menuitem", name="Unpin").click()
    await expect(page.get_by_role("list", name="Today").locator(row)).to_be_visible()


async def test_sessions_are_labelled_and_listed_by_that(stage: Stage, context: BrowserContext) -> None:
    other = await stage.session("Without a label")
    tab = await stage.tab(context, await stage.session("With a label"))
    page, row = tab.page, tab.item(tab.session_id)
    await row.click(button="right")
    await page.get_by_role("menuitem", name="Labels…").click()
    dialog = page.get_by_role("dialog", name="Labels")
    await dialog.get_by_label("A new one").fill("<b>urgent</b>")
    await dialog.get_by_label("Amber").check()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(row.locator(".session-label")).to_have_text("<b>urgent</b>")
    await expect(row.locator(".session-label")).to_have_attribute("data-colour", "amber")

    await page.reload()
    await tab.connected()
    chip = page.get_by_role("group", name="Labels").get_by_role("button", name="<b>urgent</b>")
    await chip.click()
    await expect(tab.item(other)).to_have_count(0)
    await expect(row).to_be_visible()
    await stage.session("Made meanwhile")
    await expect(chip).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("link", name="Made meanwhile")).to_have_count(0)
    await chip.click()
    await expect(tab.item(other)).to_be_visible()

    await row.click(button="right")
    await page.get_by_role("menuitem", name="Labels…").click()
    await dialog.get_by_label("<b>urgent</b>").uncheck()
    await dialog.get_by_role("button", name="Save").click()
    await expect(row.locator(".session-label")).to_have_count(0)


async def test_the_menu_of_the_last_row_is_seen_whole(stage: Stage, context: BrowserContext) -> None:
    for number in range(30):
        await stage.session(f"Filler {number}")
    tab = await stage.tab(context, await stage.session("Over many"))
    menu = tab.page.get_by_role("menu", name="What to do with the session")
    last = tab.page.locator(".session-item").last
    await last.get_by_label("Actions for").click()
    await expect(menu.get_by_role("menuitem", name="Delete")).to_be_in_viewport(ratio=1)
    await expect(menu.get_by_role("menuitem").first).to_be_in_viewport(ratio=1)


async def test_what_the_menu_in_the_head_does(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="An *answer*."))
    tab = await stage.tab(context, await stage.session("Of the head"))
    await tab.send("A question.")
    await tab.idle()
    page = tab.page
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    menu = page.get_by_role("menu", name="What to do with the session")

    async def choose(name: str) -> None:
        await page.get_by_role("button", name="Actions for this session").click()
        await menu.get_by_role("menuitem", name=name).click()

    await choose("Copy the link")
    await expect(page.locator(".toast", has_text="Copied the link.")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == page.url
    await choose("Copy as Markdown")
    await expect(page.locator(".toast", has_text="Copied as Markdown.")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert "A question." in copied
    assert "An *answer*." in copied
    await choose("Fork")
    await expect(tab.dialog).to_contain_text("Fork this session")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Actions for this session")).to_be_focused()
    await choose("Rename")
    await page.locator("#title").get_by_role("textbox", name="Title").fill("Named by the menu")
    await page.keyboard.press("Enter")
    await expect(tab.item(tab.session_id)).to_contain_text("Named by the menu")
    await choose("Archive")
    await expect(page.locator(".toast", has_text="was archived")).to_be_visible()


async def test_a_row_is_renamed_and_deleted_by_keys(stage: Stage, context: BrowserContext) -> None:
    session, other = await stage.session("Stays"), await stage.session("Goes by key")
    tab = await stage.tab(context, session)
    page, row = tab.page, tab.item(other)
    await row.get_by_role("link").focus()
    await page.keyboard.press("F2")
    await row.get_by_role("textbox", name="Title").fill("Renamed by key")
    await page.keyboard.press("Enter")
    await expect(row).to_contain_text("Renamed by key")
    await row.get_by_role("link").focus()
    await page.keyboard.press("ArrowDown")
    below = page.locator(".session-item:has(a:focus)")
    await expect(below).to_have_count(1)
    after = await below.get_attribute("id")
    await page.keyboard.press("ArrowUp")
    await expect(row.get_by_role("link")).to_be_focused()
    await page.keyboard.press("Delete")
    await expect(row).to_have_count(0)
    await expect(below).to_have_id(str(after))
    await page.locator(".toast", has_text="deleted").get_by_role("button", name="Undo").click()
    await expect(row).to_be_visible()


async def test_the_keyboard_stays_in_its_row_when_the_list_is_asked_for_anew(
    stage: Stage, context: BrowserContext
) -> None:
    session, other = await stage.session("Looked at"), await stage.session("At hand")
    tab = await stage.tab(context, session)
    await tab.item(other).get_by_label("Actions for").focus()
    await stage.session("Newer than both")
    await tab.page.locator("#session-list").evaluate("list => { list.mark = 1; }")
    await tab.page.evaluate("htmx.trigger('#session-list', 'list:renew')")
    await expect(tab.page.locator("#session-list")).not_to_have_js_property("mark", 1)
    await expect(tab.item(other).get_by_label("Actions for")).to_be_focused()
    field = tab.page.get_by_label("Filter sessions")
    await field.press_sequentially("at hand")
    await expect(tab.page.locator(".session-item")).to_have_count(1)
    await expect(field).to_be_focused()


async def test_a_filter_and_a_title_being_written_stay_when_the_page_is_read_anew(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(text="Done."), Turn(text="Done again."))
    session, other = await stage.session("Apples here"), await stage.session("Pears there")
    tab = await stage.tab(context, session)
    await tab.send("Do it.")
    await expect(tab.messages).to_contain_text("Done.")
    await tab.idle()
    prompt = (await stage.client.messages(session))[0]["info"]["id"]
    await tab.page.get_by_label("Filter sessions").fill("apples")
    await expect(tab.item(other)).to_have_count(0)
    undone = tab.page.locator("#reverted")
    await stage.client.post(f"/session/{session}/revert", {"messageID": prompt})
    await expect(undone).not_to_be_empty()
    await expect(tab.item(other)).to_have_count(0)
    await tab.item(session).get_by_label("Actions for").click()
    await tab.page.get_by_role("menuitem", name="Rename").click()
    await tab.item(session).get_by_role("textbox").fill("Apples, half a na")
    await stage.client.post(f"/session/{session}/unrevert")
    await expect(undone).to_be_empty()
    await expect(tab.item(session).get_by_role("textbox")).to_have_value("Apples, half a na")


async def test_several_are_chosen_by_pointer_and_archived_with_one_undo(
    stage: Stage, context: BrowserContext
) -> None:
    here = await stage.session("Stays here")
    chosen = [await stage.session(f"Chosen {number}") for number in range(4)]
    tab = await stage.tab(context, here)
    bar = tab.page.get_by_role("form", name="Chosen sessions")
    rows = [tab.item(session) for session in chosen]
    await rows[0].get_by_role("link").click(modifiers=["ControlOrMeta"])
    await expect(bar).to_contain_text("1 chosen")
    await rows[3].get_by_role("link").click(modifiers=["Shift"])
    await expect(bar).to_contain_text("4 chosen")
    await rows[1].get_by_role("checkbox").uncheck()
    await expect(bar).to_contain_text("3 chosen")
    await rename(stage, chosen[2], "Renamed meanwhile")
    await expect(rows[2]).to_contain_text("Renamed meanwhile")
    await expect(rows[2].get_by_role("checkbox")).to_be_checked()
    await bar.get_by_role("button", name="Archive").click()
    toast = tab.page.locator(".toast", has_text="3 sessions were archived")
    await expect(toast).to_have_count(1)
    await expect(rows[0]).to_have_count(0)
    await expect(rows[1]).to_be_visible()
    await expect(bar).to_be_hidden()
    await toast.get_by_role("button", name="Undo").click()
    for row in rows:
        await expect(row).to_be_visible()
    await expect(toast).to_have_count(0)


async def test_several_are_chosen_by_keys_and_from_the_menu(stage: Stage, context: BrowserContext) -> None:
    here = await stage.session("Here by keys")
    low, high = await stage.session("Lower"), await stage.session("Higher")
    tab = await stage.tab(context, here)
    page = tab.page
    bar = page.get_by_role("form", name="Chosen sessions")
    await tab.item(high).get_by_role("link").focus()
    await page.keyboard.press("Space")
    await expect(bar).to_contain_text("1 chosen")
    await page.keyboard.press("Shift+ArrowDown")
    await expect(bar).to_contain_text("2 chosen")
    await expect(tab.item(low).get_by_role("link")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(bar).to_be_hidden()
    await expect(tab.item(low).get_by_role("checkbox")).to_be_hidden()
    await expect(tab.item(low).get_by_role("link")).to_be_focused()

    await tab.item(low).get_by_label("Actions for").click()
    await page.get_by_role("menuitem", name="Select").click()
    await expect(tab.item(low).get_by_role("checkbox")).to_be_checked()
    await tab.item(high).get_by_role("checkbox").check()
    await bar.get_by_role("button", name="Export").click()
    await expect(tab.dialog).to_contain_text("Export 2 sessions")
    async with page.expect_download() as download:
        await tab.dialog.get_by_role("button", name="Download").click()
    assert (await download.value).suggested_filename == "sessions.zip"
    await expect(tab.dialog).to_have_count(0)
    await bar.get_by_role("button", name="Delete").click()
    await expect(page.locator(".toast", has_text="2 sessions were deleted")).to_be_visible()
    await expect(tab.item(low)).to_have_count(0)


async def test_who_deletes_the_session_that_is_shown_with_others_comes_to_another(
    stage: Stage, context: BrowserContext
) -> None:
    other, shown = await stage.session("Goes with it"), await stage.session("Is shown")
    tab = await stage.tab(context, shown)
    for session in (other, shown):
        await tab.item(session).get_by_role("link").click(modifiers=["ControlOrMeta"])
    await tab.page.get_by_role("form", name="Chosen sessions").get_by_role("button", name="Delete").click()
    await tab.page.wait_for_url(lambda url: shown not in url)
    await tab.connected()
    await expect(tab.item(other)).to_have_count(0)
    await tab.page.locator(".toast", has_text="deleted").get_by_role("button", name="Undo").click()
    await expect(tab.item(shown)).to_be_visible()


RENEW = """async () => {
  while (document.querySelector("#session-list.htmx-request")) await new Promise(requestAnimationFrame);
  htmx.trigger("#session-list", "list:renew");
}"""


async def test_a_list_that_was_asked_for_before_leaves_the_filtered_one(
    stage: Stage, context: BrowserContext
) -> None:
    await stage.session("a numbat in the list")
    page = (await stage.tab(context, await stage.session("a list in a hurry"))).page
    before: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
    filtered: asyncio.Future[Route] = asyncio.get_running_loop().create_future()

    async def hold(route: Route) -> None:
        held = filtered if "q=numbat" in route.request.url else before
        if held.done():
            await route.continue_()
        else:
            held.set_result(route)

    await page.route("**/sessions?*", hold)
    await page.evaluate(RENEW)
    first, over = await before, asyncio.Event()

    def ended(request: Request) -> None:
        if request == first.request:
            over.set()

    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    await page.get_by_label("Filter sessions").fill("numbat")
    second = await filtered
    await first.continue_()
    await over.wait()
    await second.continue_()
    await expect(page.get_by_role("link", name="Search what was said for “numbat”")).to_be_visible()
    await expect(page.locator("#session-list .session-item")).to_have_count(1)
