"""Saved rules: made with a reach and a pattern of one's own, listed with their origin, revoked at once."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Route, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def touches(name: str, said: str) -> tuple[Turn, Turn]:
    return Turn(tools=[ToolUse("bash", {"command": f"touch {name}"})]), Turn(text=said)


async def allowed_without_asking(stage: Stage, tab: Tab, name: str) -> None:
    stage.plays(*touches(name, f"{name} is made."))
    await tab.send(f"Make {name}.")
    await expect(tab.messages).to_contain_text(f"{name} is made.")


async def test_what_is_answered_is_said_when_the_list_came_anew_meanwhile(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(*touches("meanwhile", "Made."))
    tab = await stage.tab(context, await stage.session("makes a rule, and revokes it"))
    await tab.send("Make it.")
    await tab.permissions.get_by_role("button", name="Allow…").click()
    await tab.permissions.get_by_label("Pattern of the rule for bash").fill("touch meanwhile*")
    await tab.page.keyboard.press("Enter")
    await tab.idle()
    await tab.page.goto(tab.page.url.split("/s/")[0] + "/rules")

    async def renewed(route: Route) -> None:
        await tab.page.evaluate(
            "document.getElementById('saved-rules').outerHTML = '<div id=\"saved-rules\"></div>'"
        )
        await route.continue_()

    await tab.page.route("**/revoke", renewed)
    await tab.page.get_by_role("button", name="Revoke bash: touch meanwhile*").click()
    note = tab.page.locator(".toast", has_text="Revoked: bash: touch meanwhile*")
    await note.get_by_role("button", name="Undo").click()
    await expect(tab.page.locator(".toast", has_text="Restored: bash: touch meanwhile*")).to_have_count(1)
    async with tab.page.expect_response("**/revoke"):
        await tab.page.get_by_role("button", name="Revoke bash: touch meanwhile*").click()


async def test_a_rule_of_the_session_until_it_is_revoked(stage: Stage, context: BrowserContext) -> None:
    stage.plays(*touches("rule-a", "First."))
    tab = await stage.tab(context, await stage.session("makes a rule"))
    await tab.send("Make the first.")
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("First.")
    stage.plays(*touches("rule-b", "Second."))
    await tab.send("Make the second.")
    card = tab.permissions
    await expect(card).to_contain_text("Asked because of bash: touch *")
    await card.get_by_role("button", name="Allow…").click()
    await expect(card.get_by_role("radio", name="in this session")).to_be_focused()
    pattern = card.get_by_label("Pattern of the rule for bash")
    await pattern.fill("rm *")
    await expect(card.locator(".matches")).to_contain_text("does not match what is asked for here")
    await pattern.fill("touch rule-*")
    await expect(card.locator(".matches")).to_contain_text("touch rule-* would have matched 1 past call")
    await expect(card.locator(".matches li").first).to_contain_text("touch rule-a")
    await pattern.press("Enter")
    await expect(tab.messages).to_contain_text("Second.")
    await allowed_without_asking(stage, tab, "rule-c")
    await tab.prompt.fill("/permissions")
    await tab.prompt.press("Enter")
    rule = tab.page.locator(".saved-rule", has_text="touch rule-*")
    await expect(rule).to_contain_text("this session")
    await expect(rule).to_contain_text("used 1 time")
    await expect(rule.get_by_role("link", name="makes a rule")).to_be_visible()
    await expect(tab.page.locator(".decision").first).to_contain_text("by a saved rule")
    await tab.page.get_by_text("build", exact=False).first.click()
    await expect(tab.page.locator(".configured").first).to_contain_text("bash: touch *")
    second = await context.new_page()
    await second.goto(tab.page.url)
    elsewhere = second.locator(".saved-rule", has_text="touch rule-*")
    await expect(elsewhere).to_have_count(1)
    await expect(second.locator("#inbox-list > *")).not_to_have_count(0)
    await tab.page.bring_to_front()
    await rule.get_by_role("button", name="Revoke bash: touch rule-*").click()
    await expect(rule).to_have_count(0)
    note = tab.page.locator(".toast", has_text="Revoked: bash: touch rule-*")
    await expect(elsewhere).to_have_count(0)
    await note.get_by_role("button", name="Undo").click()
    await expect(tab.page.locator(".toast")).to_contain_text("Restored: bash: touch rule-*")
    await expect(note).to_have_count(0)
    await expect(elsewhere).to_have_count(1)
    await rule.get_by_role("button", name="Revoke bash: touch rule-*").click()
    await expect(elsewhere).to_have_count(0)
    await expect(note).to_have_count(1)
    session = tab.page.locator(".decision a").first
    await session.click()
    await tab.connected()
    stage.plays(*touches("rule-d", "Fourth."))
    await tab.send("Make the fourth.")
    await expect(tab.permissions).to_contain_text("touch rule-d")
    await tab.permissions.get_by_role("button", name="Reject").click()
    await expect(tab.permissions).to_have_count(0)
    assert not (stage.project / "rule-d").exists()
