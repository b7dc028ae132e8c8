"""The pickers beside the prompt: variants follow the model, the agent shows its colour, `@` names agents."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

THINKS: dict[str, Any] = {"name": "Thinker", "reasoning": True, "tool_call": True}
MODELS = {"thinker": THINKS, "plain": {"name": "Plain", "tool_call": True}}
COLOURS = {
    "reviewer": "color: '#cc5500'",
    "helper": "mode: subagent",
    "thinking": "model: fake/thinker\nvariant: high",
}


@pytest_asyncio.fixture(loop_scope="session")
async def thinking(home: Path, project: Path) -> AsyncIterator[Stage]:
    folder = home / ".config/opencode/agents"
    folder.mkdir(parents=True)
    for name, front in COLOURS.items():
        (folder / f"{name}.md").write_text(f"---\ndescription: The {name}.\n{front}\n---\nYou are {name}.\n")
    (folder.parent / "opencode.json").write_text(json.dumps({"provider": {"fake": {"models": MODELS}}}))
    async with Stage(home, project) as stage:
        yield stage


def pickers(tab: Tab) -> tuple[Locator, Locator, Locator]:
    found = (tab.page.locator(f"#{name}-picker") for name in ("agent", "model", "variant"))
    agent, model, variant = found
    return agent, model, variant


async def test_variants_and_agents_are_chosen_beside_the_prompt(
    thinking: Stage, context: BrowserContext
) -> None:
    tab = await thinking.tab(context, await thinking.session("chooses"))
    agent, model, variant = pickers(tab)
    await expect(model).to_have_value("fake/fake")
    await expect(variant).to_have_count(0)
    await model.select_option("fake/thinker")
    await expect(variant).to_have_value("")
    await expect(tab.page.get_by_label("Variant of the model")).to_be_visible()
    async with tab.page.expect_response("**/pickers/choose"):
        await variant.select_option("medium")
    thinking.plays(Turn(text="Thought."))
    await tab.send("Think.")
    await expect(tab.messages).to_contain_text("Thought.")
    assert thinking.model.requests[-1].body["reasoning_effort"] == "medium"
    await model.select_option("fake/plain")
    await expect(variant).to_have_count(0)
    await agent.select_option("thinking")
    await expect(variant).to_have_value("high")
    await expect(model).to_have_value("fake/thinker")
    await agent.select_option("reviewer")
    await expect(agent).to_have_attribute("title", "The reviewer.")
    await expect(agent).to_have_css("background-image", re.compile(r"rgb\(204, 85, 0\)"))


async def test_a_new_session_takes_the_choice_and_mentions_name_agents(
    thinking: Stage, context: BrowserContext
) -> None:
    tab = await thinking.tab(context)
    _, model, variant = pickers(tab)
    await tab.page.set_viewport_size({"width": 390, "height": 800})
    await model.select_option("fake/thinker")
    await variant.select_option("low")
    box = await tab.page.locator(".composer-row").bounding_box()
    inner = await variant.bounding_box()
    send = await tab.page.locator("#activity .send").bounding_box()
    assert box
    assert inner
    assert send
    assert inner["x"] + inner["width"] <= send["x"]
    assert send["x"] + send["width"] <= box["x"] + box["width"] <= 390
    thinking.plays(Turn(text="Said."))
    await tab.prompt.press_sequentially("Ask @help")
    await expect(tab.page.locator("#completions [data-mention=helper]")).to_contain_text("The helper.")
    await tab.prompt.press("Enter")
    await expect(tab.prompt).to_have_value("Ask @helper ")
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Said.")
    assert thinking.model.requests[-1].body["reasoning_effort"] == "low"
    await expect(variant).to_have_value("low")
