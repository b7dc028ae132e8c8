"""`@` offers symbols, one picked is attached with its lines, and cards say what a language server found."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.agents.servers.lsp.uses import places
from tests.agents.servers.lsp.uses.places import CODE
from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

WRONG = CODE.replace("times = 1", "times: int = 'one'")


@pytest.mark.long
async def test_a_symbol_is_picked_by_keyboard_and_attached(
    tmp_path: Path, context: BrowserContext, user_environ: dict[str, str]
) -> None:
    project = repository(tmp_path / "project")
    (project / "greeting.md").write_text("# Greeting\n")
    (tmp_path / "home").mkdir()
    lsp = places.basedpyright(user_environ)
    async with Stage(tmp_path / "home", project, lsp=lsp, experimental={"lsp_timeout": 25_000}) as stage:
        write = ToolUse("write", {"filePath": "code_of.py", "content": WRONG})
        ask = ToolUse(
            "lsp", {"operation": "findReferences", "filePath": "code_of.py", "line": 1, "character": 5}
        )
        stage.plays(Turn(tools=[write]), Turn(tools=[ask]), Turn(text="Written."), Turn(text="I see it."))
        tab = await stage.tab(context, await stage.session("symbols"))
        await tab.send("Write it.")
        await expect(tab.messages).to_contain_text("Written.")
        await expect(tab.tool("code_of.py").first.locator(".tool-note")).to_have_text("1 error")
        await expect(tab.tool("findReferences").locator(".tool-note")).to_have_text("2 found")

        await tab.prompt.press_sequentially("explain @greet")
        options = tab.page.locator("#completions [role=option]")
        greet = options.filter(has_text="code_of.py:7")
        await expect(greet).to_be_visible()
        await expect(greet).to_contain_text("method")
        assert (await options.all_inner_texts())[0].startswith("greeting.md"), "files come first"
        await expect(options.first).to_have_attribute("aria-selected", "true")
        for _ in range(await options.count()):
            if await greet.get_attribute("aria-selected") == "true":
                break
            await tab.prompt.press("ArrowDown")
        await tab.prompt.press("Enter")
        await expect(tab.prompt).to_have_value("explain @code_of.py#greet ")
        await tab.page.reload()
        await tab.connected()
        await tab.prompt.press("Enter")
        await expect(tab.messages).to_contain_text("I see it.")
        await expect(tab.messages.locator(".attached")).to_have_text("greet code_of.py")
        told = str(stage.model.requests[-1].body["messages"][-1]["content"])
        assert ", greet (lines 7 to 8):" in told
        assert "return hello" in told
