"""What the page looks like: its typefaces, its icon, its edges."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from opencode_web.vendor import STATIC
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]
WRITE = ToolUse("write", {"filePath": "wide.txt", "content": "wide\n"})
WIDTHS = """async () => {
  const names = ["Geist", "Geist Mono"];
  const loaded = await Promise.all(names.map((name) => document.fonts.load(`16px "${name}"`)));
  const context = document.createElement("canvas").getContext("2d");
  const width = (font) => {
    context.font = `100px "${font}"`;
    return context.measureText("Ask for a change, or what something does: 0123456789").width;
  };
  return {
    loaded: loaded.map((faces) => faces.length > 0),
    sans: width("Geist") / width("Geist Fallback"),
    mono: width("Geist Mono") / width("Geist Mono Fallback"),
    ligatures: getComputedStyle(document.querySelector("code, kbd, pre")).fontVariantLigatures,
    used: getComputedStyle(document.body).fontFamily.split(",")[0],
  };
}"""


async def test_the_typefaces_come_from_here_and_move_nothing(stage: Stage, context: BrowserContext) -> None:
    if not (STATIC / "vendor/@fontsource-variable/geist").exists():
        pytest.skip("the typefaces are not here: python -m opencode_web.vendor")
    tab = await stage.tab(context)
    said = await tab.page.evaluate(WIDTHS)
    assert said["loaded"] == [True, True]
    assert said["used"] == "Geist"
    assert said["ligatures"] == "none"
    assert abs(said["sans"] - 1) < 0.03
    assert abs(said["mono"] - 1) < 0.01


async def test_an_icon_is_drawn_from_the_sprite(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context)
    drawn = await tab.page.locator(".sidebar-head .icon").first.evaluate(
        "icon => { const box = icon.querySelector('use').getBBox(); return box.width > 4 && box.height > 4; }"
    )
    assert drawn


async def test_a_prompt_to_try_fills_the_composer(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context)
    await expect(tab.page.locator(".checkout")).to_contain_text("changed")
    await tab.page.get_by_role("button", name="Explain this project").click()
    await expect(tab.prompt).to_have_value(re.compile("^Explain how this project is built"))
    await expect(tab.prompt).to_be_focused()
    await expect(tab.page.locator("#send")).to_be_enabled()


async def test_the_list_is_as_wide_as_the_person_left_it(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context)
    edge = tab.page.get_by_role("separator", name="Width of the list")
    sidebar = tab.page.locator("#sidebar")
    await edge.focus()
    before = await width(sidebar)
    await edge.press("ArrowRight")
    await expect(edge).to_have_attribute("aria-valuenow", str(round(before + 16)))
    box = await edge.bounding_box()
    assert box
    await tab.page.mouse.move(box["x"] + 4, 400)
    await tab.page.mouse.down()
    await tab.page.mouse.move(box["x"] + 44, 400)
    await tab.page.mouse.up()
    assert await width(sidebar) == before + 56
    await tab.open()
    assert await width(sidebar) == before + 56
    await edge.dblclick()
    assert await width(sidebar) == before


async def test_the_panel_of_changes_is_as_wide_as_the_person_left_it(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(tools=[WRITE]), Turn(text=["Done."]))
    tab = await stage.tab(context, await stage.session("Wide"))
    edge = tab.page.get_by_role("separator", name="Width of the changed files")
    await expect(edge).to_be_hidden()
    await tab.send("Write")
    await expect(edge).to_be_visible()
    await edge.focus()
    before = await width(tab.review)
    await edge.press("ArrowLeft")
    assert await width(tab.review) == before + 16
    await edge.press("Home")
    await expect(edge).to_have_attribute("aria-valuenow", "320")
    await tab.page.reload()
    assert await width(tab.review) == 320


async def test_the_list_is_folded_and_shown_again(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context)
    sidebar = tab.page.locator("#sidebar")
    await tab.prompt.press("Control+b")
    await expect(sidebar).to_be_hidden()
    await tab.open()
    await expect(sidebar).to_be_hidden()
    await tab.page.get_by_role("button", name="Show the list of sessions").click()
    await expect(sidebar).to_be_visible()


async def width(part: Locator) -> int:
    box = await part.bounding_box()
    assert box
    return round(box["width"])


async def test_what_says_nothing_is_not_drawn(stage: Stage, context: BrowserContext) -> None:
    session = await stage.session("Idle")
    tab = await stage.tab(context, session)
    drawn = "part => getComputedStyle(part, '::before').display"
    assert await tab.connection.evaluate(drawn) == "none"
    await expect(tab.item(session).locator(".dot")).to_have_css("border-top-color", "rgba(0, 0, 0, 0)")


async def test_the_filter_shows_its_whole_name_in_a_narrow_list(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context)
    await tab.page.set_viewport_size({"width": 800, "height": 700})
    edge = tab.page.get_by_role("separator", name="Width of the list")
    await edge.press("Home")
    room = """field => {
      const context = document.createElement("canvas").getContext("2d");
      context.font = getComputedStyle(field).font;
      return field.clientWidth - context.measureText(field.placeholder).width;
    }"""
    assert await tab.page.get_by_label("Filter sessions by title").evaluate(room) >= 0
