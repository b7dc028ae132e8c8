"""Edit, then approve: the edited text is written and the model told; hunks alone; a proposal made anew."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

BEFORE = "".join(f"{number}\n" for number in range(1, 31))


async def test_edited_and_then_allowed(stage: Stage, context: BrowserContext) -> None:
    write = ToolUse("write", {"filePath": "asked-edited.txt", "content": "one\ntwo\n"})
    stage.plays(Turn(tools=[write]), Turn(text="Written."))
    tab = await stage.tab(context, await stage.session("edits"))
    await tab.send("Write it.")
    card = tab.permissions
    await card.get_by_role("button", name="Edit the proposed asked-edited.txt").click()
    text = card.get_by_label("What asked-edited.txt shall contain")
    await expect(text).to_be_focused()
    await expect(text).to_have_value("one\ntwo\n")
    await text.fill("one\nthree & <b>\n")
    renewed = card.get_by_role("region", name="What you would allow")
    await expect(renewed.locator("tr.add").last).to_contain_text("three & <b>")
    await card.get_by_role("button", name="Back to the proposal").click()
    await expect(card.locator("tr.add").last).to_contain_text("two")
    await card.get_by_role("button", name="Edit the proposed").click()
    await text.fill("one\nthree & <b>\n")
    await card.get_by_role("button", name="Allow as edited").click()
    await expect(tab.messages).to_contain_text("Written.")
    assert (stage.project / "asked-edited.txt").read_text() == "one\nthree & <b>\n"
    told = str(stage.model.requests[-1].body["messages"][-1])
    assert "The user changed this edit before allowing it" in told
    assert "+three & <b>" in told


async def test_some_hunks_are_allowed_and_others_not(stage: Stage, context: BrowserContext) -> None:
    file = stage.project / "asked-hunks.txt"
    file.write_text(BEFORE)
    after = BEFORE.replace("3\n", "three\n", 1).replace("15\n", "fifteen\n").replace("28\n", "x\n")
    write = ToolUse("write", {"filePath": file.name, "content": after})
    read = ToolUse("read", {"filePath": file.name})
    stage.plays(Turn(tools=[read]), Turn(tools=[write]), Turn(text="In part."))
    tab = await stage.tab(context, await stage.session("in part"))
    await tab.send("Write it.")
    card = tab.permissions
    await expect(card.get_by_role("checkbox")).to_have_count(3)
    for name in ("Lines 1–6", "Lines 12–18", "Lines 25–30"):
        await card.get_by_role("checkbox", name=name).uncheck()
    await expect(card.get_by_role("button", name="Allow 0 of 3 hunks")).to_be_disabled()
    for name in ("Lines 1–6", "Lines 25–30"):
        await card.get_by_role("checkbox", name=name).check()
    await card.get_by_role("button", name="Allow 2 of 3 hunks").click()
    await expect(tab.messages).to_contain_text("In part.")
    assert file.read_text() == BEFORE.replace("3\n", "three\n", 1).replace("28\n", "x\n")
    assert "-fifteen" in str(stage.model.requests[-1].body["messages"][-1])


@pytest.mark.long
async def test_a_proposal_made_anew_keeps_what_was_written(stage: Stage, context: BrowserContext) -> None:
    file = stage.project / "asked-anew.txt"
    file.write_text("one\ntwo\n")
    edit = ToolUse("edit", {"filePath": file.name, "oldString": "two", "newString": "2"})
    stage.plays(
        Turn(tools=[ToolUse("read", {"filePath": file.name})]), Turn(tools=[edit]), Turn(text="Done.")
    )
    tab = await stage.tab(context, await stage.session("anew"))
    await tab.send("Edit it.")
    card = tab.permissions
    await card.get_by_role("button", name="Edit the proposed").click()
    await card.get_by_label("What asked-anew.txt shall contain").fill("one\nmine\n")
    file.write_text("one\ntwo and zero\n")
    await expect(card).to_contain_text("The file changed since: here is the new proposal.")
    await expect(card.locator("tr.add", has_text="zero")).to_be_visible()
    await card.get_by_text("What you had written").click()
    await expect(card.locator(".was-written pre")).to_have_text("one\nmine\n")
    await card.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("Done.")
    assert file.read_text() == "one\n2 and zero\n"


@pytest.mark.long
async def test_what_is_long_is_opened_before_it_can_be_allowed(stage: Stage, context: BrowserContext) -> None:
    hiding = f"touch one; : {'x' * 40_000}; touch new-\u3164evil"
    write = ToolUse("write", {"filePath": "asked-long.txt", "content": "line\n" * 2300 + "evil\n"})
    stage.plays(Turn(tools=[ToolUse("bash", {"command": hiding})]), Turn(tools=[write]), Turn(text="Both."))
    tab = await stage.tab(context, await stage.session("long ones"))
    await tab.send("Do both.")
    card = tab.permissions
    once = card.get_by_role("button", name="Allow once")
    await expect(once).to_be_disabled()
    await expect(card.get_by_role("button", name="Allow…")).to_be_disabled()
    await expect(card).to_contain_text("Open all of it above first")
    await card.get_by_role("button", name="Show the other").click()
    await expect(card.locator(".command.rest")).to_contain_text("; touch new-\\u3164evil")
    await expect(card.get_by_role("button", name="Allow…")).to_be_enabled()
    await once.click()
    await expect(card).to_contain_text("asked-long.txt")
    await expect(once).to_be_disabled()
    await card.get_by_role("button", name="301 lines are not shown").click()
    await expect(card.locator("tr.add").last).to_contain_text("evil")
    await expect(card).not_to_contain_text("Open all of it above first")
    await once.click()
    await expect(tab.messages).to_contain_text("Both.")
    assert (stage.project / "asked-long.txt").read_text().endswith("evil\n")
