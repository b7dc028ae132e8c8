"""The terminals of the page: real shells in a real browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, Page, Route, WebSocketRoute, expect

from opencode_web.vendor import STATIC
from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage, Tab, hold

pytestmark = pytest.mark.asyncio(loop_scope="session")

SWITCH = "Control+Backquote"


@pytest.fixture(autouse=True)
def xterm() -> None:
    """Skips where xterm.js could not be fetched."""
    if not (STATIC / "vendor/@xterm/xterm/xterm.mjs").exists():
        pytest.skip("xterm.js is not here: python -m opencode_web.vendor")


@pytest_asyncio.fixture(loop_scope="session")
async def tab(stage: Stage, context: BrowserContext) -> AsyncIterator[Tab]:
    """A session's page; its terminals end with the test."""
    provokes(context, "/api/pty/")  # one that has ended meanwhile is unknown
    tab = await stage.tab(context, await stage.session("Terminals"))
    yield tab
    for terminal in (await stage.client.http.get("/api/pty")).json()["data"]:
        await stage.client.http.delete(f"/api/pty/{terminal['id']}")


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Terminals")


def screen(page: Page) -> Locator:
    return page.locator(".terminal-view:not([hidden]) .xterm-rows")


async def test_a_key_that_is_pressed_twice_opens_one(stage: Stage, tab: Tab) -> None:
    page = tab.page
    held = await hold(page, re.compile(r"/api/pty\?"))
    await page.keyboard.press(SWITCH)
    await held.asked.wait()
    await page.keyboard.press(SWITCH)
    held.free.set()
    await expect(page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await page.keyboard.type("echo $((40 + 2)) is it\n")
    await expect(screen(page)).to_contain_text("42 is it")
    await expect(panel(page).get_by_role("tab")).to_have_count(1)
    assert len((await stage.client.http.get("/api/pty")).json()["data"]) == 1


async def test_a_terminal_outlives_the_page(tab: Tab) -> None:
    """Open, type, reload: what was printed is there, and it can be typed on; exit, run again, close."""
    page = tab.page
    await page.keyboard.press(SWITCH)
    await expect(page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await page.keyboard.type("A=4; echo \"$((A + 2))2 is it\"; printf '\\033[38;2;9;99;9mgreen\\033[0m\\n'\n")
    await expect(screen(page)).to_contain_text("62 is it")
    await expect(screen(page).get_by_text("green", exact=True)).to_have_css("color", "rgb(9, 99, 9)")

    await page.reload()
    await expect(screen(page)).to_contain_text("62 is it")
    await page.get_by_role("textbox", name="Terminal Terminal").focus()
    await page.keyboard.type("echo still $((A + 1)); exit 3\n")
    await expect(screen(page)).to_contain_text("still 5")
    await expect(panel(page).get_by_role("status")).to_contain_text("Exited with code 3")

    await page.get_by_role("button", name="Run again").click()
    await expect(panel(page).get_by_role("status")).to_be_hidden()
    await expect(panel(page).get_by_role("tab")).to_have_count(1)
    await page.keyboard.type("echo again $((40 + 2))\n")
    await expect(screen(page)).to_contain_text("again 42")
    await panel(page).get_by_role("button", name="Close Terminal").click()
    await expect(panel(page)).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("button", name="Terminal", exact=True)).to_have_attribute(
        "aria-expanded", "false"
    )


async def test_an_open_panel_is_that_of_its_folder(tab: Tab, stage: Stage, tmp_path: Path) -> None:
    """Where no terminal is left, as after the server's end, none is shown either."""
    page, here = tab.page, tab.page.url
    await page.keyboard.press(SWITCH)
    await expect(page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    made = await stage.client.http.post("/session", params={"directory": str(tmp_path)}, json={})
    other = made.json()
    await page.goto(urljoin(here, f"/p/{other['projectID']}/s/{other['id']}"))
    await expect(tab.prompt).to_be_visible()
    await expect(panel(page)).to_be_hidden()
    await page.goto(here)
    await expect(screen(page)).to_be_visible()
    for terminal in (await stage.client.http.get("/api/pty")).json()["data"]:
        await stage.client.http.delete(f"/api/pty/{terminal['id']}")
    await page.reload()
    await expect(tab.prompt).to_be_visible()
    await expect(panel(page)).to_be_hidden()


async def test_it_is_used_by_keyboard(tab: Tab) -> None:
    """The switch gives the focus back, a key leaves the terminal, tabs are chosen, renamed, closed."""
    page = tab.page
    await tab.prompt.focus()
    await page.keyboard.press(SWITCH)
    await expect(page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await page.keyboard.press(SWITCH)
    await expect(tab.prompt).to_be_focused()
    await expect(panel(page)).to_be_hidden()
    await page.keyboard.press(SWITCH)
    await panel(page).get_by_role("button", name="New terminal").click()
    tabs = panel(page).get_by_role("tab")
    await expect(tabs).to_have_count(2)

    await page.keyboard.press("Shift+F6")
    await expect(tabs.nth(1)).to_be_focused()
    await page.keyboard.press("F2")
    await page.keyboard.type("<b>build</b>\u202e")
    await page.keyboard.press("Enter")
    await expect(tabs.nth(1)).to_have_text("<b>build</b>\ufffd")
    await page.keyboard.press("ArrowLeft")
    await expect(tabs.nth(0)).to_be_focused()
    await expect(tabs.nth(0)).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("Delete")
    await expect(tabs).to_have_count(1)

    grip = panel(page).get_by_role("separator")
    before = int(await grip.get_attribute("aria-valuenow") or 0)
    await grip.press("ArrowUp")
    await expect(grip).to_have_attribute("aria-valuenow", str(before + 5))
    await panel(page).get_by_role("button", name="Read the terminal").click()
    await expect(page.locator(".terminal-view:not([hidden]) .xterm-accessibility")).to_be_attached()


async def test_it_connects_again(tab: Tab) -> None:
    """A lost connection is made again from the position last seen: nothing comes twice."""
    page = tab.page
    sockets: list[WebSocketRoute] = []

    def passing(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    await page.route_web_socket("**/api/pty/*/connect**", passing)
    await page.keyboard.press(SWITCH)
    await expect(page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await page.keyboard.type("echo one $((1 + 1))\n")
    await expect(screen(page)).to_contain_text("one 2")
    await sockets[0].close(code=1012)
    await expect(panel(page).get_by_role("status")).to_contain_text("trying again")
    await expect(panel(page).get_by_role("status")).to_be_hidden()
    await page.keyboard.type("echo two $((1 + 2))\n")
    await expect(screen(page)).to_contain_text("two 3")
    assert (await screen(page).inner_text()).count("one 2") == 1
    assert len(sockets) == 2


async def test_the_terminal_says_what_is_missing(tab: Tab, context: BrowserContext) -> None:
    provokes(context, "xterm.mjs")

    async def missing(route: Route) -> None:
        await route.fulfill(status=404)

    await tab.page.route("**/xterm.mjs", missing)
    await tab.page.get_by_role("button", name="Terminal", exact=True).click()
    await expect(panel(tab.page).get_by_role("alert")).to_contain_text("python -m opencode_web.vendor")


async def test_it_fits_a_phone(tab: Tab) -> None:
    page = tab.page
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.get_by_role("button", name="Terminal", exact=True).click()
    await expect(page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    await page.keyboard.type(
        "until [ $(stty size | cut -d' ' -f2) -lt 60 ]; do sleep 0.1; done; echo narrow$((6 * 7))\n"
    )
    await expect(screen(page)).to_contain_text("narrow42")
    await expect(panel(page).get_by_role("button", name="Hide the terminals")).to_be_in_viewport(ratio=1)


async def test_a_touch_screen_has_the_keys_that_its_keyboard_lacks(
    stage: Stage, browser: Browser, tab: Tab
) -> None:
    kind = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    phone = await browser.new_context(**kind)  # type: ignore[arg-type]
    page = (await stage.tab(phone, tab.session_id)).page
    await page.keyboard.press(SWITCH)
    keys = page.get_by_role("toolbar", name="Keys of the terminal")
    await page.get_by_role("textbox", name="Terminal Terminal").focus()
    await page.keyboard.type("echo $((6 * 7))\n")
    await expect(screen(page)).to_contain_text("42")
    await page.keyboard.type("cat\n")
    await keys.get_by_role("button", name="Ctrl").tap()
    await expect(keys.get_by_role("button", name="Ctrl")).to_have_attribute("aria-pressed", "true")
    await page.keyboard.type("c")
    await expect(screen(page)).to_contain_text("^C")
    await expect(keys.get_by_role("button", name="Ctrl")).to_have_attribute("aria-pressed", "false")
    for _ in range(2):
        await keys.get_by_role("button", name="Up").tap()
    await page.keyboard.press("Home")
    await page.keyboard.type("echo twice; ")
    await page.keyboard.press("Enter")
    await expect(screen(page).get_by_text("twice", exact=True)).to_be_visible()
    await keys.get_by_role("button", name="Full screen").tap()
    box = await panel(page).bounding_box()
    assert box is not None
    assert (box["y"], box["height"]) == (0, 844)
    await phone.close()
