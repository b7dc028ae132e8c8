"""The agent's browser on real pages: what it sees of them, what it does with them, what it is told."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from agents.config.schema import Config
from agents.servers.browser import service
from agents.toolkit import scratch
from agents.toolkit.base import ToolError
from agents.tools import browser
from agents.tools.registry import toolset
from sessions.core import bus, paths, variables
from sessions.core.platform.processes import processes
from tests.agents.servers.browser.conftest import Hand
from tests.agents.servers.browser.serving import Shop
from tests.agents.tools.context import DirectContext, turn_in


async def test_a_page_is_a_tree_of_names_with_refs_for_what_acts(hand: Hand, shop: Shop) -> None:
    opened = await hand.call("open", url=shop.url)
    assert opened.output.startswith(f"{shop.url}/ · 'A shop'\nNew in the console: ")
    assert opened.title == f"Open {shop.url}"
    assert opened.metadata["errors"] >= 2
    seen = await hand.says("look")
    for line in (
        '- heading "A shop" level=1',
        '- link "Second page" [e',
        '- textbox "Name" [e',
        'value="Nobody" required',
        'value="Small" collapsed: Small, Large',
        '- date "Day" [e',
        '- checkbox "A gift" [e',
        '- button "Buy it" [e',
        '- button "Sold out" [e',
        "- clickable [e",
        ": Pick me",
        "- status: Nothing yet.",
        '- button "In the frame" [e',
    ):
        assert line in seen, seen
    assert "hunter2" not in seen
    assert seen.count("In the frame") == 1, "of the frame of another site nothing is told"
    assert seen.count("A shop") == 2
    assert seen.count("Name") == 1, "a label is told with what it is for"
    assert await hand.says("look") == seen, "a thing has the same ref as long as its page is there"


async def test_it_is_used_and_tells_what_came_of_it(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=shop.url)
    clicked = await hand.call("click", ref=await hand.ref("Buy it"))
    assert clicked.title == f'Click button "Buy it" · {shop.url}'
    assert "- status: 1 bought" in await hand.says("look")
    assert "New in the console: 1 error." in await hand.click("Buy it")
    await hand.click("clickable")
    assert "- status: Picked" in await hand.says("look")
    assert "confirm('Sure?'), which was answered Cancel" in await hand.click("Delete all")
    assert "- status: Spared" in await hand.says("look")
    assert "confirm('Sure?'), which was answered OK" in await hand.click("Delete all", accept=True)
    assert "- status: Deleted" in await hand.says("look")
    assert "alert('Hello'), which was answered OK" in await hand.click("Greet")
    await hand.call("press", key="Control+b")
    assert "- status: Bold" in await hand.says("look")
    with pytest.raises(ToolError, match="There is no key 'Nokey'"):
        await hand.call("press", key="Nokey")
    with pytest.raises(ToolError, match="<div#cover> lies on top of it"):
        await hand.click('"Below"')
    with pytest.raises(ToolError, match="There is no 'e99' on this page"):
        await hand.call("click", ref="e99")


async def test_forms_are_filled_in_and_sent(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=shop.url)
    await hand.call("type", ref=await hand.ref('combobox "Size"'), text="Large")
    with pytest.raises(ToolError, match="It has no such option; there are: Small, Large"):
        await hand.call("type", ref=await hand.ref('combobox "Size"'), text="Huge")
    await hand.call("type", ref=await hand.ref('"Day"'), text="2026-05-04")
    await hand.click("A gift")
    name = await hand.ref('textbox "Name"')
    await hand.call("type", ref=name, text="Ada")
    assert 'value="Ada"' in await hand.says("look")
    await hand.call("type", ref=name, text="")
    assert 'value="Ada"' not in await hand.says("look")
    with pytest.raises(ToolError, match="Nothing can be typed into it"):
        await hand.call("type", ref=await hand.ref("Buy it"), text="x")
    sent = await hand.call("type", ref=name, text="Grace", submit=True)
    assert "/second?name=Grace&size=Large&day=2026-05-04&gift=on&key=hunter2" in sent.output
    assert "'Second'" in sent.output
    assert "- paragraph: Nothing more to see." in await hand.says("look")
    with pytest.raises(ToolError, match="on this page"):
        await hand.call("click", ref=name)


async def test_a_picture_is_attached_where_the_model_sees_pictures(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=shop.url, width=390)
    shown = await hand.call("look", picture=True)
    (picture,) = shown.attachments
    assert (picture.mime, picture.filename) == ("image/png", "page.png")
    assert picture.url.startswith("data:image/png;base64,iVBOR")
    assert "is attached" in shown.output
    hand.context.model_takes_files = False
    shown = await hand.call("look", picture=True)
    assert not shown.attachments
    assert "this model takes text only" in shown.output


async def test_the_console_and_the_network_are_told(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=shop.url)
    said = await hand.says("console")
    assert "[log] The shop opens {items: 3}" in said
    assert "[error] The cart is broken" in said
    assert "(×2)" in said
    first, *_ = (await hand.says("network")).splitlines()[2:]
    assert first.startswith(f"GET {shop.url}/missing → 404 (Fetch)")
    for _ in range(2):
        await hand.click("Buy it")
    assert "[error] Uncaught Error: No more" in await hand.says("console")
    await hand.call("open", url=f"{shop.url}/second")
    assert "(Nothing was said.)" in await hand.says("console")
    missing = await hand.call("open", url=f"{shop.url}/nothing")
    assert "'Missing' (HTTP 404)" in missing.output


async def test_it_waits_for_what_a_page_loads(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=f"{shop.url}/late")
    assert "- paragraph: Late" in await hand.says("look")


async def test_windows_and_downloads_are_not_let(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=shop.url)
    told = await hand.click("New window")
    assert f"The page opened a window, which was closed: {shop.url}/second." in told
    assert "'A shop'" in told
    assert "The page began a download (prices.csv), which was not let." in await hand.click("Prices")
    assert "'A shop'" in await hand.says("look")


async def test_a_page_that_does_not_answer_is_told(
    hand: Hand, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hand.call("open", url=f"{shop.url}/spins")
    ref = await hand.ref("Spin")
    monkeypatch.setattr("agents.servers.browser.page.LOAD_SECONDS", 0.5)
    with pytest.raises(ToolError, match="does not answer"):
        await hand.call("click", ref=ref)
    told = await hand.says("open", url=f"{shop.url}/second")
    assert "'Second'" in told
    assert "This is a new browser" in told


def chromiums(context: DirectContext) -> list[int]:
    """Those that keep their profile in the session's scratch folder."""
    home = str(scratch.folder(paths.tool_output(), context.session_id)).encode()
    found = []
    for pid in processes():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if home in line and b"--type=" not in line:
            found.append(pid)
    return found


