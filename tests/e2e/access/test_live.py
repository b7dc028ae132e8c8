"""What is announced to those who hear the page: each thing once."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LISTEN = """() => {
  window.heard = [];
  const news = document.getElementById("turn-news");
  new MutationObserver(() => window.heard.push(news.textContent)).observe(news, { childList: true });
}"""


async def test_a_permission_a_call_and_the_end_are_announced_once(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch announced"})]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("announced"))
    elsewhere = await stage.tab(context)
    waiting = int(await tab.page.locator("#inbox-count").text_content() or 0)  # of other tests
    await tab.page.bring_to_front()
    await tab.page.evaluate(LISTEN)
    await tab.send("Make it.")
    await expect(tab.permissions).to_contain_text("Asked because of")
    await expect(elsewhere.page.locator("#inbox-news")).to_contain_text("touch announced")
    await expect(tab.page.locator("#inbox-count")).to_have_text(str(waiting + 1))
    await expect(tab.page.locator("#inbox-news")).to_be_empty()
    await expect(tab.permissions.locator(".answers")).to_have_attribute("aria-live", "off")
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(elsewhere.page.locator("#inbox-news")).to_be_empty()
    await expect(tab.page.locator("#turn-news")).to_contain_text("The agent is done.")
    heard = ". ".join(await tab.page.evaluate("window.heard"))
    assert heard.count("touch announced") == 1
    assert heard.count("The agent is done.") == 1
