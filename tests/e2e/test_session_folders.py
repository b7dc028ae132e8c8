"""Folders of sessions: made, filled by menu, keys and dragging, folded, put in order, in all open pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, Page, Route, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab, hold

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def folder(page: Page, name: str) -> Locator:
    return page.locator(".folder", has=page.get_by_role("button", name=name, exact=True))


def titles(within: Locator) -> Locator:
    return within.locator(".session-item .session-title")


async def make(tab: Tab, name: str) -> None:
    """With the session that has the focus in it."""
    await tab.page.keyboard.press("m")
    await tab.dialog.get_by_label("A new one").check()
    await tab.dialog.get_by_label("Name").fill(name)
    await tab.dialog.get_by_label("Green").check()
    await tab.dialog.get_by_role("button", name="Save").click()
    await expect(tab.dialog).to_have_count(0)


async def test_sessions_are_in_folders_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, context: BrowserContext
) -> None:
    home = tmp_path_factory.mktemp("folders")
    async with Stage(home, repository(home / "listed")) as stage:
        ids = [await stage.session(title) for title in ("Alpha", "Beta", "Gamma")]
        tab = await stage.tab(context, ids[0])
        other = await stage.tab(context, ids[1])
        page = tab.page
        await tab.item(ids[0]).locator("a[id]").focus()
        await make(tab, "Work")
        work = folder(page, "Work")
        await expect(titles(work)).to_have_text(["Alpha"])
        await expect(tab.item(ids[0]).locator("a[id]")).to_be_focused()
        await expect(titles(folder(other.page, "Work"))).to_have_text(["Alpha"])

        await tab.item(ids[1]).locator("a[id]").drag_to(work.get_by_role("heading"))
        await expect(titles(work)).to_have_count(2)
        await tab.item(ids[2]).get_by_label("Actions for").click()
        await page.get_by_role("menuitem", name="Put into a folder").click()
        await tab.dialog.get_by_label("Work").check()
        await tab.dialog.get_by_role("button", name="Save").click()
        await expect(titles(work)).to_have_text(["Gamma", "Beta", "Alpha"])

        await tab.item(ids[2]).locator("a[id]").focus()
        await page.keyboard.press("Alt+ArrowDown")
        await expect(titles(work)).to_have_text(["Beta", "Gamma", "Alpha"])
        await expect(titles(folder(other.page, "Work"))).to_have_text(["Beta", "Gamma", "Alpha"])
        await expect(tab.item(ids[2]).locator("a[id]")).to_be_focused()
        await tab.item(ids[0]).locator("a[id]").drag_to(tab.item(ids[1]), target_position={"x": 40, "y": 4})
        await expect(titles(work)).to_have_text(["Alpha", "Beta", "Gamma"])

        await work.get_by_role("button", name="Work", exact=True).click()
        await expect(tab.item(ids[2])).to_be_hidden()
        await expect(tab.item(ids[0])).to_be_visible()  # the session of this page
        await page.reload()
        await expect(work.get_by_role("button", name="Work", exact=True)).to_have_attribute(
            "aria-expanded", "false"
        )
        await expect(tab.item(ids[2])).to_be_hidden()

        await work.get_by_role("button", name="Change the folder").click()
        await tab.dialog.get_by_label("Name").fill("Play")
        await tab.dialog.get_by_role("button", name="Save").click()
        await expect(folder(other.page, "Play")).to_be_visible()
        await folder(page, "Play").get_by_role("button", name="Change the folder").click()
        await tab.dialog.get_by_role("button", name="Remove the folder").click()
        await expect(page.locator(".folder")).to_have_count(0)
        await expect(titles(page.locator("#sessions-today"))).to_have_count(3)
        await expect(other.page.locator(".folder")).to_have_count(0)


@asynccontextmanager
async def two(home: Path, context: BrowserContext) -> AsyncIterator[tuple[Stage, list[str], Tab, Tab]]:
    """A project with two sessions, each in a tab: also their ids."""
    async with Stage(home, repository(home / "listed")) as stage:
        ids = [await stage.session(title) for title in ("Alpha", "Beta")]
        yield stage, ids, await stage.tab(context, ids[0]), await stage.tab(context, ids[1])


async def test_a_folder_is_folded_also_where_that_is_told_before_the_answer(
    tmp_path_factory: pytest.TempPathFactory, context: BrowserContext
) -> None:
    async with two(tmp_path_factory.mktemp("folded"), context) as (_, ids, tab, other):
        await other.item(ids[1]).locator("a[id]").focus()
        await make(other, "Work")
        work = folder(tab.page, "Work")
        await expect(titles(work)).to_have_text(["Beta"])
        await tab.page.evaluate(
            "document.addEventListener('page:arrives', ({ detail }) => "
            "(window.told ||= Boolean(detail.querySelector('#list-news'))))"
        )

        async def hold(route: Route) -> None:
            response = await route.fetch()
            await tab.page.wait_for_function("window.told")
            await route.fulfill(response=response)

        await tab.page.route("**/fold", hold)
        await work.get_by_role("button", name="Work", exact=True).click()
        await expect(tab.item(ids[1])).to_be_hidden()


async def test_a_list_that_changes_does_not_end_a_drag(
    tmp_path_factory: pytest.TempPathFactory, context: BrowserContext
) -> None:
    async with two(tmp_path_factory.mktemp("dragged"), context) as (stage, ids, tab, other):
        page = tab.page
        await tab.item(ids[0]).locator("a[id]").focus()
        await make(tab, "Work")
        work = folder(page, "Work")
        await expect(titles(work)).to_have_text(["Alpha"])
        await expect(tab.item(ids[0]).locator("a[id]")).to_be_focused()

        await page.clock.install()
        await tab.item(ids[1]).locator("a[id]").hover()
        await page.mouse.down()
        box = await work.get_by_role("heading").bounding_box()
        assert box is not None
        for step in (2, 4):
            await page.mouse.move(box["x"] + step, box["y"] + step)
        await expect(page.locator(".period.drop-into")).to_have_count(1)
        async with page.expect_response("**/sessions?*"):  # also one it asked for by itself is held
            fresh = await stage.session("Gamma")
            await expect(other.item(fresh)).to_be_visible()
            await page.evaluate("htmx.trigger('#session-list', 'list:renew')")  # as when a day ends
        await page.clock.run_for(10_000)
        await expect(tab.item(ids[1])).to_have_class(re.compile("dragged"))
        await page.mouse.up()
        await expect(titles(work)).to_have_text(["Beta", "Alpha"])
        await expect(tab.item(fresh)).to_be_visible()
        await expect(page.locator(".dragged, .drop-into")).to_have_count(0)


async def test_orders_are_changed_faster_than_answers_come(
    tmp_path_factory: pytest.TempPathFactory, context: BrowserContext
) -> None:
    home = tmp_path_factory.mktemp("quickly")
    async with Stage(home, repository(home / "listed")) as stage:
        ids = [await stage.session(f"Number {number}") for number in range(6)]
        tab = await stage.tab(context, ids[0])
        names = ("One", "Two", "Three")
        for name, pair in zip(names, (ids[:2], ids[2:4], ids[4:]), strict=True):
            await tab.item(pair[0]).locator("a[id]").focus()
            await make(tab, name)
            await tab.item(pair[1]).locator("a[id]").focus()
            await tab.page.keyboard.press("m")
            await tab.dialog.get_by_label(name, exact=True).check()
            await tab.dialog.get_by_role("button", name="Save").click()
            await expect(titles(folder(tab.page, name))).to_have_count(2)
        before = [await titles(folder(tab.page, name)).all_text_contents() for name in names]
        held = await hold(tab.page, "**/place")
        for name in names:
            await folder(tab.page, name).locator(".session-item a[id]").first.focus()
            await tab.page.keyboard.press("Alt+ArrowDown")
        await held.asked.wait()
        held.free.set()
        for name, (first, second) in zip(names, before, strict=True):
            await expect(titles(folder(tab.page, name))).to_have_text([second, first])


ARRIVES = """() => {
  window.arrived = new Promise((done) => {
    document.addEventListener("page:arrives", ({ detail }) => detail.querySelector("#list-news") && done());
  });
}"""


async def test_a_folder_that_comes_while_the_list_is_renewed_is_in_it(
    tmp_path_factory: pytest.TempPathFactory, context: BrowserContext
) -> None:
    async with two(tmp_path_factory.mktemp("renewed"), context) as (_, ids, tab, other):
        asked, answers = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            if asked.is_set():
                await route.continue_()
                return
            answer = await route.fetch()
            asked.set()
            await answers.wait()
            await route.fulfill(response=answer)

        await tab.page.route("**/sessions?*", hold)
        await other.item(ids[0]).locator("a[id]").focus()
        await make(other, "Work")
        async with asyncio.timeout(30):
            await asked.wait()
        await tab.page.evaluate(ARRIVES)
        await other.item(ids[1]).locator("a[id]").focus()
        await make(other, "Play")
        await tab.page.evaluate("arrived")
        answers.set()
        await expect(titles(folder(tab.page, "Work"))).to_have_text(["Alpha"])
        await expect(titles(folder(tab.page, "Play"))).to_have_text(["Beta"])
