"""What a person does with a session, from its first prompt on, wherever the server is."""

from __future__ import annotations

from playwright.async_api import expect

from tests.e2e.stage import Stage, Tab, ready
from tests.loopback.script import ToolUse, Turn, Wait


async def stream_allow_undo(stage: Stage, tab: Tab) -> None:
    """A turn that streams, one whose call is allowed, which is undone then."""
    write = ToolUse("write", {"filePath": "asked.txt", "content": "new\n"})
    stage.plays(Turn(text=["Hel", Wait("go"), "lo"]), Turn(tools=[write]), Turn(text="Written."))
    await tab.send("Say hello.")
    await expect(tab.messages).to_contain_text("Hel")
    stage.model.gate("go").open()
    await expect(tab.messages).to_contain_text("Hello")
    await tab.idle()
    await tab.send("Write it.")
    await ready(tab.permissions)
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("Written.")
    await tab.idle()
    assert (stage.project / "asked.txt").read_text() == "new\n"

    await tab.undo(1)
    await tab.dialog.get_by_role("button", name="Undo", exact=False).first.click()
    await expect(tab.page.locator(".reverted-notice")).to_contain_text("1 prompt")
    assert not (stage.project / "asked.txt").exists()
    await expect(tab.page.locator("dialog[open]")).to_have_count(0)  # it may end after the page knows


async def use_terminal(tab: Tab) -> None:
    """Open one by its key, and run something."""
    await tab.page.keyboard.press("Control+Backquote")
    await expect(tab.page.get_by_role("textbox", name="Terminal Terminal")).to_be_focused()
    await tab.page.keyboard.type("echo $((40 + 2)) is it\n")
    await expect(tab.page.locator(".terminal-view:not([hidden]) .xterm-rows")).to_contain_text("42 is it")
