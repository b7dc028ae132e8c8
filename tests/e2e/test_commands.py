"""A command from the composer: completed, refused with the text kept, asked about, carried out."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_a_command_is_completed_refused_asked_about_and_carried_out(
    home: Path, project: Path, context: BrowserContext
) -> None:
    command = {"greet": {"template": "Greet $1: !`echo $1 | tr a-z A-Z`", "description": "Greets somebody"}}
    permission = {"*": "allow", "bash": "ask"}
    async with Stage(home, project, command=command, permission=permission) as stage:
        stage.plays(Turn(text="Good day."))
        tab = await stage.tab(context, await stage.session("commands"))
        await tab.prompt.press_sequentially("/gre")
        await expect(tab.page.get_by_role("option", name="/greet")).to_contain_text("Greets somebody")
        await tab.prompt.press("Enter")
        await expect(tab.prompt).to_have_value("/greet ")
        await tab.prompt.press("Enter")
        await expect(tab.page.get_by_role("alert")).to_contain_text("Argument $1 is missing")
        await expect(tab.prompt).to_have_value("/greet ")
        await tab.send("/greet Ann")
        await expect(tab.permissions).to_contain_text("echo Ann | tr a-z A-Z")
        await expect(tab.permissions).to_contain_text("Part of the command /greet")
        await tab.permissions.get_by_role("button", name="Allow once").click()
        await expect(tab.messages).to_contain_text("Good day.")
        await expect(tab.tool("echo Ann")).to_be_visible()
        await expect(tab.messages).to_contain_text("/greet Ann")
        await expect(tab.messages).not_to_contain_text("Greet Ann: ANN")
        assert "Greet Ann: ANN" in str(stage.model.requests[0].body["messages"][-1])
        await tab.idle()


async def test_a_name_that_is_typed_whole_comes_first(stage: Stage, context: BrowserContext) -> None:
    """`/models` and `/review-mode` begin with these, and would be taken by Enter."""
    tab = await stage.tab(context, await stage.session("whole names"))
    for name in ("/mode", "/review"):
        await tab.prompt.fill(name)
        await expect(tab.page.get_by_role("option").nth(1)).to_be_visible()
        await expect(tab.page.get_by_role("option").first).to_have_attribute("data-command", name[1:])
    await tab.prompt.fill("")
