"""Cards of tools: a batch as one group as it comes and after a reload, a patch asked about file by file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

PATCH = """*** Begin Patch
*** Update File: hello.py
@@
-    return 'hello'
+    return '<b>goodbye</b>'
*** Add File: docs/new.md
+# New
*** Delete File: numbers.txt
*** End Patch"""
TOGETHER = [
    {"tool": "read", "parameters": {"filePath": "hello.py"}},
    {"tool": "bash", "parameters": {"command": "touch together"}},
    {"tool": "read", "parameters": {"filePath": "missing.py"}},
]


@pytest.mark.long
async def test_the_calls_of_a_batch_are_within_its_card(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(
            tools=[
                ToolUse("batch", {"tool_calls": TOGETHER}),
                ToolUse("glob", {"pattern": "*.py"}),
            ]
        ),
        Turn(text="All read."),
    )
    tab = await stage.tab(context, await stage.session("batches"))
    await tab.send("Read them.")
    batch = tab.page.locator(".parts > .tool", has_text="Batch")
    inner = batch.locator(".within > .tool")
    shell = inner.filter(has_text="touch together")
    await expect(tab.permissions).to_contain_text("touch together")
    await expect(inner).to_have_count(3)
    await expect(shell.get_by_text("Waiting for you")).to_be_visible()
    await inner.filter(has_text="hello.py").locator("summary").click()
    await expect(inner.locator(".tool-output")).to_contain_text(["def hello", "", ""])
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await expect(tab.messages).to_contain_text("All read.")
    await expect(inner.filter(has_text="hello.py").locator("details")).to_have_attribute("open", "")
    for _ in ("as it came", "after a reload"):
        await expect(batch.locator("> details")).to_contain_text("3 calls")
        await expect(batch.locator("> details")).to_contain_text("1 failed")
        await expect(inner.filter(has_text="missing.py")).to_contain_text("Failed")
        await expect(shell).to_have_attribute("data-status", "completed")
        await expect(inner).to_have_count(3)
        await expect(tab.page.locator(".parts > .tool")).to_have_count(2)
        await tab.page.reload()


async def test_a_patch_is_asked_about_file_by_file(
    home: Path, tmp_path: Path, context: BrowserContext
) -> None:
    async with Patching(home, repository(tmp_path / "patched"), permission={"edit": "ask"}) as stage:
        stage.plays(Turn(tools=[ToolUse("apply_patch", {"patchText": PATCH})]), Turn(text="Patched."))
        tab = await stage.tab(context, await stage.session("patches"))
        await tab.send("Patch it.")
        await expect(tab.tool("Patch")).to_contain_text("hello.py, docs/new.md, numbers.txt")
        files = tab.permissions.locator(".proposed")
        await expect(files).to_have_count(3)
        await expect(files.nth(0).locator("tr.add")).to_contain_text("<b>goodbye</b>")
        await expect(files.nth(1)).to_contain_text("new file")
        await expect(files.nth(2)).to_contain_text("is removed")
        await tab.permissions.get_by_role("button", name="Allow once").click()
        await expect(tab.messages).to_contain_text("Patched.")
        assert (stage.project / "docs" / "new.md").exists()
        await tab.idle()


class Patching(Stage):
    """With a model that is offered `apply_patch`."""

    def configuration(self) -> dict[str, object]:
        config = super().configuration()
        models = config["provider"]["fake"]["models"]
        models["gpt-4.1"] = models.pop("fake")
        return config | {"model": "fake/gpt-4.1"}
