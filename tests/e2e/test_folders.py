"""Folders beside the project: added by a command, listed, mentioned, removed."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_one_is_added_mentioned_and_removed(stage: Stage, context: BrowserContext) -> None:
    library = stage.project.parent / "library"
    library.mkdir()
    (library / "greet.py").write_text("x = 1\n")
    tab = await stage.tab(context, await stage.session("reads a library"))
    page, keys = tab.page, tab.page.keyboard
    await tab.send("/add-dir ../nowhere")
    await expect(page.locator("#composer-problem")).to_contain_text("There is no folder")
    await tab.send("/add-dir ../library")
    await expect(page.locator(".toast")).to_contain_text("Added library")
    chip = page.locator("[data-folders]")
    await expect(chip).to_contain_text("library")

    await tab.prompt.press_sequentially("Look at @libr")
    await expect(page.get_by_role("option", name="library/")).to_be_visible()
    await keys.press("Enter")
    await expect(page.get_by_role("option", name="greet.py")).to_be_visible()
    await keys.press("Enter")
    await expect(tab.prompt).to_have_value("Look at @library/greet.py ")
    await tab.prompt.fill("")

    await chip.click()
    dialog = page.get_by_role("dialog", name="Folders beside the project")
    await expect(dialog.get_by_label("Path of a folder")).to_be_focused()
    await keys.type("/etc")
    await keys.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("It belongs to the system.")
    await dialog.get_by_label("Path of a folder").fill("../library")
    await dialog.get_by_label("The agent may write there too").check()
    await dialog.get_by_role("button", name="Add").click()
    await expect(dialog.get_by_role("listitem")).to_contain_text("written too")
    await dialog.get_by_role("button", name="Remove library").click()
    await expect(dialog).to_contain_text("None yet.")
    await expect(dialog.get_by_label("Path of a folder")).to_be_focused()
    await dialog.get_by_role("button", name="Close").click()
    await expect(chip).to_have_count(0)
