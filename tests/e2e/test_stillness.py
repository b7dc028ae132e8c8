"""What is shown stays where it is: nothing jumps when a page opens, nor while an answer is written."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

STILL = 0.01
"""Cumulative Layout Shift up to which nobody sees anything move."""
WATCH = """
window.shifts = [];
// Rows of the list go from group to group as sessions begin and end.
const elementOf = (node) => (node?.closest ? node : node?.parentElement);
const isListed = ({ node }) => Boolean(elementOf(node)?.closest("#session-list"));
const told = ({ node }) => node?.id || node?.className || node?.nodeName;
// As https://github.com/WICG/layout-instability has it, of what moved beside the list in the same frame.
const moved = ({ previousRect: was, currentRect: is }) => {
  const [left, top] = [Math.min(was.left, is.left), Math.min(was.top, is.top)];
  const area = (Math.max(was.right, is.right) - left) * (Math.max(was.bottom, is.bottom) - top);
  const distance = Math.max(Math.abs(was.left - is.left), Math.abs(was.top - is.top));
  return (area / (innerWidth * innerHeight)) * (distance / Math.max(innerWidth, innerHeight));
};
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const others = sources.filter((source) => !isListed(source));
    if (sources.length && !others.length) continue;
    const beside = others.map(moved).reduce((sum, one) => sum + one, 0);
    window.shifts.push([others.length === sources.length ? value : beside, others.map(told)]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""
UNREAD = """
const main = document.querySelector("#main"), widths = [main.clientWidth];
document.querySelectorAll("#review, .edge-review").forEach((element) => element.remove());
widths.push(main.clientWidth);
widths[0] === widths[1] ? [] : widths;
"""
"""The width of the conversation with the panel, and while the browser has not read so far: if they differ."""


async def shifted(page: Page) -> list[object]:
    """What moved so far, when that is more than nothing; after two frames, in which the last is told of."""
    shifts = await page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        ".then(() => window.shifts)"
    )
    return shifts if sum(value for value, _ in shifts) > STILL else []


async def watched(stage: Stage, context: BrowserContext, session: str) -> Tab:
    """The session's page, all of it there."""
    await context.add_init_script(WATCH)
    tab = await stage.tab(context, session)
    await expect(tab.page.locator("#review .review-head")).to_have_count(1)
    return tab


async def test_opening_a_session_without_changes(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Nothing to change."))
    session = await stage.session("still")
    await stage.client.prompt(session, "Look.")
    tab = await watched(stage, context, session)
    await expect(tab.review).to_be_hidden()
    assert await shifted(tab.page) == []
    await tab.page.get_by_role("button", name="Changed files").click()
    await expect(tab.review).to_be_visible()
    await tab.page.reload()
    await expect(tab.page.locator("#review .review-head")).to_be_visible()
    assert await shifted(tab.page) == []


async def test_opening_a_session_with_changes(stage: Stage, context: BrowserContext) -> None:
    session = await stage.session("still, with changes")
    written = {"filePath": f"{session}.txt", "content": "still\n"}
    stage.plays(Turn(tools=[ToolUse("write", written)]), Turn(text="Done."))
    await stage.client.prompt(session, "Write.")
    tab = await watched(stage, context, session)
    await expect(tab.review.locator(".file")).to_be_visible()
    assert await shifted(tab.page) == []
    await tab.page.get_by_role("button", name="Changed files").click()
    await expect(tab.review).to_be_hidden()
    await tab.page.reload()
    await expect(tab.page.locator("#review .review-head")).to_have_count(1)
    await expect(tab.review).to_be_hidden()
    assert await shifted(tab.page) == []
    assert await tab.page.evaluate(UNREAD) == []
    await tab.page.reload()
    await tab.page.get_by_role("button", name="Changed files").click()
    await tab.page.reload()
    assert await tab.page.evaluate(UNREAD) == []


async def test_an_answer_that_is_written(stage: Stage, context: BrowserContext) -> None:
    words = [f"word{number} " for number in range(30)]
    paragraphs: list[str | Wait] = []
    for number in range(6):
        paragraphs += [*words, f"end{number}.\n\n", Wait(f"block{number}")]
    stage.plays(Turn(text=paragraphs))
    tab = await watched(stage, context, await stage.session("writes"))
    await tab.send("Write.")
    for number in range(6):
        await stage.model.gate(f"block{number}").reached()
        await expect(tab.messages).to_contain_text(f"end{number}.")
        if not number:
            # What a person does may move things; from here on only the answer does.
            await tab.page.evaluate("window.shifts.length = 0")
        stage.model.gate(f"block{number}").open()
    await tab.idle()
    assert await shifted(tab.page) == []


async def test_a_page_that_loads_asks_for_each_thing_once(
    context: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In a project where nothing else happens."""
    project = repository(tmp_path_factory.mktemp("still") / "project")
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url.partition("?")[0]))
    async with Stage(tmp_path_factory.mktemp("home"), project) as stage:
        tab = await stage.tab(context, await stage.session("asks once"))
        await expect(tab.page.locator("#problems-slot button")).to_be_attached()
        await tab.page.wait_for_load_state("networkidle")
        await tab.page.close()
    assert any(url.endswith("/pickers/status") for url in asked)
    assert sorted(asked) == sorted(set(asked))


@pytest.mark.parametrize("width", [1440, 390])
async def test_the_window_never_scrolls(stage: Stage, context: BrowserContext, width: int) -> None:
    """However long what is in it: a conversation of many cards, a long diff in the panel."""
    folder = f"tall{width}"
    calls = [ToolUse("read", {"filePath": "hello.py"}) for _ in range(40)]
    calls.append(ToolUse("bash", {"command": f"mkdir {folder} && seq 1 400 > {folder}/long.txt"}))
    stage.plays(Turn(tools=calls), Turn(text="All read."))
    tab = await stage.tab(context, await stage.session(folder))
    await tab.page.set_viewport_size({"width": width, "height": 800})
    await tab.send("Read it all.")
    await expect(tab.messages).to_contain_text("All read.")
    await tab.idle()
    if width == 390:
        await tab.page.get_by_role("button", name="Changed files", exact=True).click()
    await expect(tab.review.locator("table.diff")).to_be_attached()
    await tab.review.evaluate("panel => { panel.scrollTop = panel.scrollHeight; }")
    over = "() => document.scrollingElement.scrollHeight - innerHeight"
    assert await tab.page.evaluate(over) == 0
    await tab.page.locator("#scroller").evaluate("scroller => { scroller.scrollTop = 0; }")
    assert await tab.page.evaluate(over) == 0
