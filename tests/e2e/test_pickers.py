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


def chosen(tab: Tab, kind: str) -> Locator:
    return tab.page.locator(f"#choice [name={kind}]")


def panel(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog", name="Model, variant, agent and how much is asked")


async def test_variants_and_agents_are_chosen_beside_the_prompt(
    thinking: Stage, context: BrowserContext
) -> None:
    tab = await thinking.tab(context, await thinking.session("chooses"))
    await expect(chosen(tab, "model")).to_have_value("fake/fake")
    await expect(chosen(tab, "variant")).to_have_count(0)
    await tab.choose("model", "fake/thinker")
    await expect(tab.page.get_by_role("button", name="Model: Thinker")).to_be_focused()
    await expect(tab.page.get_by_role("button", name="Variant: Default")).to_be_visible()
    await tab.choose("variant", "medium")
    thinking.plays(Turn(text="Thought."))
    await tab.send("Think.")
    await expect(tab.messages).to_contain_text("Thought.")
    assert thinking.model.requests[-1].body["reasoning_effort"] == "medium"
    await tab.choose("model", "fake/plain")
    await expect(chosen(tab, "variant")).to_have_count(0)
    await tab.choose("agent", "thinking")
    await expect(chosen(tab, "variant")).to_have_value("high")
    await expect(chosen(tab, "model")).to_have_value("fake/thinker")
    await tab.choose("agent", "reviewer")
    agent = tab.page.get_by_role("button", name="Agent: Reviewer")
    await expect(agent).to_have_attribute("title", "The reviewer.")
    colour = await agent.evaluate("(button) => getComputedStyle(button, '::before').backgroundColor")
    assert colour == "rgb(204, 85, 0)"


@pytest.mark.long
async def test_a_new_session_takes_the_choice_and_mentions_name_agents(
    thinking: Stage, context: BrowserContext
) -> None:
    tab = await thinking.tab(context)
    await tab.page.set_viewport_size({"width": 390, "height": 800})
    await tab.choose("agent", "thinking")
    await expect(chosen(tab, "variant")).to_have_value("high")
    await tab.choose("agent", "build")
    await tab.choose("model", "fake/thinker")
    await tab.choose("variant", "low")
    await expect(chosen(tab, "model")).to_have_value("fake/thinker")
    row = await tab.page.locator(".composer-row").bounding_box()
    assert row
    for place in ("#variant-picker", "#model-picker", "#activity .send"):
        box = await tab.page.locator(place).bounding_box()
        assert box
        assert row["x"] <= box["x"]
        assert box["x"] + box["width"] <= row["x"] + row["width"] <= 390
    thinking.plays(Turn(text="Said."))
    await tab.prompt.press_sequentially("Ask @help")
    await expect(tab.page.locator("#completions [data-mention=helper]")).to_contain_text("The helper.")
    await tab.prompt.press("Enter")
    await expect(tab.prompt).to_have_value("Ask @helper ")
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Said.")
    assert thinking.model.requests[-1].body["reasoning_effort"] == "low"
    await expect(chosen(tab, "variant")).to_have_value("low")


async def test_the_address_of_a_new_session_chooses_for_it(thinking: Stage, context: BrowserContext) -> None:
    tab = await thinking.tab(context)
    await tab.page.goto(f"{tab.page.url.partition('?')[0]}?agent=reviewer&model=fake%2Fplain")
    await tab.connected()
    await expect(chosen(tab, "model")).to_have_value("fake/plain")
    await expect(tab.page.get_by_role("button", name="Agent: Reviewer")).to_be_visible()
    thinking.plays(Turn(text="Said."))
    await tab.send("Look")
    await expect(tab.messages).to_contain_text("Said.")
    assert thinking.model.requests[-1].body["model"] == "plain"


async def test_models_are_found_and_marked_by_keyboard(thinking: Stage, context: BrowserContext) -> None:
    tab = await thinking.tab(context, await thinking.session("searches"))
    keys = tab.page.keyboard
    await tab.prompt.fill("a draft")
    await keys.press("Control+m")
    search = panel(tab).get_by_role("combobox", name="Search")
    models = panel(tab).get_by_role("listbox", name="Models")
    await expect(search).to_be_focused()
    await expect(models.locator("[aria-selected=true]")).to_have_attribute("data-value", "fake/fake")
    await expect(models.get_by_text("thinks")).to_have_count(1)
    await keys.type("no such one")
    await expect(panel(tab)).to_contain_text("Nothing is called “no such one”.")
    await search.fill("FAKE thin")
    active = models.locator("[data-active]")
    await expect(active).to_have_attribute("data-value", "fake/thinker")
    await expect(search).to_have_attribute("aria-activedescendant", str(await active.get_attribute("id")))
    await keys.press("Control+d")
    await expect(active.get_by_text("favourite")).to_be_attached()
    await keys.press("Enter")
    await expect(chosen(tab, "model")).to_have_value("fake/thinker")
    await expect(tab.prompt).to_be_focused()
    await expect(tab.prompt).to_have_value("a draft")

    await tab.page.reload()
    await tab.choose("model", "fake/plain")
    await tab.page.evaluate(
        "document.dispatchEvent(new CustomEvent('picker:open', {detail: {kind: 'model'}}))"
    )
    groups = models.locator(".picker-head")
    await expect(groups.nth(0)).to_have_text("Favourites")
    await expect(groups.nth(1)).to_have_text("Recent")
    await expect(models.get_by_role("group", name="Recent").get_by_role("option")).to_contain_text("Plain")
    options = models.get_by_role("option")
    await search.fill("thinker")
    await expect(options).to_have_count(1)
    await search.fill("")
    await expect(active).to_have_attribute("data-value", "fake/plain")
    before = await active.get_attribute("id")
    await keys.press("ArrowDown")
    assert await active.get_attribute("id") != before
    await keys.press("Escape")
    await expect(panel(tab)).to_be_hidden()
    await expect(chosen(tab, "model")).to_have_value("fake/plain")


async def test_one_popover_for_all_three_also_on_a_phone(thinking: Stage, context: BrowserContext) -> None:
    tab = await thinking.tab(context, await thinking.session("sheet"))
    await tab.page.set_viewport_size({"width": 390, "height": 800})
    await tab.page.get_by_role("button", name="Model: Fake").click()
    models = panel(tab).get_by_role("listbox", name="Models")
    await expect(models).to_be_visible()
    await panel(tab).evaluate("panel => Promise.all(panel.getAnimations().map(each => each.finished))")
    box = await panel(tab).bounding_box()
    assert box
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 800)
    await panel(tab).get_by_role("button", name="Agent").click()
    await expect(models).to_be_hidden()
    await panel(tab).get_by_role("option", name="Plan").click()
    await expect(chosen(tab, "agent")).to_have_value("plan")
    await expect(panel(tab)).to_be_hidden()
    provider = panel(tab).get_by_role("link", name="Add a provider")
    await tab.page.get_by_role("button", name="Agent: Plan").click()
    await expect(provider).to_have_attribute("href", re.compile("^/accounts"))


