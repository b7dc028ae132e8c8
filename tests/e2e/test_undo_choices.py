"""The dialog of "Undo from here": a choice of conversation and files, and what it cannot cover."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def written(stage: Stage, context: BrowserContext, folder: str) -> Tab:
    """A session with one prompt that wrote three files, and by a command one in a cache that is not kept."""
    (stage.project / folder / "cache").mkdir(parents=True)
    (stage.project / folder / "cache" / "CACHEDIR.TAG").touch()
    (stage.project / folder / ".gitignore").write_text("cache/\n")
    files = {f"{folder}/{name}.txt": f"{name}\n" for name in ("one", "two", "three")}
    calls = [ToolUse("write", {"filePath": path, "content": content}) for path, content in files.items()]
    calls.append(ToolUse("bash", {"command": f"echo hidden > {folder}/cache/made"}))
    stage.plays(Turn(tools=calls), Turn(text="All written."))
    tab = await stage.tab(context, await stage.session(folder))
    await tab.send("Write three files.")
    await expect(tab.messages).to_contain_text("All written.")
    await tab.idle()
    return tab


async def test_only_some_files(stage: Stage, context: BrowserContext) -> None:
    tab = await written(stage, context, "chosen")
    folder = stage.project / "chosen"
    await tab.undo(0)
    dialog = tab.dialog
    await expect(dialog.locator("[data-count]")).to_have_text("3 of 3 files")
    await expect(dialog.locator(".undo-not-covered")).to_contain_text("1 not covered")
    await dialog.locator(".undo-not-covered summary").click()
    await expect(dialog.locator(".undo-not-covered li")).to_contain_text("chosen/cache/")
    await dialog.get_by_text("Files only").click()
    await expect(dialog.locator("#undo-what")).to_contain_text("The conversation stays.")
    await dialog.get_by_role("button", name="None").click()
    submit = dialog.get_by_role("button", name="Undo files")
    await expect(submit).to_be_disabled()
    await dialog.get_by_role("checkbox", name="chosen/one.txt").focus()
    await tab.page.keyboard.press("Space")
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Space")
    await expect(dialog.locator("[data-count]")).to_have_text("2 of 3 files")
    await submit.click()
    await expect(tab.page.locator(".toast")).to_contain_text("Undone: 2 files changed.")
    await expect(tab.page.locator("#files-undone")).to_contain_text("2 files")
    await expect(tab.page.locator(".message.user:visible")).to_have_count(1)
    assert sorted(path.name for path in folder.glob("*.txt")) == ["two.txt"]
    assert (folder / "cache/made").exists()
    await tab.page.locator(".toast").get_by_role("button", name="Redo").click()
    await expect(tab.page.locator("#files-undone")).to_be_empty()
    assert sorted(path.name for path in folder.glob("*.txt")) == ["one.txt", "three.txt", "two.txt"]


@pytest.mark.long
async def test_only_the_conversation(stage: Stage, context: BrowserContext) -> None:
    tab = await written(stage, context, "talked")
    await tab.undo(0)
    await tab.dialog.get_by_text("Conversation only").click()
    await expect(tab.dialog.locator("[data-count]")).to_have_text("Files stay as they are")
    await tab.dialog.get_by_role("button", name="Undo 1 prompt, keep the files").click()
    await expect(tab.page.locator(".reverted-notice")).to_contain_text("1 prompt")
    await expect(tab.page.locator(".message:visible")).to_have_count(0)
    assert len(list((stage.project / "talked").glob("*.txt"))) == 3
    await tab.page.locator("#reverted").get_by_role("button", name="Redo").click()
    await expect(tab.page.locator(".message.user:visible")).to_have_count(1)
