"""A narrow screen, the keyboard alone, and names for those who cannot see."""

from __future__ import annotations

import re
import time

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import watch
from tests.e2e.stage import Stage, ready
from tests.loopback.script import ToolUse, Turn
from tests.server import PASSWORD

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

WIDE_TEXT = "| " + " | ".join("column" * 3 for _ in range(9)) + " |\n" + "|---" * 9 + "|\n\n" + "long" * 90
OVERFLOW = """() => [...document.querySelectorAll("body *")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }))
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
  .filter((node) => !node.closest("pre, .table, .visually-hidden, table.diff"))
  .map((node) => node.outerHTML.slice(0, 120))"""
NAME = """() => {
  const held = document.activeElement;
  return held.ariaLabel ?? (held.matches("a, button, summary") ? held.textContent : "");
}"""
NAMELESS = """() => [...document.querySelectorAll("button, summary, a, input, select, textarea")]
  .filter((node) => node.checkVisibility())
  .filter((node) => !(node.getAttribute("aria-label") || node.innerText?.trim() || node.textContent.trim()
    || node.labels?.length || node.getAttribute("aria-labelledby")))
  .map((node) => node.outerHTML.slice(0, 120))"""


def script(name: str) -> list[Turn]:
    content = "".join(f"a rather long line number {number} of this new file\n" for number in range(20))
    write = ToolUse("write", {"filePath": name, "content": content})
    return [Turn(text=WIDE_TEXT, tools=[write]), Turn(text="Done.")]


async def fits(page: Page) -> None:
    """Nothing sticks out to the right, and everything has a name."""
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await page.evaluate(OVERFLOW) == []
    assert await page.evaluate(NAMELESS) == []


