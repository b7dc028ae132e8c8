"""Apps of MCP servers in the cards of their calls: a real server, real documents, a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, FrameLocator, Locator, Page, expect

from tests.e2e import apps
from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab, ready
from tests.loopback.script import ToolUse, Turn
from tests.runtime.servers import ready as listed

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

RULES = {"*": "allow", "weather_refresh": "ask"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A server of its own, whose MCP server may show apps."""
    home = tmp_path_factory.mktemp("home")
    project = repository(tmp_path_factory.mktemp("apps") / "project")
    servers = {"weather": apps.server(home, apps=True)}
    async with Stage(home, project, mcp=servers, permission=RULES) as stage:
        await listed(stage.client, "weather_weather")
        yield stage


def asked(stage: Stage) -> list[dict[str, Any]]:
    return apps.asked(stage.home)


async def called(stage: Stage, context: BrowserContext, tool: str, title: str = "apps") -> Tab:
    """A page of a session in which the model has called a tool with an app."""
    stage.plays(Turn(tools=[ToolUse(f"weather_{tool}", {"city": "Paris"})]), Turn(text="There it is."))
    tab = await stage.tab(context, await stage.session(title))
    await tab.send("Show me the weather in Paris.")
    await tab.idle()
    return tab


def app_of(page: Page) -> Locator:
    return page.locator(".mcp-app")


def frame_of(page: Page) -> FrameLocator:
    return page.frame_locator(".mcp-app iframe")


async def test_an_app_is_told_of_its_call_and_calls_a_tool(place: Stage, context: BrowserContext) -> None:
    tab = await called(place, context, "weather")
    frame = frame_of(tab.page)
    await expect(frame.get_by_role("heading", name="Paris")).to_be_visible()
    await expect(frame.get_by_role("status")).to_have_text("21 degrees in Paris, says a station")
    assert asked(place)[-1] == {"tool": "shown", "city": "Paris", "apps": True}
    names = [tool["function"]["name"] for tool in place.model.requests[-1].body["tools"]]
    assert "weather_weather" in names
    assert "weather_refresh" not in names

    await frame.get_by_role("button", name="Look again").click()
    await ready(tab.permissions)
    await expect(tab.permissions).to_contain_text("The app shown in the conversation asks for refresh")
    assert asked(place)[-1]["tool"] == "shown"
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(frame.get_by_role("status")).to_have_text("22 degrees in Paris")

    await frame.get_by_role("button", name="Look again").click()
    await ready(tab.permissions)
    await tab.permissions.get_by_role("button", name="Reject").click()
    await expect(frame.get_by_role("status")).to_contain_text("Problem: The user rejected this call")
    assert [entry["tool"] for entry in asked(place)].count("refresh") == 1

    await tab.page.reload()
    await tab.connected()
    await expect(frame.get_by_role("status")).to_have_text("21 degrees in Paris, says a station")
