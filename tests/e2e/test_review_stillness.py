"""The review does not move under who reads it: not in the split view, and not while it is scrolled."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.e2e.test_stillness import shifted, watched
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

FILES = 60
SCROLL = """
async (panel) => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let at = -1; at < panel.scrollTop; ) {
    at = panel.scrollTop;
    panel.scrollBy(0, 150);
    for (let frames = 0; frames < 2; frames++) await frame();
  }
}
"""


async def test_the_split_view_takes_no_room_from_the_conversation(
    stage: Stage, context: BrowserContext
) -> None:
    session = await stage.session("split")
    written = {"filePath": f"{session}.txt", "content": "split\n"}
    stage.plays(Turn(tools=[ToolUse("write", written)]), Turn(text="Done."))
    await stage.client.prompt(session, "Write.")
    tab = await watched(stage, context, session)
    await expect(tab.review.locator(".file")).to_be_visible()
    width = "(panel) => panel.clientWidth"
    unified = await tab.review.evaluate(width)
    await tab.review.get_by_text("Split", exact=True).click()
    await expect(tab.review.locator("table.split")).to_be_visible()
    assert await tab.review.evaluate(width) == unified
    await tab.page.reload()
    await expect(tab.review.locator("table.split")).to_be_visible()
    assert await shifted(tab.page) == []
    assert await tab.review.evaluate(width) == unified


@pytest.mark.long
async def test_nothing_moves_while_a_long_review_is_scrolled(stage: Stage, context: BrowserContext) -> None:
    folder = stage.project / "many"
    folder.mkdir()
    command = f"for n in $(seq {FILES}); do seq 50 > many/$n.txt; done"
    stage.plays(Turn(tools=[ToolUse("bash", {"command": command})]), Turn(text="Done."))
    session = await stage.session("many files")
    await stage.client.prompt(session, "Write.")
    tab = await watched(stage, context, session)
    await expect(tab.review.locator(".file")).to_have_count(FILES)
    await tab.review.locator("#review-wide").click()
    await expect(tab.review.get_by_role("navigation", name="Files of the review")).to_be_visible()
    await tab.page.evaluate("window.shifts = []")
    await tab.review.evaluate(SCROLL)
    await expect(tab.review.locator("[data-lazy]")).to_have_count(0)
    assert await shifted(tab.page) == []
