"""Up in an empty composer brings the prompts of the session again; what is typed keeps its caret."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from sessions.web.pages.conversation import PAGE
from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_up_and_down(home: Path, project: Path, context: BrowserContext) -> None:
    """In a project of one conversation."""
    async with Stage(home, project) as stage:
        await up_and_down(stage, context)


async def up_and_down(stage: Stage, context: BrowserContext) -> None:
    prompts = ("first", "second line one\nsecond line two", "third")
    stage.plays(*[Turn(text=f"Answer {number}.") for number, _ in enumerate(prompts)])
    tab = await stage.tab(context, await stage.session("remembers"))
    keys = tab.page.keyboard
    for number, prompt in enumerate(prompts):
        await tab.send(prompt)
        await expect(tab.messages).to_contain_text(f"Answer {number}.")
        await tab.idle()
    await tab.prompt.focus()
    await keys.press("ArrowDown")
    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value("third")
    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value(prompts[1])
    await keys.press("ArrowDown")  # from the first line to the second, as in any text
    assert await tab.prompt.evaluate("(field) => field.selectionStart") == len("second line one\n")
    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value(prompts[1])
    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value("first")
    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value("first")
    for expected in (prompts[1], "third", ""):
        await keys.press("End")
        await keys.press("ArrowDown")
        await expect(tab.prompt).to_have_value(expected)

    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value("third")
    await keys.type(" time")
    await keys.press("ArrowUp")
    await expect(tab.prompt).to_have_value("third time")
    assert await tab.prompt.evaluate("(field) => field.selectionStart") == 0
    await tab.page.reload()
    await expect(tab.prompt).to_have_value("third time")
    await tab.prompt.fill("")


async def test_up_goes_on_with_other_conversations(
    home: Path, project: Path, context: BrowserContext
) -> None:
    async with Stage(home, project) as stage:
        first, second = await stage.session("first"), await stage.session("second")
        for number in range(3):
            await stage.client.prompt(first, f"first {number}", noReply=True)
        for number in range(PAGE + 4):
            await stage.client.prompt(second, f"second {number}", noReply=True)
        tab = await stage.tab(context, second)
        await expect(tab.messages.locator(".message")).to_have_count(PAGE)
        up = [*[f"second {number}" for number in reversed(range(PAGE + 4))], "first 2", "first 1", "first 0"]
        for expected in up:
            await tab.prompt.press("ArrowUp")
            await expect(tab.prompt).to_have_value(expected)
        async with tab.page.expect_response("**/prompts/earlier?*") as none:
            await tab.prompt.press("ArrowUp")
        assert (await none.value).status == 204
        await expect(tab.prompt).to_have_value("first 0")
        for expected in [*reversed(up[:-1]), ""]:
            await tab.prompt.press("ArrowDown")
            await expect(tab.prompt).to_have_value(expected)

        await tab.open()
        await tab.prompt.press("ArrowUp")
        await expect(tab.prompt).to_have_value(up[0])
        await tab.prompt.press("ArrowUp")
        await expect(tab.prompt).to_have_value(up[1])
        for expected in (up[0], ""):
            await tab.prompt.press("ArrowDown")
            await expect(tab.prompt).to_have_value(expected)


async def test_a_line_of_the_shell_comes_back_as_one(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("remembers the shell"))
    await tab.prompt.press("!")
    await tab.page.keyboard.type("echo again")
    await tab.page.keyboard.press("Enter")
    await expect(tab.tool("echo again")).to_be_visible()
    await tab.idle()
    await tab.prompt.press("ArrowUp")
    await expect(tab.prompt).to_have_value("echo again")
    await expect(tab.page.locator("#shell-mode")).to_be_visible()
    await tab.prompt.press("ArrowDown")
    await expect(tab.prompt).to_have_value("")
    await expect(tab.page.locator("#shell-mode")).to_be_hidden()
