"""Apps of MCP servers in the cards of their calls: a real server, real documents, a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Frame, FrameLocator, Locator, Page, Route, expect

from tests import programs
from tests.e2e import apps
from tests.e2e.conftest import provokes, repository
from tests.e2e.stage import FRAMES, Stage, Tab, ready
from tests.loopback.script import ToolUse, Turn, Wait
from tests.runtime.servers import ready as listed
from tests.server import until

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
    await tab.page.goto(f"{place.server.url}{place.home_path}rules/decisions")
    await expect(tab.page.locator(".decision", has_text="for an app of its server")).to_have_count(1)


async def test_a_link_and_a_prompt_are_left_to_the_person(place: Stage, context: BrowserContext) -> None:
    tab = await called(place, context, "weather")
    page, frame, card = tab.page, frame_of(tab.page), tab.page.locator(".app-ask")
    await context.route("https://example.com/**", lambda route: route.fulfill(body="A forecast."))

    await frame.get_by_role("button", name="Open the forecast").click()
    await expect(card).to_contain_text("https://example.com/forecast")
    await ready(card)
    await card.get_by_role("button", name="No").click()
    await expect(card).to_have_count(0)
    await frame.get_by_role("button", name="Open the forecast").click()
    await ready(card)
    async with context.expect_page() as opened:
        await card.get_by_role("link", name="Open example.com").click()
    other = await opened.value
    await expect(other.locator("body")).to_have_text("A forecast.")
    assert await other.evaluate("opener") is None
    await other.close()

    await tab.prompt.fill("Listen: ")
    await frame.get_by_role("button", name="Ask about it").click()
    await expect(card).to_contain_text("Will it rain in Paris?")
    await expect(tab.prompt).to_have_value("Listen: ")
    await ready(card)
    await card.get_by_role("button", name="Put it into the prompt").click()
    await expect(tab.prompt).to_have_value("Listen: Will it rain in Paris?")
    sent = await place.client.messages(tab.session_id)
    assert [message["info"]["role"] for message in sent].count("user") == 1

    await frame.get_by_role("button", name="Look again").focus()
    await page.keyboard.press("Escape")
    await expect(app_of(page)).to_be_focused()
    await page.emulate_media(color_scheme="dark")
    await expect(frame.locator("html")).to_have_css("color-scheme", "dark")


async def test_an_app_is_read_when_it_is_seen(place: Stage, context: BrowserContext) -> None:
    read: list[str] = []
    context.on("request", lambda request: read.append(request.url) if "/app" in request.url else None)
    place.plays(Turn(tools=[ToolUse("weather_weather", {"city": "Paris"})]), Turn(text="One line.\n\n" * 200))
    session = await place.session("long")
    await place.client.prompt(session, "Show me the weather in Paris.")
    tab = await place.tab(context, session)
    await expect(tab.messages.get_by_text("One line.").last).to_be_in_viewport()
    assert read == []
    await tab.tool("weather_weather").scroll_into_view_if_needed()
    await expect(frame_of(tab.page).get_by_role("status")).to_contain_text("21 degrees")
    forged = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "refresh"}}
    await tab.page.evaluate("(message) => postMessage(message, '*')", forged)
    await tab.page.evaluate(FRAMES)
    assert [url for url in read if url.endswith("/ask")] == []


async def test_what_an_app_changes_can_be_undone(place: Stage, context: BrowserContext) -> None:
    tab = await called(place, context, "weather")
    await expect(frame_of(tab.page).get_by_role("status")).to_contain_text("21 degrees")
    call = "(text) => ask('tools/call', { name: 'note_down', arguments: { text } }).then(words)"
    assert await inside(tab.page).evaluate(call, "by the app") == "noted"
    assert (place.project / "noted.txt").read_text() == "by the app"
    (changed,) = await place.client.get(f"/session/{tab.session_id}/diff")
    assert changed["file"] == "noted.txt"
    await tab.undo(0)
    await tab.dialog.get_by_role("button", name="Undo 1 prompt").click()
    await expect(tab.dialog).to_have_count(0)
    assert not (place.project / "noted.txt").exists()


async def test_what_is_asked_for_ends_with_the_page(place: Stage, context: BrowserContext) -> None:
    other = await place.session("elsewhere")
    tab = await called(place, context, "weather")
    await frame_of(tab.page).get_by_role("button", name="Look again").click()
    await expect(tab.permissions).to_be_visible()
    async with place.client.events() as events:
        await tab.item(other).locator("a").first.click()
        await until(events, "permission.replied")
        await expect(app_of(tab.page)).to_have_count(0)
        await expect(tab.permissions).to_have_count(0)
        await tab.page.go_back()
        await frame_of(tab.page).get_by_role("button", name="Look again").click()
        await expect(tab.permissions).to_be_visible()
        async with tab.page.expect_request("**/app/ask"):
            pass
        await tab.page.goto(f"{place.server.url}/help")
        await until(events, "permission.replied")
    assert await place.client.get("/permission") == []
    assert [entry["tool"] for entry in asked(place)][-1] == "shown"


async def test_what_an_app_asks_outlives_the_turn(place: Stage, context: BrowserContext) -> None:
    place.plays(
        Turn(tools=[ToolUse("weather_weather", {"city": "Paris"})]),
        Turn(text=["There ", Wait("turn"), "it is."]),
    )
    tab = await place.tab(context, await place.session("in the middle"))
    frame = frame_of(tab.page)
    await tab.send("Show me the weather.")
    await frame.get_by_role("button", name="Look again").click()
    await expect(tab.permissions).to_be_visible()
    place.model.gate("turn").open()
    await expect(tab.messages).to_contain_text("There it is.")
    await tab.idle()
    await ready(tab.permissions)
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(frame.get_by_role("status")).to_have_text("22 degrees in Paris")


async def test_only_what_a_person_lets_through_is_reached(place: Stage, context: BrowserContext) -> None:
    reached: list[str] = []

    async def elsewhere(route: Route) -> None:
        reached.append(route.request.url)
        await route.fulfill(body="", headers={"Access-Control-Allow-Origin": "*"})

    await context.route(lambda url: not url.startswith((place.server.url, "data:", "blob:")), elsewhere)
    provokes(context, "/app/frame", "example", place.server.url)
    tab = await called(place, context, "reaching")
    app, fetches = app_of(tab.page), "(url) => fetch(url).then(() => true, () => false)"
    await expect(app.get_by_role("listitem")).to_have_text(
        ["https://api.example.com", "https://cdn.example.com"]
    )
    await expect(app.locator("iframe")).to_have_count(0)
    await app.get_by_role("button", name="Show it without").click()
    await expect(frame_of(tab.page).get_by_role("status")).to_contain_text("21 degrees")
    assert not await inside(tab.page).evaluate(fetches, "https://api.example.com/1")
    digest = await app.get_attribute("data-reach")
    async with tab.page.expect_response(f"**/app/frame?reach={digest}") as given:
        await inside(tab.page).evaluate("(digest) => void (location.search = `reach=${digest}`)", digest)
    assert (await given.value).status in (303, 401), "what it asks for itself has no login"
    assert reached == []

    await tab.page.reload()
    await tab.connected()
    await app.get_by_role("button", name="Let it reach them").click()
    await expect(frame_of(tab.page).get_by_role("status")).to_contain_text("21 degrees")
    assert await inside(tab.page).evaluate(fetches, "https://api.example.com/2")
    for url in ("https://cdn.example.com/3", "https://evil.example/4", f"{place.server.url}/session"):
        assert not await inside(tab.page).evaluate(fetches, url)
    assert reached == ["https://api.example.com/2"]

    await tab.page.reload()
    await tab.connected()
    await expect(frame_of(tab.page).get_by_role("status")).to_contain_text("21 degrees")


async def test_a_hostile_app_reaches_nothing(place: Stage, context: BrowserContext) -> None:
    reached: list[str] = []

    async def elsewhere(route: Route) -> None:
        reached.append(route.request.url)
        await route.abort()

    await context.route(lambda url: not url.startswith((place.server.url, "data:", "blob:")), elsewhere)
    provokes(context, "/app/frame", "evil.example", "status of 40")
    tab = await called(place, context, "hostile")
    page, frame = tab.page, frame_of(tab.page)
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    before = page.url
    await frame.get_by_role("button", name="Try everything").click()
    found = frame.get_by_role("status")
    await expect(found).to_contain_text("done")
    outcomes = json.loads((await found.inner_text()).removesuffix("done"))
    assert {name: said for name, said in outcomes.items() if said != "no"} == {}
    assert await inside(page).evaluate("origin") == "null"
    assert page.url == before
    assert reached == []
    assert [url for url in sockets if "hostile" in url] == []
    assert len(context.pages) == 1
    await expect(tab.permissions).to_have_count(0)
    assert {entry["tool"] for entry in asked(place)} <= {"shown", "refresh"}

    await frame.get_by_role("button", name="Be huge").click()
    await expect(app_of(page).locator("iframe")).to_have_css("height", "720px")
    await frame.get_by_role("button", name="Flood").click()
    await expect(app_of(page)).to_contain_text("sent too many messages")
    await expect(app_of(page).locator("iframe")).to_have_count(0)
    await expect(page.locator(".app-ask")).to_have_count(0)

    await app_of(page).get_by_role("button", name="Start it again").click()
    await frame.get_by_role("button", name="Steal the keys").click()
    await tab.prompt.click()
    await page.keyboard.type("What I write here", delay=30)
    await expect(app_of(page)).to_contain_text("took the focus from where you wrote")
    await expect(tab.prompt).to_be_focused()
    await page.keyboard.type(" is mine.")
    assert (await tab.prompt.input_value()).endswith(" is mine.")

    await app_of(page).get_by_role("button", name="Start it again").click()
    await frame.get_by_role("button", name="Leave").click()
    await expect(tab.prompt).to_be_editable()
    assert reached == []
    assert page.url == before


async def test_apps_are_off_until_they_are_switched_on(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project, mcp={"weather": apps.server(home)}) as stage:
        await listed(stage.client, "weather_weather")
        tab = await called(stage, context, "weather")
        page = tab.page
        await expect(tab.tool("weather_weather")).to_contain_text(
            "It runs once you let the server show its apps"
        )
        await expect(app_of(page)).to_have_count(0)
        assert asked(stage)[-1]["apps"] is False
        session = page.url

        await tab.tool("weather_weather").get_by_role("link", name="Servers").click()
        row = page.locator("#mcp-list > .server")
        await row.get_by_label("More for weather").click()
        await row.get_by_role("button", name="Show its apps").click()
        await expect(page.locator("#servers-said")).to_contain_text("its apps are shown")
        await expect(page.locator("#servers-said")).to_have_text("weather: Connected")
        await expect(row.locator("button", has_text="Show none of its apps")).to_have_count(1)
        await page.goto(session)
        await expect(frame_of(page).get_by_role("status")).to_contain_text("21 degrees in Paris")
        stage.plays(Turn(tools=[ToolUse("weather_weather", {"city": "Rome"})]), Turn(text="Warm."))
        await tab.send("And in Rome?")
        await expect(tab.messages).to_contain_text("Warm.")
        assert asked(stage)[-1] == {"tool": "shown", "city": "Rome", "apps": True}

        await stage.client.http.post("/mcp/weather/disconnect")
        await page.reload()
        await expect(page.locator(".app-off").first).to_contain_text("is not there any longer")
        await expect(app_of(page)).to_have_count(0)
        await tab.tool("weather_weather").first.locator("summary").click()
        await expect(tab.tool("weather_weather").first).to_contain_text("21 degrees in Paris")


async def test_the_library_of_apps_works(
    home: Path, project: Path, context: BrowserContext, user_environ: Mapping[str, str]
) -> None:
    """With the client that apps are written with (`@modelcontextprotocol/ext-apps`)."""
    library = programs.apps(user_environ)
    exported = re.search(r"(\w+) as App\b", library)
    assert exported
    document = (apps.HERE / "library.txt").read_text().replace("LIBRARY", library).replace("APP", exported[1])
    (home / "library.html").write_text(document)
    server = apps.server(home, apps=True)
    server["command"].append(str(home / "library.html"))
    async with Stage(home, project, mcp={"weather": server}) as stage:
        await listed(stage.client, "weather_library")
        tab = await called(stage, context, "library")
        frame = frame_of(tab.page)
        await expect(frame.get_by_role("heading")).to_have_text("Paris, 21")
        await frame.get_by_role("button").click()
        await expect(frame.get_by_role("status")).to_have_text("22 degrees in Paris, ui://test/weather")


def inside(page: Page) -> Frame:
    """The app's own document."""
    (frame,) = [frame for frame in page.frames if "/app/frame" in frame.url]
    return frame
