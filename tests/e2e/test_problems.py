"""Problems that real language servers find: counted in the header, marked in the diff, listed, and put to the
agent; a fix makes them go."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn
from tests.programs import pypi

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

BEFORE = 'import os\n\n\ndef greet(name: str) -> str:\n    return "Hello, " + name\n\n\nprint(greet("you"))\n'
WRONG = BEFORE.replace('greet("you")', "greet(missing)")
OTHER = "<b>x</b>"  # no Python at all
DARK, LIGHT = "rgb(31, 32, 37)", "rgb(255, 255, 255)"


def reads(*paths: str) -> Turn:
    return Turn(tools=[ToolUse("read", {"filePath": path}) for path in paths])


def writes(content: str) -> Turn:
    return Turn(tools=[ToolUse("write", {"filePath": "app.py", "content": content})])


async def turn(tab: Tab, text: str, answer: str) -> None:
    await tab.send(text)
    await expect(tab.messages).to_contain_text(answer)
    await tab.idle()


@pytest.mark.long
async def test_problems_are_counted_marked_listed_fixed_and_gone(
    context: BrowserContext, tmp_path: Path, user_environ: dict[str, str]
) -> None:
    pyright = await asyncio.to_thread(pypi, "basedpyright", "basedpyright-langserver", user_environ)
    lsp = {
        "ruff": {"command": [str(Path(sys.executable).parent / "ruff"), "server"]},
        "basedpyright": {"command": [str(pyright), "--stdio"]},
    }
    project = repository(tmp_path / "project")
    (project / "app.py").write_text(BEFORE)
    (project / "other.py").write_text(OTHER)
    (tmp_path / "home").mkdir()
    async with Stage(tmp_path / "home", project, lsp=lsp) as stage:
        tab = await stage.tab(context, await stage.session("problems"))
        await _appears(stage, tab)
        await _by_keyboard(tab)
        await _narrow_and_dark(tab)
        await _goes(stage, tab)


async def _appears(stage: Stage, tab: Tab) -> None:
    button, panel = tab.page.locator("#problems-button"), tab.page.locator("#problems")
    await expect(button).to_be_hidden()
    stage.plays(reads("app.py", "other.py"), Turn(text="Read."), writes(WRONG), Turn(text="Written."))
    await turn(tab, "Read it.", "Read.")
    await expect(button).to_be_visible()
    await button.click()
    app = panel.locator("section[data-key='app.py']")
    await expect(app).to_contain_text('Import "os" is not accessed basedpyright')
    await expect(app).to_contain_text("`os` imported but unused")
    await panel.get_by_role("button", name="Close").click()

    await turn(tab, "Change it.", "Written.")
    mark = tab.review.locator(".problem-mark[data-line='8'][data-severity='1']")
    await expect(mark).to_have_attribute("aria-expanded", "true")
    said = tab.review.locator("tr.problems")
    await expect(said).to_contain_text('"missing" is not defined')
    await expect(said).to_contain_text("Undefined name `missing`")
    await expect(tab.review.locator("#review-title .delta")).to_contain_text("+2 errors")
    await expect(tab.review.locator(".file .delta")).to_contain_text("+2 errors")
    await mark.click()
    await expect(said).to_be_hidden()
    for scope in ("turn", "session"):
        await tab.page.locator("#review-scope").select_option(scope)
        await expect(tab.page.locator("#review-scope")).to_have_value(scope)
    await expect(mark).to_have_attribute("aria-expanded", "false")  # as the person left it
    await expect(tab.page.locator("#problems-live")).to_contain_text("Problems: ")


async def _by_keyboard(tab: Tab) -> None:
    page, panel = tab.page, tab.page.locator("#problems")
    await tab.page.locator("#title").click()
    await page.keyboard.press("g")
    await page.keyboard.press("d")
    await expect(panel).to_be_visible()
    rows = panel.locator(".problem-row:visible")
    await expect(panel.locator("section")).to_have_count(2)
    await panel.get_by_label("Filter problems by text or file").fill("undefined NAME")
    await expect(rows).to_have_count(1)
    await panel.get_by_label("Errors").uncheck()
    await expect(panel.locator("#problems-unmatched")).to_be_visible()
    await panel.get_by_label("Errors").check()

    await panel.get_by_label("Filter problems by text or file").press("ArrowDown")
    await expect(rows).to_be_focused()
    await page.keyboard.press("f")
    await expect(panel).to_be_hidden()
    await expect(tab.prompt).to_be_focused()
    await expect(tab.prompt).to_have_value(
        "Fix this problem:\n\napp.py:8:13: error: Undefined name `missing` (Ruff F821)"
    )
    await expect(tab.messages.locator(".message.user")).to_have_count(2)
    await tab.prompt.fill("")

    await page.locator("#problems-button").click()
    await rows.first.focus()
    await page.keyboard.press("Enter")
    mark = tab.review.locator(".problem-mark[data-line='8']")
    await expect(mark).to_be_focused()
    await expect(mark).to_have_attribute("aria-expanded", "true")
    await page.locator("#problems-button").click()
    await panel.get_by_label("Filter problems by text or file").fill("other.py")
    await rows.first.click()
    await expect(panel.locator(".problem-lines li[aria-current]")).to_have_text("<b>x</b>")
    await panel.get_by_label("Filter problems by text or file").fill("")


async def _narrow_and_dark(tab: Tab) -> None:
    page, panel = tab.page, tab.page.locator("#problems")
    await page.set_viewport_size({"width": 390, "height": 844})
    await expect(panel).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    box = await panel.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    for scheme, colour in (("dark", DARK), ("light", LIGHT)):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await expect(panel).to_have_css("background-color", colour)
    await page.keyboard.press("Escape")
    await page.set_viewport_size({"width": 1440, "height": 900})


async def _goes(stage: Stage, tab: Tab) -> None:
    button, panel = tab.page.locator("#problems-button"), tab.page.locator("#problems")
    stage.plays(writes(BEFORE), Turn(text="Mended."))
    await turn(tab, "Mend it.", "Mended.")
    await tab.page.locator("#review-scope").select_option("turn")
    await expect(tab.review.locator("#review-title .delta")).to_contain_text("2 errors")
    gone = tab.review.locator(".problem-mark[data-gone]")
    await gone.click()
    await expect(tab.review.locator("tr.problems")).to_contain_text("was here")

    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    (stage.project / "other.py").write_text("print(absent)\n")
    await button.click()
    await panel.get_by_role("button", name="Check again").click()
    await expect(panel).to_contain_text("Undefined name `absent`")
    await expect(tab.page.locator("#problems-said")).to_be_empty()
    assert any("/problems/" in url for url in asked)
    assert not any("/review?" in url for url in asked), "no diff of it is shown"
    (stage.project / "other.py").write_text("print(1)\n")
    (stage.project / "app.py").write_text("print(1)\n")
    await panel.get_by_role("button", name="Check again").click()
    await expect(panel).to_contain_text("No problems are known")
    await expect(button).to_be_hidden()
