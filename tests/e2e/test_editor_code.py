"""What a language server knows, in the editor: problems, what a name is and where, completion, renaming."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Response, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab, hold
from tests.programs import apt

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

STARTING = 60
"""Seconds for a language server to start."""
HEADER = "int total_of(int first, int second);\n"
MAIN = '#include "lib.h"\n\nint main(void) {\n  return total_of(1, 2);\n}\n'


@pytest_asyncio.fixture(loop_scope="session")
async def place(tmp_path: Path) -> AsyncIterator[Stage]:
    apt("clangd")
    project = repository(tmp_path / "project")
    (project / "lib.h").write_text(HEADER)
    (project / "main.c").write_text(MAIN)
    (tmp_path / "home").mkdir()
    async with Stage(tmp_path / "home", project, lsp=True) as stage:
        yield stage


async def opened(place: Stage, context: BrowserContext, name: str) -> Tab:
    tab = await place.tab(context, await place.session("code"))
    await tab.page.keyboard.press("Control+Shift+E")
    await tab.page.locator(f"#files-tree .files-row[data-path='{name}']").click()
    await expect(tab.page.get_by_role("textbox", name=f"Text of {name}")).to_be_focused()
    return tab


def first_answer(context: BrowserContext) -> asyncio.Future[Response]:
    """To an editor that asks what is known about the code."""
    answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

    def answered(response: Response) -> None:
        if response.url.endswith("/pickers/code") and not answer.done():
            answer.set_result(response)

    context.on("response", answered)
    return answer


async def go(tab: Tab, line: int, right: int) -> None:
    keyboard = tab.page.keyboard
    await keyboard.press("Control+g")
    await keyboard.type(str(line))
    await keyboard.press("Enter")
    await expect(tab.page.locator(".opened:visible .opened-place-of")).to_have_text(f"Line {line}, column 1")
    await expect(tab.page.get_by_role("textbox", name="Text of")).to_be_focused()
    for _ in range(right):
        await keyboard.press("ArrowRight")


async def test_the_editor_knows_the_code(place: Stage, context: BrowserContext) -> None:
    answer = first_answer(context)
    tab = await opened(place, context, "main.c")  # the server is asked what is wrong
    await asyncio.wait_for(answer, STARTING)
    keyboard, page = tab.page.keyboard, tab.page
    await go(tab, 4, 12)
    await keyboard.press("F12")
    await expect(page.get_by_role("textbox", name="Text of lib.h")).to_be_focused()
    await expect(page.locator(".opened:visible .opened-place-of")).to_have_text("Line 1, column 5")
    await page.get_by_role("tab", name="main.c").click()

    await page.locator(".cm-line", has_text="return").get_by_text("total_of").hover()
    await expect(page.locator(".cm-about")).to_contain_text("total_of")

    await go(tab, 4, 12)
    await keyboard.press("F2")
    name = page.get_by_label("New name")
    await expect(name).to_have_value("total_of")
    await name.fill("sum_of")
    await keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Text of main.c")).to_contain_text("sum_of(1, 2)")
    await expect(page.locator(".toast", has_text="Renamed in ")).to_be_visible()
    assert "sum_of(1, 2)" in (place.project / "main.c").read_text()


async def test_a_definition_has_the_keyboard_though_the_page_grew_meanwhile(
    place: Stage, context: BrowserContext
) -> None:
    tab = await opened(place, context, "main.c")
    held = await hold(tab.page, "**/files/view*")
    await go(tab, 4, 12)
    await tab.page.keyboard.press("F12")
    await held.asked.wait()
    await tab.page.evaluate("() => document.dispatchEvent(new CustomEvent('page:grown'))")
    await expect(tab.page.locator("#prompt")).to_be_focused()
    held.free.set()
    await expect(tab.page.get_by_role("textbox", name="Text of lib.h")).to_be_focused()


async def test_problems_are_marked_and_words_completed(place: Stage, context: BrowserContext) -> None:
    tab = await opened(place, context, "main.c")
    await go(tab, 4, 2)
    await tab.page.keyboard.type("tot")
    await expect(tab.page.get_by_role("option", name="total_of").first).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.type("ally wrong;\n")
    await expect(tab.page.locator(".cm-lint-marker-error")).to_be_visible()

    await tab.page.keyboard.press("Control+s")
    await expect(tab.page.locator("#problems-button")).to_be_visible()
    assert await tab.page.locator("#problems-button").get_attribute("data-words")


async def test_without_a_server_nothing_is_asked_again(place: Stage, context: BrowserContext) -> None:
    answer = first_answer(context)
    tab = await opened(place, context, "hello.py")  # it is asked what is wrong
    assert await (await asyncio.wait_for(answer, STARTING)).json() == {"off": True}
    await tab.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    asked: list[str] = []
    tab.page.on(
        "request", lambda request: asked.append(request.url) if "pickers/code" in request.url else None
    )
    await tab.page.keyboard.type("xy")
    await tab.page.keyboard.press("F12")
    await tab.page.keyboard.press("Control+s")
    await expect(tab.page.locator(".opened:visible .opened-state")).to_have_text("Saved")
    assert asked == []
