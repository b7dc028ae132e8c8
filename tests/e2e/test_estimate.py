"""The estimate stands beside the prompt once that is long, or has something with it."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, FilePayload, expect

from tests.e2e.stage import Stage
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

NOTE: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"word " * 4_800}


async def test_long_prompts_and_files_are_weighed(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Read."))
    session = await stage.session("weighs")
    tab = await stage.tab(context, session)
    estimate = tab.page.locator("#estimate")
    await tab.prompt.press_sequentially("short")
    await expect(estimate).to_have_count(0)
    await tab.prompt.fill("é" * 4_000)
    await expect(estimate).to_have_text("≈ 2k tokens, 1 % of the window", use_inner_text=True)
    await tab.prompt.fill("Read it.")
    await expect(estimate).to_be_empty()
    await tab.page.locator("#attach").set_input_files([NOTE])
    await expect(estimate).to_have_text("≈ 6k tokens, 3 % of the window", use_inner_text=True)
    await tab.page.reload()
    await expect(estimate).to_contain_text("≈ 6k tokens")
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Read.")
    await expect(estimate).to_be_empty()
    large: FilePayload = {**NOTE, "buffer": b"word " * 160_000}
    await tab.page.locator("#attach").set_input_files([large])
    await expect(estimate.locator("strong")).to_contain_text("that this model takes.")
    await tab.page.get_by_role("button", name="Remove note.txt").click()
    await expect(estimate).to_be_empty()
    await tab.prompt.fill("word " * 1_000)
    await expect(estimate).to_contain_text("≈ 1.2k tokens")
    await tab.page.get_by_role("link", name="New session", exact=True).click()
    await tab.connected()
    await expect(estimate).to_be_empty()
    await tab.open(session)
    await expect(estimate).to_contain_text("≈ 1.2k tokens")
    await tab.prompt.fill("")
    await expect(estimate).to_be_empty()
