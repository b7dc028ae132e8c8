"""A turn with an MCP server in the browser: progress on the card, its questions answered by clicks, prompts
behind `/` and resources behind `@`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests import programs
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn
from tests.runtime.servers import ready

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LONG = ToolUse("e_trigger-long-running-operation", {"duration": 600, "steps": 3000})
ASK = ToolUse("e_trigger-elicitation-request", {})
VISIT = ToolUse(
    "e_trigger-url-elicitation", {"url": "https://example.com/pay?x=<1>", "message": "Please pay."}
)


@pytest.mark.long
async def test_a_server_in_the_conversation(
    home: Path, project: Path, context: BrowserContext, user_environ: Mapping[str, str]
) -> None:
    async with Stage(home, project, mcp={"e": programs.everything(user_environ)}) as stage:
        await ready(stage.client, "e_echo")
        tab = await stage.tab(context, await stage.session("servers"))
        page = tab.page

        stage.plays(Turn(tools=[LONG]))
        await tab.send("Work long.")
        card = tab.tool(LONG.name)
        await expect(card.get_by_role("progressbar")).to_be_visible()
        await expect(card).to_contain_text("of 3000")
        await tab.stop.click()
        await tab.idle()
        await expect(card.get_by_role("progressbar")).to_have_count(0)

        stage.plays(Turn(tools=[ASK]), Turn(text="Thank you."))
        await tab.send("Ask me.")
        form = page.locator("form.question")
        await expect(form).to_contain_text("The MCP server e asks: Please provide inputs")
        await expect(tab.tool(ASK.name).get_by_text("Waiting for you")).to_be_visible()
        for field in await form.locator("fieldset").all():
            choice = field.get_by_role("radio").or_(field.get_by_role("checkbox")).first
            own = field.locator(".own [type=text]")
            if "Leave this out" in (await field.inner_text()):
                await field.get_by_text("Leave this out").click()
            elif await own.count():
                await own.fill("Ann")
            else:
                await choice.check()
        await form.get_by_role("button", name="Answer").click()
        await expect(tab.messages).to_contain_text("Thank you.")
        await tab.idle()
        assert "User provided the requested information" in str(stage.model.requests[-1].body["messages"][-1])

        stage.plays(Turn(tools=[VISIT]), Turn(text="As you wish."))
        await tab.send("Let me pay.")
        link = form.get_by_role("link")
        await expect(link).to_have_attribute("href", "https://example.com/pay?x=<1>")
        await expect(form).to_contain_text("asks you to open this page at example.com")
        await form.get_by_role("button", name="Dismiss").click()
        await expect(tab.messages).to_contain_text("As you wish.")
        await tab.idle()

        stage.plays(Turn(text="Sunny."))
        await tab.prompt.press_sequentially("/e:args")
        option = page.get_by_role("option", name="/e:args-prompt")
        await expect(option).to_contain_text("city [state]")
        await tab.prompt.press("Enter")
        await expect(tab.prompt).to_have_value("/e:args-prompt ")
        await tab.prompt.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text(
            "The argument city (Name of the city) is missing"
        )
        await tab.prompt.press_sequentially("Paris")
        await tab.prompt.press("Enter")
        await expect(tab.messages).to_contain_text("Sunny.")
        await tab.idle()
        assert "What's weather in Paris?" in str(stage.model.requests[-1].body["messages"][-1])

        stage.plays(Turn(text="Well done."))
        suggested = page.locator("#completions [role=option]")
        await tab.prompt.press_sequentially("/e:completable-prompt S")
        await expect(suggested).to_have_text([re.compile("Sales"), re.compile("Support")])
        await tab.prompt.press("Enter")
        await expect(tab.prompt).to_have_value("/e:completable-prompt Sales ")
        await suggested.filter(has_text="David").click()
        await tab.prompt.press("Enter")
        await expect(tab.messages).to_contain_text("Well done.")
        await tab.idle()
        assert "David" in str(stage.model.requests[-1].body["messages"][-1])

        stage.plays(Turn(text="It is seven."))
        await tab.prompt.press_sequentially("Read @dynamic-text")
        await page.get_by_role("option", name="Dynamic Text Resource").click()
        await expect(tab.prompt).to_have_value("Read @e:demo://resource/dynamic/text/")
        await tab.prompt.press_sequentially("7")
        await page.get_by_role("option", name="demo://resource/dynamic/text/7").click()
        await tab.prompt.press("Enter")
        await expect(tab.messages).to_contain_text("It is seven.")
        await tab.idle()
        assert "Resource 7: " in str(stage.model.requests[-1].body["messages"][-1])

        stage.plays(Turn(text="It is layered."))
        await tab.prompt.press_sequentially("Explain @archi")
        await page.get_by_role("option", name="architecture.md").click()
        await expect(tab.prompt).to_have_value("Explain @e:architecture.md ")
        await tab.prompt.press("Enter")
        await expect(tab.messages).to_contain_text("It is layered.")
        await tab.idle()
        sent = str(stage.model.requests[-1].body["messages"][-1])
        assert "The user attached the resource demo://resource/static/document/architecture.md" in sent
        await expect(tab.messages.locator(".attached").last).to_contain_text("architecture.md")
