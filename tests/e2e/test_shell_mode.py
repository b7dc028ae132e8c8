"""`!` in an empty composer: a command line that is the person's own, and no prompt for the model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def label(tab: Tab) -> Locator:
    return tab.page.locator("#shell-mode")


async def test_a_line_is_run_and_not_sent(stage: Stage, context: BrowserContext) -> None:
    stage.plays()
    asked = len(stage.model.requests)
    tab = await stage.tab(context, await stage.session("own line"))
    await tab.prompt.click()
    await tab.page.keyboard.type("!")
    await expect(label(tab)).to_contain_text("Shell")
    await expect(tab.prompt).to_have_value("")
    await tab.page.keyboard.type("/bin/echo mine > typed.txt; echo said!")
    await expect(tab.page.locator("#completions")).to_be_hidden()
    await tab.page.keyboard.press("Enter")
    await expect(label(tab)).to_be_hidden()
    await expect(tab.page.locator(".shell-line")).to_contain_text("/bin/echo mine > typed.txt; echo said!")
    card = tab.tool("echo mine")
    await expect(card.get_by_label("Output")).to_contain_text("said!")
    await expect(card.locator("details")).to_have_attribute("open", "")
    await tab.idle()
    await tab.page.reload()
    await tab.connected()
    await expect(card.get_by_label("Output")).to_be_in_viewport()
    await card.locator("summary").click()
    await expect(card.get_by_label("Output")).to_be_hidden()
    assert (stage.project / "typed.txt").read_text() == "mine\n"
    assert [request for request in stage.model.requests[asked:] if request.body.get("tools")] == []

    await tab.undo(0)
    await tab.dialog.locator(".primary").click()
    await expect(label(tab)).to_be_visible()
    await expect(tab.prompt).to_have_value("/bin/echo mine > typed.txt; echo said!")
    assert not (stage.project / "typed.txt").exists()


async def test_a_long_output_is_unfolded_too(stage: Stage, context: BrowserContext) -> None:
    stage.plays()
    tab = await stage.tab(context, await stage.session("long line"))
    await tab.prompt.press("!")
    await tab.page.keyboard.type("seq 10000 14000")
    await tab.page.keyboard.press("Enter")
    output = tab.tool("seq").get_by_label("Output").last
    await expect(output).to_contain_text("13999")
    await tab.idle()
    await tab.page.reload()
    await expect(output).to_contain_text("13999")


@pytest.mark.long
async def test_it_is_left_by_escape_and_by_backspace(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["I work", Wait("shell left")]), Turn(text="Fine."))
    tab = await stage.tab(context, await stage.session("leaves the shell"))
    await tab.send("Begin.")
    await expect(tab.messages).to_contain_text("I work")
    await tab.prompt.press("!")
    await expect(label(tab)).to_be_visible()
    await tab.page.keyboard.type("ls")
    await tab.page.keyboard.press("Escape")
    await expect(label(tab)).to_be_hidden()
    await expect(tab.stop).not_to_have_attribute("data-armed", "")
    await expect(tab.prompt).to_have_value("ls")
    await tab.page.keyboard.type("!")
    await expect(tab.prompt).to_have_value("ls!")
    await expect(label(tab)).to_be_hidden()
    await tab.prompt.fill("")
    await tab.prompt.press("!")
    await tab.page.keyboard.type("pwd")
    await tab.page.reload()
    await expect(label(tab)).to_be_visible()
    await expect(tab.prompt).to_have_value("pwd")
    await tab.prompt.press("Home")
    await tab.page.keyboard.press("Backspace")
    await expect(label(tab)).to_be_hidden()
    await expect(tab.prompt).to_have_value("pwd")
    await tab.prompt.fill("!important")
    await tab.prompt.press("Enter")
    waiting = tab.page.get_by_role("list", name="Waiting prompts").get_by_role("listitem")
    await expect(waiting).to_contain_text("!important")
    stage.model.gate("shell left").open()
    await expect(tab.messages).to_contain_text("Fine.")


async def test_a_line_on_its_way_is_a_line_after_a_reload(stage: Stage, context: BrowserContext) -> None:
    stage.plays()
    tab = await stage.tab(context, await stage.session("reloads a line"))
    await tab.page.route("**/pickers/shell", lambda route: asyncio.sleep(0))  # it never arrives
    await tab.prompt.press("!")
    await tab.page.keyboard.type("ls")
    async with tab.page.expect_request("**/pickers/shell"):
        await tab.page.keyboard.press("Enter")
    await expect(tab.prompt).to_have_value("")
    await tab.page.reload()
    await expect(label(tab)).to_be_visible()
    await expect(tab.prompt).to_have_value("ls")


@pytest.mark.long
async def test_a_line_waits_for_the_turn_and_survives_a_lost_server(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project) as stage:
        stage.plays()
        tab = await stage.tab(context)
        port = stage.server.url.rpartition(":")[2]
        await asyncio.to_thread(stage.server.stop)
        await expect(tab.connection).not_to_have_attribute("data-state", "connected")
        await tab.prompt.press("!")
        await tab.page.keyboard.type("echo once >> lines.txt; sleep 1; echo over")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.locator("#unreached")).to_contain_text("is sent when the server is back")
        await expect(label(tab)).to_be_visible()
        await asyncio.to_thread(stage.server.start, "--port", port)
        await expect(tab.tool("echo once")).to_contain_text("over")
        await tab.idle()
        assert (project / "lines.txt").read_text() == "once\n"
