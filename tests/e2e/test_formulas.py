"""Formulas in answers and previews: drawn once they are whole, copied as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

ANSWER = r"""Energy is $E = mc^2$, for $5 and $10.

\[
\int_0^1 x\,dx = \frac{1}{2}
\]

What nobody understands: $\nothing{x}$ and \(\href{javascript:alert(1)}{x}\)

```math
a_1 + \mathbb{R}
```
"""


WATCH = """() => {
  window.bare = [];
  const look = () => {
    for (const one of document.querySelectorAll(".formula:not(:has(.katex))")) bare.push(one.textContent);
  };
  const messages = document.getElementById("messages");
  new MutationObserver(look).observe(messages, { childList: true, subtree: true });
}"""


async def test_an_answer_shows_formulas_and_gives_their_source(stage: Stage, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage.plays(Turn(text=ANSWER))
    tab = await stage.tab(context, await stage.session("formulas"))
    await tab.send("Explain it.")
    await tab.idle()
    text = tab.page.locator(".part.text")
    await expect(text.locator(".katex")).to_have_count(3)
    await expect(text.locator(".katex-display")).to_have_count(2)
    await expect(text.locator("math").first).to_contain_text("E = mc^2")
    await expect(text.locator("p").first).to_contain_text("for $5 and $10.")
    unknown = text.get_by_title("Undefined control sequence")
    await expect(unknown).to_have_text(r"$\nothing{x}$")
    await expect(text.locator(".formula", has_text="href")).to_have_text(r"\(\href{javascript:alert(1)}{x}\)")
    await expect(text.get_by_title(r"\href is not allowed here")).to_have_count(1)
    assert await text.locator("a").count() == 0
    await text.locator("p").first.evaluate("(p) => getSelection().selectAllChildren(p)")
    await tab.page.keyboard.press("Control+c")
    copied = await tab.page.evaluate("() => navigator.clipboard.readText()")
    assert copied.strip() == "Energy is $E = mc^2$, for $5 and $10."
    fonts = await tab.page.evaluate("() => document.fonts.ready.then((all) => all.check('16px KaTeX_Math'))")
    assert fonts


async def test_a_formula_is_drawn_when_it_is_whole(stage: Stage, context: BrowserContext) -> None:
    stage.plays(
        Turn(text=["First $x_1$, then $y", Wait("half"), "_2$ and so on.\n\n$$\nz", Wait("open"), "\n$$\n"])
    )
    tab = await stage.tab(context, await stage.session("half a formula"))
    await tab.send("Explain it.")
    await stage.model.gate("half").reached()
    text = tab.page.locator(".part.text")
    await expect(text.locator(".katex")).to_have_count(1)
    await expect(text).to_contain_text("then $y")
    stage.model.gate("half").open()
    await stage.model.gate("open").reached()
    await expect(text.locator(".katex")).to_have_count(2)
    await expect(text).to_contain_text("$$ z")
    # From here on each formula that comes is drawn before anybody sees it.
    await tab.page.evaluate(WATCH)
    stage.model.gate("open").open()
    await tab.idle()
    await expect(text.locator(".katex-display")).to_have_count(1)
    assert await tab.page.evaluate("() => window.bare") == []


async def test_a_preview_shows_formulas(home: Path, tmp_path: Path, context: BrowserContext) -> None:
    project = repository(tmp_path / "papers")
    (project / "paper.md").write_text("# Paper\n\nIt is $x^2$.\n")
    async with Stage(home, project) as stage:
        tab = await stage.tab(context)
        await tab.page.keyboard.press("Control+Shift+E")
        await tab.page.locator("#files-tree [data-path='paper.md']").click()
        await tab.page.get_by_role("button", name="Preview", exact=True).click()
        await expect(tab.page.locator(".opened-preview .katex")).to_have_count(1)
        await tab.page.reload()
        await tab.connected()
        await tab.page.get_by_role("button", name="Preview", exact=True).click()
        await expect(tab.page.locator(".opened-preview .katex")).to_have_count(1)
