"""The context window as a page shows it: the meter, its panel, the marker, what was compacted."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import TokenUsage, ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SUMMARY = "## What is wanted\n\nA greeting.\n\n<img src=x onerror=alert(1)>"


async def test_the_meter_says_what_fills_the_window(stage: Stage, context: BrowserContext) -> None:
    read = ToolUse("read", {"filePath": "numbers.txt"})
    usage = TokenUsage(input=49_995)
    stage.plays(Turn(tools=[read], usage=usage), Turn(text="Done.", usage=usage))
    tab = await stage.tab(context, await stage.session("meter"))
    await tab.send("Read.")
    await expect(tab.messages).to_contain_text("Done.")
    await tab.idle()
    meter = tab.page.get_by_role("meter", name="Context used")
    await expect(meter).to_have_attribute("aria-valuetext", "50k of 200k tokens")
    button = tab.page.locator("#meter-button")
    await expect(button).to_contain_text("25%")
    panel = tab.page.get_by_role("group", name="Context window")
    await button.focus()
    await tab.page.keyboard.press("Enter")
    await expect(panel).to_contain_text("50k of 200k tokens")
    for kind in ("System prompt", "Instructions", "Tools", "Messages", "Tool output", "Kept for the answer"):
        await expect(panel).to_contain_text(kind)
    await expect(panel.locator("svg rect")).to_have_count(7)
    await tab.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()
    await expect(button).to_be_focused()


async def test_what_was_compacted_stays_readable_behind_a_marker(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(
        Turn(text="The first answer.", usage=TokenUsage(input=120_000)),
        Turn(text=["## What", Wait("summary"), SUMMARY.removeprefix("## What")]),
        Turn(text="The second answer.", usage=TokenUsage(input=9_000)),
    )
    session = await stage.session("marker")
    tab = await stage.tab(context, session)
    await tab.send("The first prompt.")
    await expect(tab.messages).to_contain_text("The first answer.")
    await tab.idle()
    await tab.page.locator("#meter-button").click()
    await tab.page.get_by_role("button", name="Compact now").click()
    summary = tab.messages.locator(".summary")
    await expect(summary.get_by_text("What", exact=True)).to_be_visible()
    stage.model.gate("summary").open()
    await tab.idle()
    marker = tab.messages.locator(".compaction")
    await expect(marker).to_have_text(re.compile(r"Compacted here: 2 messages, from 120k to [\d.]+k? tokens"))
    await expect(tab.page.locator("#meter-button")).to_contain_text(re.compile(r"\b[0-9]%"))
    await tab.send("The second prompt.")
    await expect(tab.messages).to_contain_text("The second answer.")
    await tab.open(session)
    await expect(tab.messages.get_by_text("The first answer.")).to_be_visible()
    text = summary.get_by_text("A greeting.")
    await expect(text).to_be_hidden()
    await summary.get_by_text("What the agent goes on with").click()
    await expect(text).to_be_visible()
    await expect(summary.locator("img")).to_have_count(0)


@pytest.mark.long
async def test_a_compaction_by_itself_shows_no_prompt_of_the_program(
    stage: Stage, context: BrowserContext
) -> None:
    read = ToolUse("read", {"filePath": "numbers.txt"})
    stage.plays(
        Turn(tools=[read], usage=TokenUsage(input=195_000)), Turn(text=SUMMARY), Turn(text="All done.")
    )
    session = await stage.session("by itself")
    tab = await stage.tab(context, session)
    await tab.send("Go.")
    await expect(tab.messages).to_contain_text("All done.")
    for _ in range(2):
        await expect(tab.messages.locator(".compaction")).to_contain_text("from 195k to")
        shown = tab.messages.locator("article.user:visible")
        await expect(shown).to_have_count(2)
        await expect(tab.page.locator(".notice.error")).to_have_count(0)
        await tab.open(session)


async def test_compact_in_the_composer(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Hello."), Turn(text=SUMMARY))
    tab = await stage.tab(context, await stage.session("command"))
    await tab.send("/compact")
    await expect(tab.page.locator("#composer-problem")).to_contain_text("nothing to compact")
    await tab.send("Greet.")
    await expect(tab.messages).to_contain_text("Hello.")
    await tab.idle()
    await tab.send("/compact")
    await expect(tab.messages.locator(".compaction")).to_contain_text("Compacted here")


@pytest.mark.long
async def test_output_that_was_cleared_says_so(stage: Stage, context: BrowserContext) -> None:
    command = 'python3 -c \'print(("%d " + 99 * "x" + chr(10)) * 470)\''
    calls = [ToolUse("bash", {"command": command % number}) for number in range(6)]
    stage.plays(Turn(tools=calls), *[Turn(text="Done.")] * 3)
    session = await stage.session("cleared")
    for text in ("One.", "Two.", "Three."):
        await stage.client.prompt(session, text)
    tab = await stage.tab(context, session)
    await tab.messages.locator(".tool summary").first.click()
    output = tab.messages.locator(".tool-output").first
    await expect(output).to_contain_text("The model no longer sees this output")
    await expect(output.locator("pre")).to_contain_text("xxxx")
