"""What people set in their system or browser: a very large zoom, touch, colours of their own."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.conftest import watch
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SMALL = """() => [...document.querySelectorAll(".button, .icon-button, .quiet, .round")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }))
  .filter((node) => node.getBoundingClientRect().height < 44)
  .map((node) => node.outerHTML.slice(0, 120))"""
FINE_PRINT = """() => [...document.querySelectorAll("input, select, textarea")]
  .filter((node) => node.checkVisibility() && !["checkbox", "radio", "range"].includes(node.type))
  .filter((node) => parseFloat(getComputedStyle(node).fontSize) < 16)
  .map((node) => node.outerHTML.slice(0, 120))"""


async def test_a_permission_leaves_room_at_400_percent(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(viewport={"width": 320, "height": 256})
    faults = watch(context)
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch at-400-percent"})]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("Zoomed"))
    await tab.send("Make it.")
    await expect(tab.permissions).to_be_visible()
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 320
    box = await tab.page.locator("#scroller").bounding_box()
    assert box is not None
    assert box["height"] >= 128
    await tab.prompt.scroll_into_view_if_needed()
    await expect(tab.prompt).to_be_in_viewport(ratio=1)
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("Done.")
    await context.close()
    assert faults == []


async def test_fingers_find_what_they_touch(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch by-a-finger"})]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("Touched"))
    await tab.send("Make it.")
    await expect(tab.permissions).to_be_visible()
    await tab.page.get_by_role("button", name="Allow…").tap()
    assert await tab.page.evaluate(SMALL) == []
    assert await tab.page.evaluate(FINE_PRINT) == []
    await context.close()


async def test_forced_colours_leave_shapes_and_outlines(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(forced_colors="active")
    session = await stage.session("Forced")
    tab = await stage.tab(context, session)
    drawn = "(node) => { const { outlineStyle } = getComputedStyle(node); return outlineStyle !== 'none'; }"
    assert await tab.item(session).evaluate(drawn)
    await context.close()


@pytest.mark.parametrize("forced", ["active", "none"])
async def test_a_state_is_told_by_its_shape(
    stage: Stage, browser: Browser, forced: Literal["active", "none"]
) -> None:
    context = await browser.new_context(forced_colors=forced)
    tab = await stage.tab(context, await stage.session("Shaped"))
    shape = """([state, unread]) => {
      const dot = Object.assign(document.createElement("span"), { className: "dot" });
      dot.dataset.state = state;
      const item = document.querySelector(".session-item");
      item.toggleAttribute("data-unread", unread);
      item.append(dot);
      const style = getComputedStyle(dot);
      const hollow = style.backgroundColor !== style.borderLeftColor;
      const seen = style.borderLeftColor !== "rgba(0, 0, 0, 0)";
      return [style.borderRadius, style.rotate, style.clipPath, style.borderTopWidth, hollow, seen].join();
    }"""
    states = ("idle", "working", "waiting", "stopped", "interrupted", "failed")
    shapes = {await tab.page.evaluate(shape, [state, False]) for state in states}
    shapes.add(await tab.page.evaluate(shape, ["idle", True]))
    assert len(shapes) == len(states) + 1
    await context.close()


async def test_the_first_stops_lead_past_the_sidebar(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(viewport={"width": 1000, "height": 800})
    tab = await stage.tab(context, await stage.session("Skipped"))
    await tab.page.get_by_role("link", name="Skip to the conversation").press("Enter")
    await expect(tab.page.locator("#scroller")).to_be_focused()
    await tab.page.get_by_role("link", name="Skip to the changed files").press("Enter")
    await expect(tab.review).to_be_focused()
    await context.close()
