"""The page of MCP servers: one is added, looked at, broken, mended and disabled; trust; signing in."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from tests import programs
from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.agents.servers.mcp.watching import raw
from tests.e2e.conftest import repository, watch
from tests.e2e.stage import Stage, Tab, hold

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

NARROW = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A server of its own: what is configured decides which tools every other test sees."""
    home = tmp_path_factory.mktemp("home")
    project = repository(tmp_path_factory.mktemp("servers") / "project")
    config = json.dumps({"mcp": {"theirs": raw()}})
    (project / "opencode.json").write_text(config)
    async with Stage(home, project) as stage:
        yield stage


async def opened(tab: Tab) -> Page:
    """The page, by the command."""
    await tab.send("/mcp")
    await tab.page.wait_for_url("**/servers?*", wait_until="load")  # the scripts of the page have run by then
    await expect(tab.page.get_by_role("heading", name="MCP servers")).to_be_visible()
    return tab.page


def row(page: Page, name: str) -> Locator:
    return page.locator("#mcp-list > .server", has=page.get_by_role("heading", name=name, exact=True))


def state(page: Page, name: str) -> Locator:
    return row(page, name).locator(".server-state")


async def test_a_server_is_added_looked_at_broken_mended_and_disabled(
    context: BrowserContext, place: Stage, user_environ: Mapping[str, str]
) -> None:
    everything = programs.npm(
        "@modelcontextprotocol/server-everything", "mcp-server-everything", user_environ
    )
    own = place.home / ".config" / "opencode" / "opencode.jsonc"
    page = await opened(await place.tab(context))
    dialog = page.locator("#dialog dialog")

    await page.get_by_role("button", name="Add a server").press("Enter")
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await page.keyboard.type("real")
    await page.get_by_label("Command").fill(f"'{everything}' stdio")
    await expect(page.locator("#server-words code").last).to_have_text("stdio")
    await dialog.get_by_label("Name of a variable").fill("A_KEY")
    await dialog.get_by_label("Value of a variable").fill("s3cret")
    await dialog.get_by_role("button", name="Test").press("Enter")
    await expect(page.locator("#server-test")).to_contain_text("It works")
    assert not own.exists()
    await dialog.get_by_role("button", name="Save").press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(state(page, "real")).to_contain_text(re.compile(r"Connected.*tools.*prompts.*resources"))
    assert json.loads(own.read_text())["mcp"]["real"]["environment"] == {"A_KEY": "s3cret"}

    await row(page, "real").get_by_text("Details").click()
    await page.get_by_label("Find a tool of real").fill("ECHO back")
    tools = row(page, "real").get_by_role("list", name="Tools")
    await expect(tools.locator("li:visible")).to_have_count(1)
    await tools.get_by_text("real_echo").click()
    await expect(tools.locator("pre")).to_contain_text('"message"')
    await row(page, "real").get_by_text("features.md", exact=True).click()
    await expect(row(page, "real").locator(".server-resource pre")).not_to_be_empty()
    await expect(row(page, "real").locator(".server-log")).to_contain_text("Starting")
    assert "s3cret" not in await page.content()

    await broken_and_mended(page, place)
    await row(page, "real").get_by_role("button", name="Disable").press("Enter")
    await expect(state(page, "real")).to_contain_text("Disabled")
    await expect(row(page, "real").get_by_role("button", name="Enable")).to_be_focused()
    assert json.loads(own.read_text())["mcp"]["real"]["enabled"] is False
    await row(page, "real").get_by_label("More for real").press("Enter")
    await row(page, "real").get_by_role("button", name="Remove").press("Enter")
    await expect(dialog).to_contain_text("opencode.jsonc")
    await dialog.get_by_role("button", name="Remove").press("Enter")
    await expect(row(page, "real")).to_have_count(0)
    await expect(page.locator("#mcp-title")).to_be_focused()