async def test_a_crash_is_told_and_another_one_begins(hand: Hand, shop: Shop) -> None:
    with pytest.raises(ToolError, match="No page is open"):
        await hand.call("look")
    await hand.call("open", url=shop.url)
    looking = asyncio.create_task(hand.call("open", url=f"{shop.url}/late"))
    for pid in chromiums(hand.context):
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(
        ToolError, match=r"The browser has ended: ended by SIGKILL. `open` begins another one"
    ):
        await looking
    with pytest.raises(ToolError, match="The browser has ended"):
        await hand.call("look")
    told = await hand.says("open", url=shop.url)
    assert "This is a new browser, with nothing stored. The last one: ended by SIGKILL." in told
    assert hand.asked == [shop.url, shop.url], "what was allowed once was for the one that is gone"


async def test_it_ends_with_what_it_was_begun_for(
    hand: Hand, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = hand.context
    folder = scratch.folder(paths.tool_output(), context.session_id)
    for end in (
        lambda: hand.call("close"),
        lambda: service.end(context.session_id),
        service.close,
    ):
        await hand.call("open", url=f"{shop.url}/second")
        assert chromiums(context)
        await end()
        assert not chromiums(context)
        assert not list(folder.glob("browser-*"))
    assert "No browser was open" in await hand.says("close")


@pytest.mark.parametrize("by", ["deletion", "idleness"])
async def test_it_ends_by_itself(hand: Hand, shop: Shop, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    if by == "idleness":
        monkeypatch.setattr(service, "IDLE_SECONDS", 0.01)
    await hand.call("open", url=f"{shop.url}/second")
    async with service.seat(hand.context.session_id) as seat:
        running = seat.there()._running
    assert running is not None
    if by == "deletion":
        bus.publish(bus.Event("session.deleted", {}, session_id=hand.context.session_id))
    await asyncio.wait_for(asyncio.shield(running), 20)
    assert not chromiums(hand.context)
    told = "its session was deleted" if by == "deletion" else "nobody used it"
    with pytest.raises(ToolError, match=told):
        await hand.call("look")


async def test_without_chromium_it_says_how_to_get_one(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv(variables.CHROMIUM.name)
    monkeypatch.setattr("agents.servers.browser.program._APPLICATIONS", ())
    with pytest.raises(ToolError, match=r"There is no Chromium here\. It is a package of most systems"):
        await hand.call("open", url="http://localhost:1/")
    monkeypatch.setenv(variables.CHROMIUM.name, "/nowhere/chrome")
    with pytest.raises(ToolError, match="names /nowhere/chrome, which is no program"):
        await hand.call("open", url="http://localhost:1/")
    monkeypatch.setenv(variables.CHROMIUM.name, "/bin/false")
    with pytest.raises(ToolError, match="Chromium did not begin: exited with code 1"):
        await hand.call("open", url="http://localhost:1/")


async def test_it_is_there_once_it_is_switched_on(context: DirectContext) -> None:
    assert await browser.contributed(context.turn) == []
    on = turn_in(context.directory, context.worktree, config=Config(browser=True))
    assert [tool.name for tool in await browser.contributed(on)] == ["browser"]
    browser.register()
    assert "browser" not in (await toolset(context.turn)).tools
    assert "browser" in {spec.name for spec in (await toolset(on)).specs(on, {})}


@pytest.mark.parametrize(("action", "needed"), [("open", "url"), ("click", "ref"), ("press", "key")])
async def test_what_an_action_needs_is_said(hand: Hand, action: str, needed: str) -> None:
    with pytest.raises(ToolError, match=f"{action} needs `{needed}`"):
        await hand.call(action)
