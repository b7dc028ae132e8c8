"""Paths in traces and terminals open at their line."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import provokes, repository
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

FILES = (
    "app.py", "tests/test_app.py", "lib/run.mjs", "lib/old.js", "src/main.rs", "cmd/main.go", "web/main.ts",
    "server/src/main/java/org/some/Thing.java", "other/src/main/java/org/other/Thing.java", "net/Page.cs",
    "one/page.php", "pages/a/deep.c",
)  # fmt: skip
LINES = "".join(f"This is line {number}.\n" for number in range(1, 60))
TRACES = """\
Traceback (most recent call last):
  File "{root}/app.py", line 3, in <module>
tests/test_app.py:14: AssertionError
    at act (file://{root}/lib/run.mjs:5:7)
    at Object.<anonymous> ({root}/lib/old.js:6:1)
thread 'main' panicked at src/main.rs:7:9:
\t{root}/cmd/main.go:8 +0x1d
web/main.ts(9,4): error TS2322: wrong
\tat org.some.Thing.act(Thing.java:10)
   at Net.Page.Get() in {root}/net/Page.cs:line 11
PHP Fatal error: wrong in {root}/one/page.php on line 12
deep.c:13:2: error: wrong
{root}/nothing.py:1
/usr/lib/app.py:2
"""
LINKED = [
    ("app.py", "3"), ("tests/test_app.py", "14"), ("lib/run.mjs", "5"), ("lib/old.js", "6"),
    ("src/main.rs", "7"), ("cmd/main.go", "8"), ("web/main.ts", "9"),
    ("server/src/main/java/org/some/Thing.java", "10"),
    ("net/Page.cs", "11"), ("one/page.php", "12"), ("pages/a/deep.c", "13"),
]  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A project in many languages."""
    project = repository(tmp_path_factory.mktemp("traces") / "project")
    for name in FILES:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(LINES)
    (project / "traces").write_text(TRACES.format(root=project.resolve()))
    async with Stage(tmp_path_factory.mktemp("home"), project) as stage:
        yield stage


async def test_traces_of_many_languages_lead_to_their_lines(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(tools=[ToolUse("bash", {"command": "cat traces", "description": "Fails"})]), Turn(text="So.")
    )
    tab = await stage.tab(context, await stage.session("traces"))
    await tab.send("Run it.")
    await tab.idle()
    await tab.tool("cat traces").locator("summary").first.click()
    links = tab.tool("cat traces").locator(".file-link")
    await expect(links).to_have_count(len(LINKED))
    found = await links.evaluate_all("(all) => all.map(({ dataset }) => [dataset.file, dataset.line])")
    assert [tuple(one) for one in found] == LINKED
    await links.nth(3).click()
    await expect(place(tab.page)).to_have_text("Line 6, column 1")


def place(page: Page) -> Locator:
    return page.locator(".opened:visible .opened-place-of")


def screen(page: Page) -> Locator:
    return page.locator(".terminal-view:not([hidden]) .xterm-rows")


@pytest_asyncio.fixture(loop_scope="session")
async def tab(stage: Stage, context: BrowserContext) -> AsyncIterator[Tab]:
    """With a terminal that has printed the traces."""
    provokes(context, "/api/pty/")
    tab = await stage.tab(context, await stage.session("Terminals"))
    await tab.page.keyboard.press("Control+Backquote")
    await expect(tab.page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await tab.page.keyboard.type("cat traces\n")
    await expect(screen(tab.page)).to_contain_text("/usr/lib/app.py:2")
    yield tab
    for terminal in (await stage.client.http.get("/api/pty")).json()["data"]:
        await stage.client.http.delete(f"/api/pty/{terminal['id']}")


async def test_a_path_in_a_terminal_opens_with_ctrl_and_a_click(tab: Tab) -> None:
    row = screen(tab.page).get_by_text("src/main.rs:7:9")
    box = await row.bounding_box()
    assert box
    hover = (box["x"] + box["width"] - 40, box["y"] + box["height"] / 2)
    await tab.page.mouse.move(*hover)
    await expect(tab.page.locator(".terminal-screen:visible")).to_have_attribute(
        "title", "Ctrl and click: src/main.rs:7:9"
    )
    await tab.page.mouse.click(*hover)
    await expect(place(tab.page)).to_have_count(0)
    await tab.page.keyboard.down("Control")
    await tab.page.mouse.click(*hover)
    await tab.page.keyboard.up("Control")
    await expect(place(tab.page)).to_have_text("Line 7, column 9")


async def test_paths_of_a_terminal_are_listed_for_the_keyboard(tab: Tab) -> None:
    await tab.page.keyboard.press("Control+Shift+O")
    dialog = tab.page.get_by_role("dialog", name="Paths on the screen")
    await expect(dialog.get_by_role("listitem").first).to_have_text("deep.c:13:2")
    await expect(dialog.get_by_text(re.compile("nothing|/usr"))).to_have_count(0)
    await expect(dialog.get_by_role("button").first).to_be_focused()
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Enter")
    await expect(place(tab.page)).to_have_text("Line 12, column 1")
