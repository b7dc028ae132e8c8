"""A limit that is reached: the page asks, a click lets the turn go on."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def look(line: int) -> Turn:
    return Turn(tools=[ToolUse("read", {"filePath": "hello.py", "limit": line})])


async def test_a_person_lets_the_turn_go_on(stage: Stage, context: BrowserContext) -> None:
    config = stage.project / "opencode.json"
    eater = "held = bytearray(b'x') * 200 * 2**20; import time; time.sleep(60)"
    stage.plays(
        *(look(line) for line in range(1, 6)),
        Turn(tools=[ToolUse("bash", {"command": f'python3 -c "{eater}"', "description": "Eat"})]),
        Turn(text="All of it."),
    )
    config.write_text(json.dumps({"limits": {"calls": {"read": 2}, "command_memory": 100}}))
    try:
        tab = await stage.tab(context, await stage.session("reaches a limit"))
        await tab.send("Read it.")
        card = tab.permissions
        await expect(card).to_contain_text("Go on beyond a limit?")
        await expect(card).to_contain_text("The limit here: 2 calls of read in one turn")
        await expect(card).to_contain_text("@build")
        await expect(card).to_contain_text("2 more in this turn")
        await expect(card).to_contain_text("Asked because of")
        await card.get_by_role("button", name="Allow once").click()
        await expect(tab.messages.locator(".part.tool")).to_have_count(5)
        await card.get_by_role("button", name="Allow…").click()
        await card.get_by_label("in this turn").check()
        await card.get_by_role("button", name="Allow by this rule").click()
        await expect(tab.messages).to_contain_text("All of it.")
        await expect(tab.tool("Shell")).to_contain_text("ended at the memory limit")
    finally:
        config.unlink()