async def test_how_much_is_asked_is_chosen_beside_the_prompt_and_always_in_sight(
    thinking: Stage, context: BrowserContext
) -> None:
    session = await thinking.session("asks")
    tab = await thinking.tab(context, session)
    shown = tab.page.locator("#preset-picker .pick-name")
    await expect(shown).to_have_text("Ask")
    await expect(chosen(tab, "preset")).to_have_value("")
    await tab.prompt.focus()
    async with tab.page.expect_response("**/pickers/choose"):
        await tab.page.keyboard.press("Shift+Tab")
    await expect(shown).to_have_text("Edits go")
    await expect(tab.prompt).to_be_focused()
    await expect(tab.page.locator("#composer-status")).to_have_text("Mode: Edits go")
    assert (await thinking.client.session(session))["preset"] == "edits"
    await tab.choose("preset", "everything")
    await expect(shown).to_have_text("Everything")
    await tab.choose("preset", "plan")
    await expect(shown).to_have_text("Plan")
    await expect(chosen(tab, "agent")).to_have_value("plan")
    await tab.choose("preset", "ask")
    await expect(chosen(tab, "agent")).to_have_value("build")
    assert (await thinking.client.session(session))["preset"] == "ask"


async def test_it_is_chosen_for_a_session_that_is_not_there_yet(
    thinking: Stage, context: BrowserContext
) -> None:
    thinking.plays(Turn(text="Hello."))
    tab = await thinking.tab(context)
    await tab.choose("preset", "edits")
    await expect(tab.page.locator("#preset-picker .pick-name")).to_have_text("Edits go")
    await tab.send("Hi.")
    await expect(tab.messages).to_contain_text("Hello.")
    await expect(tab.page.locator("#preset-picker .pick-name")).to_have_text("Edits go")
