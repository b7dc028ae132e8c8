"""What a person sees of the agent's browser: the site that is asked about, each step, the picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.agents.servers.browser.serving import serving
from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, ready
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def browse(action: str, **given: object) -> Turn:
    return Turn(tools=[ToolUse("browser", {"action": action, **given})])


async def test_the_agents_browser_asks_about_a_site_and_shows_what_it_sees(
    home: Path, tmp_path: Path, context: BrowserContext
) -> None:
    asking = {"*": "allow", "browser": "ask"}
    project = repository(tmp_path / "browsed")
    async with serving() as shop, Stage(home, project, browser=True, permission=asking) as stage:
        stage.plays(
            browse("open", url=shop.url),
            browse("look", picture=True),
            browse("click", ref="e9"),
            Turn(text="Seen."),
        )
        tab = await stage.tab(context, await stage.session("browses"))
        await tab.send("Look at the shop.")
        await expect(tab.permissions).to_contain_text("Open this site in the agent’s browser?")
        await expect(tab.permissions).to_contain_text(shop.url)
        await ready(tab.permissions)
        await tab.permissions.get_by_role("button", name="Allow once").click()
        await expect(tab.messages).to_contain_text("Seen.")
        await expect(tab.tool(f"Open {shop.url}")).to_contain_text("errors")
        looked = tab.tool(f"Look · {shop.url}")
        picture = looked.get_by_role("img", name="page.png")
        await expect(picture).to_be_visible()
        assert await picture.evaluate("(it) => it.decode().then(() => it.naturalWidth)") == 1280
        await looked.locator("summary").click()
        await expect(looked.locator(".tool-output")).to_contain_text('- heading "A shop" level=1')