@pytest.mark.long
async def test_a_narrow_screen(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    faults = watch(context)
    stage.plays(*script("asked-on-a-narrow-screen-with-a-long-name.txt"))
    tab = await stage.tab(context, await stage.session("Narrow, with a title that is rather long to show"))
    await tab.send("Please " + "write " * 30 + "w" * 100)
    await expect(tab.permissions).to_be_visible()
    await fits(tab.page)
    for answer in ("Allow once", "Allow…", "Reject"):
        await expect(tab.permissions.get_by_role("button", name=answer)).to_be_in_viewport(ratio=1)
    await tab.permissions.get_by_role("button", name="Allow once").tap()
    await expect(tab.messages).to_contain_text("Done.")
    await tab.idle()
    await tab.undo(0)
    await fits(tab.page)
    await tab.dialog.get_by_role("button", name="Cancel").tap()
    await tab.page.get_by_role("button", name="Changed files", exact=True).tap()
    await expect(tab.review.locator("table.diff")).to_be_in_viewport()
    await fits(tab.page)
    await tab.review.get_by_role("heading").first.tap()  # two taps at one place are one
    await tab.review.get_by_role("button", name="Close").tap()
    await tab.page.get_by_role("button", name="Sessions").tap()
    await expect(tab.page.get_by_label("Filter sessions")).to_be_in_viewport()
    await fits(tab.page)
    await context.close()
    assert faults == []


async def test_the_keyboard_alone(stage: Stage, context: BrowserContext) -> None:
    stage.plays(*script("asked-by-keyboard.txt"))
    page = await context.new_page()
    await page.goto(stage.server.url + stage.home_path + "s/")
    await expect(page.get_by_label("Password")).to_be_focused()
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")
    await page.locator("#connection[data-state=connected]").wait_for(state="attached")
    await expect(page.locator("#prompt")).to_be_focused()
    await page.keyboard.press("Escape")
    await tab_to(page, "Skip to the prompt", "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("#prompt")).to_be_focused()
    await page.keyboard.type("Write it.")
    await page.keyboard.press("Enter")
    question = page.locator(".permission")
    await expect(question).to_be_visible()
    await expect(page.locator("#prompt")).to_be_focused()
    await page.keyboard.press("Escape")
    await tab_to(page, "Allow once", "Shift+Tab")
    await ready(question)
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages")).to_contain_text("Done.")
    await expect(page.locator("#prompt")).to_be_focused()
    await page.locator("#activity[data-busy=false]").wait_for(state="attached")
    await page.keyboard.press("Escape")
    await tab_to(page, "Undo from here", "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Undo from here")).to_be_visible()
    await expect(page.get_by_role("button", name="Undo 1 prompt")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Undo from here")).to_be_focused()
    assert await page.evaluate(NAMELESS) == []
    assert await page.locator("[aria-live]:visible, [role=status]:visible, [role=log]").count() > 0


async def tab_to(page: Page, name: str, key: str) -> None:
    """Press a key until what is focused has this name; fails when the whole page was passed."""
    for _ in range(1000):  # the list may be of two hundred sessions
        if name in (await page.evaluate(NAME)):
            return
        await page.keyboard.press(key)
    raise AssertionError(f"{name} cannot be reached by {key}")


@pytest.mark.parametrize(
    ("width", "name", "panel"), [(1000, "Changed files", "review"), (390, "Sessions and files", "sidebar")]
)
async def test_a_drawer_takes_the_focus_and_gives_it_back(
    stage: Stage, browser: Browser, width: int, name: str, panel: str
) -> None:
    context = await browser.new_context(viewport={"width": width, "height": 844})
    tab = await stage.tab(context, await stage.session("In a drawer"))
    page, drawer = tab.page, tab.page.locator(f"#{panel}")
    opener = page.get_by_role("button", name=name, exact=True)
    await opener.press("Enter")
    await expect(drawer).to_be_focused()
    await expect(opener).to_have_attribute("aria-expanded", "true")
    for _ in range(12):
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.closest('.main') === null")
    await page.keyboard.press("Escape")
    await expect(opener).to_be_focused()
    await expect(opener).to_have_attribute("aria-expanded", "false")
    await opener.press("Enter")
    await page.locator(".scrim").click(position={"x": 1 if panel == "review" else width - 5, "y": 400})
    await expect(opener).to_be_focused()
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('.main') !== null")
    await context.close()


async def test_a_finger_opens_and_closes_the_drawers(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    stage.plays(Turn(text="```text\n" + "wide " * 200 + "\n```"))
    session = await stage.session("Swiped")
    await stage.client.prompt(session, "Something wide")
    tab = await stage.tab(context, session)
    devtools = await context.new_cdp_session(tab.page)
    layout = tab.page.locator("#layout")

    async def swipe(by: float, at: tuple[float, float] = (195, 200), down: float = 0) -> None:
        """Within a tenth of a second, as the page is told, however busy the machine is."""
        (x, y), steps, began = at, 4, time.time()
        kinds = ["touchStart", *["touchMove"] * steps, "touchEnd"]
        for step, kind in enumerate(kinds):
            part = min(step, steps) / steps
            points = [] if kind == "touchEnd" else [{"x": x + by * part, "y": y + down * part}]
            told = {"type": kind, "touchPoints": points, "timestamp": began + step / 50}
            await devtools.send("Input.dispatchTouchEvent", told)

    await tab.page.wait_for_function(
        "() => performance.getEntriesByType('resource').some(({ name }) => name.includes('swipes'))"
    )
    await swipe(150)
    await expect(layout).to_have_attribute("data-drawer", "sidebar")
    await swipe(-150)
    await expect(layout).not_to_have_attribute("data-drawer", re.compile("."))
    await swipe(-150)
    await expect(layout).to_have_attribute("data-drawer", "review")
    await swipe(150)
    await expect(layout).not_to_have_attribute("data-drawer", re.compile("."))

    code = await tab.page.locator("pre", has_text="wide").bounding_box()
    assert code is not None
    await swipe(-150, (code["x"] + 200, code["y"] + code["height"] / 2))
    await swipe(30)
    await swipe(90, down=80)
    await expect(layout).not_to_have_attribute("data-drawer", re.compile("."))
    await context.close()


SMALL = """
(controls) => controls
  .filter((control) => control.checkVisibility({ visibilityProperty: true }))
  .map((control) => ({ control, box: control.getBoundingClientRect() }))
  .filter(({ box }) => Math.min(box.width, box.height) < 44)
  .map(({ control, box }) => `${control.outerHTML}: ${box.width} by ${box.height}`)
"""
"""The controls that are narrower or lower than the tip of a finger, in CSS pixels."""


async def test_a_finger_hits_what_answers_and_what_sends(stage: Stage, browser: Browser) -> None:
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch thumb"})]), Turn(text="Done."))
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    tab = await stage.tab(context, await stage.session("by a finger"))
    await tab.send("Touch it.")
    await ready(tab.permissions)
    assert await tab.page.locator(":is(.bar, .permission, #composer) button").evaluate_all(SMALL) == []
    assert await tab.page.evaluate("document.documentElement.scrollWidth") == 390
    await tab.page.locator("#inbox-button").tap()
    entry = tab.page.locator(".inbox-entry", has_text="touch thumb")
    await ready(entry)
    assert await tab.page.locator("#inbox button").evaluate_all(SMALL) == []
    await entry.get_by_role("button", name="Allow once").tap()
    await expect(tab.messages).to_contain_text("Done.")
    await context.close()
