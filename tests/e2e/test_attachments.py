"""What goes along with a prompt: long text that is pasted, files that are dropped, and what is refused."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, FilePayload, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINES = "".join(f"line {number}\n" for number in range(1, 58))
DROP = """(target, [name, type, content]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], name, { type }));
  const how = { dataTransfer, bubbles: true, cancelable: true };
  for (const event of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(event, how));
}"""


def attached(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


async def copied(tab: Tab, text: str) -> None:
    await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)


async def test_long_text_that_is_pasted_is_attached(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Read."))
    tab = await stage.tab(context, await stage.session("pastes long text"))
    await copied(tab, LINES)
    await tab.prompt.press_sequentially("What is this?")
    for number in (1, 2):
        await tab.prompt.press("Control+v")
        await expect(attached(tab).nth(number - 1)).to_contain_text(f"pasted-{number}.txt")
        await expect(attached(tab).nth(number - 1)).to_contain_text("57 lines")
    await expect(tab.prompt).to_have_value("What is this?")
    await tab.page.get_by_role("button", name="Remove pasted-1.txt").click()
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Read.")
    assert "line 57" in str(stage.model.requests[-1].body["messages"][-1]["content"])
    await expect(tab.messages.locator(".message.user .chip")).to_contain_text("pasted-2.txt")


async def test_it_is_put_into_the_text_instead(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("pastes into the text"))
    await copied(tab, LINES)
    await tab.prompt.press("Control+v")
    await tab.page.get_by_role("button", name="Put it into the text: pasted-1.txt").click()
    await expect(attached(tab)).to_have_count(0)
    await expect(tab.prompt).to_have_value(LINES)
    await expect(tab.prompt).to_be_focused()
    await tab.prompt.press("Control+z")
    await expect(tab.prompt).to_have_value("")

    await tab.prompt.press("Control+Shift+v")
    await expect(tab.prompt).to_have_value(LINES)
    await tab.prompt.fill("")
    await copied(tab, "a short one")
    await tab.prompt.press("Control+v")
    await expect(tab.prompt).to_have_value("a short one")
    await tab.prompt.fill("")
    await copied(tab, "x" * 4_001)
    await tab.prompt.press("!")
    await tab.prompt.press("Control+v")
    await expect(tab.prompt).to_have_value("x" * 4_001)
    await expect(attached(tab)).to_have_count(0)
    await tab.prompt.fill("")


async def test_what_does_not_fit_is_said(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("refuses"))
    files, problem = tab.page.locator("#attach"), tab.page.locator("#composer-problem")
    await files.set_input_files({"name": "a.zip", "mimeType": "application/zip", "buffer": b"PK\x03\x04\x00"})
    await expect(problem).to_have_text("a.zip: only images, PDF and text can be attached.")
    await expect(attached(tab)).to_have_count(0)
    large: FilePayload = {"name": "large.txt", "mimeType": "text/plain", "buffer": b"x" * (8 * 2**20 + 1)}
    small: FilePayload = {"name": "small.py", "mimeType": "text/x-python", "buffer": b"print()\n"}
    await files.set_input_files([large, small])
    await expect(problem).to_have_text("large.txt: larger than 8 MB.")
    await expect(attached(tab)).to_contain_text(["small.py1 line"])
    await tab.page.get_by_role("button", name="Remove small.py").click()


async def test_a_file_is_dropped_on_the_conversation(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("dropped on"))
    await tab.page.locator("#scroller").evaluate(DROP, ["note.md", "text/markdown", "# A note\n"])
    await expect(attached(tab)).to_contain_text("note.md")
    await tab.page.get_by_role("button", name="Remove note.md").click()


async def test_a_file_of_the_tree_is_mentioned(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("dragged from the tree"))
    await tab.prompt.fill("Look at")
    await tab.page.keyboard.press("Control+Shift+E")
    row = tab.page.locator("#files-tree [data-path='hello.py']")
    await row.drag_to(tab.page.locator("#scroller"))
    await expect(tab.prompt).to_have_value("Look at @hello.py ")
    await tab.page.locator("#files-tree [data-path='docs']").drag_to(tab.prompt)
    await expect(tab.prompt).to_have_value("Look at @hello.py @docs/ ")
    await expect(attached(tab)).to_have_count(0)
    await tab.prompt.fill("")
