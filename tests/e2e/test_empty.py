"""Where there is nothing to show, the page says what to do next."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, Tab

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bare(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A project in which nothing has happened."""
    home = tmp_path_factory.mktemp("bare")
    async with Stage(home, repository(home / "project")) as stage:
        yield stage


async def says(place: Locator, *words: str) -> None:
    """A title in the one form of all, and what to do next."""
    state = place.locator(".empty-state:visible")
    await expect(state).to_have_count(1)
    await expect(state.locator(".empty-state-title")).to_be_visible()
    for text in words:
        await expect(state).to_contain_text(text)


async def test_a_project_without_sessions(bare: Stage, context: BrowserContext) -> None:
    tab = await bare.tab(context)
    listed = tab.page.locator("#session-list")
    await says(listed, "No sessions yet", "Ask for something")
    session = await bare.session("The first")
    await expect(tab.item(session)).to_be_visible()
    await expect(listed.locator(".empty-state")).to_be_hidden()
    await tab.page.get_by_label("Filter sessions").fill("nothing")
    await says(listed, "No session has this in its title", "tick Archived")
    await tab.page.get_by_label("Archived").check()
    await says(listed, "fewer or other words")
    await tab.page.locator("#inbox-button").click()
    await says(tab.page.locator("#inbox"), "Nothing waits for you", "permission")
    await bare.client.delete_session(session)


async def test_a_session_without_changes(bare: Stage, context: BrowserContext) -> None:
    tab = await bare.tab(context, await bare.session("Nothing yet"))
    await tab.page.get_by_role("button", name="Changed files").click()
    await says(tab.review, "No files changed yet", "appears here")
    await tab.page.get_by_role("link", name="Timeline").click()
    await says(tab.page.locator("#moments"), "Nothing has happened yet", "Back to the session")
    await tab.page.locator("#moments").get_by_role("link", name="Back to the session").click()
    await tab.connected()


@pytest.mark.parametrize(
    ("address", "place", "words"),
    [
        ("log", "#log", ("Nothing was changed yet", "Ask it for a change")),
        ("rules", "#saved-rules", ("No rule is saved", "choose “Allow…”")),
        ("rules", "#audit", ("Nothing has been decided yet", "by which rule")),
        ("/servers?project={project}", "#mcp", ("No MCP server", "Add one above")),
        ("/import", "#import", ("No data of OpenCode was found", "Name its folder below")),
    ],
)
async def test_a_page_without_entries(
    bare: Stage, context: BrowserContext, address: str, place: str, words: tuple[str, ...]
) -> None:
    tab: Tab = await bare.tab(context)
    url = address if address.startswith("/") else f"{bare.home_path}{address}"
    project = bare.home_path.strip("/").rpartition("/")[2]
    await tab.page.goto(bare.server.url + url.format(project=project))
    await says(tab.page.locator(place), *words)