async def broken_and_mended(page: Page, place: Stage) -> None:
    """What was opened stays open, and another tab is told."""
    other = await place.tab(page.context)
    await expect(other.page.locator(".servers-badge")).to_have_count(0)
    dialog = page.locator("#dialog dialog")
    await edited(page, " ".join(raw("exits")["command"]))
    await expect(state(page, "real")).to_contain_text("Failed")
    await expect(row(page, "real").get_by_label("What happened")).to_contain_text("I do not want to")
    await expect(row(page, "real").locator(".server-log")).to_contain_text("I do not want to")
    await expect(other.page.get_by_role("link", name="MCP servers: 1 needs a look")).to_be_visible()
    await expect(other.page.locator(".servers-badge")).to_have_attribute("title", "real: failed")
    await edited(page, "'never closed")
    await expect(dialog.get_by_role("alert")).to_contain_text("no closing quotation")
    await page.keyboard.press("Escape")
    await edited(page, " ".join([*raw()["command"][:-1], "''"]))
    await expect(state(page, "real")).to_contain_text("14 tools")
    await expect(row(page, "real").get_by_text("real_grow")).to_be_visible()
    await expect(other.page.locator(".servers-badge")).to_have_count(0)
    await other.page.close()


async def edited(page: Page, command: str) -> None:
    await row(page, "real").get_by_label("More for real").click()
    await row(page, "real").get_by_role("button", name="Edit").click()
    await expect(page.get_by_label("Value of A_KEY, kept as it is when empty")).to_have_value("")
    await page.get_by_label("Command").fill(command)
    await page.locator("#dialog").get_by_role("button", name="Save").click()


async def test_a_projects_server_runs_once_it_is_trusted(context: BrowserContext, place: Stage) -> None:
    page = await opened(await place.tab(context))
    await expect(state(page, "theirs")).to_contain_text("Waits for your trust")
    await row(page, "theirs").get_by_role("button", name="Look at it").click()
    await expect(page.locator("#dialog dialog")).to_contain_text("raw_server.py")
    await page.get_by_role("button", name="Trust", exact=True).click()
    await expect(state(page, "theirs")).to_contain_text("Connected")


@pytest.mark.long
async def test_a_server_is_signed_in_to_and_out_of(context: BrowserContext, place: Stage) -> None:
    with Authority() as authority, Protected(authority) as protected:
        page = await opened(await place.tab(context))
        await page.get_by_role("button", name="Add a server").click()
        await page.get_by_label("Name", exact=True).fill("guarded")
        await page.get_by_label("An address").check()
        await page.get_by_label("Address", exact=True).fill(protected.address)
        await page.locator("#dialog").get_by_role("button", name="Test").click()
        await expect(page.locator("#server-test")).to_contain_text("wants you to sign in")
        await page.locator("#dialog").get_by_role("button", name="Save").click()
        guarded = row(page, "guarded")
        await guarded.get_by_role("button", name="Sign in").press("Enter")
        await expect(state(page, "guarded")).to_contain_text("Waiting for you to sign in")
        await guarded.get_by_role("button", name="Cancel").click()
        await guarded.get_by_role("button", name="Sign in").click()
        async with context.expect_page() as coming:
            await guarded.get_by_role("link", name="Open the sign-in page").click()
        await (await coming.value).close()
        await expect(state(page, "guarded")).to_contain_text("1 tool")
        await guarded.get_by_label("More for guarded").click()
        await guarded.get_by_role("button", name="Sign out").click()
        await expect(state(page, "guarded")).to_contain_text("Needs you to sign in")


async def test_the_page_fits_a_telephone_and_the_dark(browser: Browser, place: Stage) -> None:
    context = await browser.new_context(color_scheme="dark", **NARROW)  # type: ignore[arg-type]
    faults = watch(context)
    held = await hold(context, re.compile(r"/js/mcp\b.*\.js"))
    page = await opened(await place.tab(context))
    await row(page, "theirs").get_by_text("Details").click()
    held.free.set()  # a tap before the script is there counts
    await expect(row(page, "theirs").locator(".server-log")).not_to_be_empty()
    assert await overflow(page) <= 0
    await page.get_by_role("button", name="Add a server").click()
    await expect(page.get_by_role("button", name="Save")).to_be_in_viewport()
    assert await overflow(page) <= 0
    await context.close()
    assert faults == []


async def overflow(page: Page) -> int:
    """Pixels by which it is wider than the screen."""
    element = "document.documentElement"
    return int(await page.evaluate(f"{element}.scrollWidth - {element}.clientWidth"))
