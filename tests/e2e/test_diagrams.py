"""Diagrams in answers: drawn in a frame without an origin, shown as pictures."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Error, Frame, Page, Route, expect

from tests.e2e.conftest import provokes
from tests.e2e.stage import Stage
from tests.loopback.script import Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

FLOW = (
    "```mermaid\nflowchart LR\n  A[Ask] --> B{Allowed?}\n  B -->|yes| C[Run]\n  B -->|no| D[Say why]\n```\n"
)
SEQUENCE = "```mermaid\nsequenceDiagram\n  Browser->>Server: prompt\n  Server-->>Browser: answer\n```\n"
WRONG = "```mermaid\nflowchart LR\n  A --> --> B\n```\n"
HOSTILE = """```mermaid
%%{init: {"securityLevel": "loose", "themeCSS": "* { background: url(https://evil.example/css) }"}}%%
flowchart LR
  A["<img src=https://evil.example/a onerror=alert(1)><script>alert(2)</script>"] --> B
  click A href "javascript:alert(3)"
  click B call alert(4)
```
"""
WIDTH = "(image) => image.complete && image.naturalWidth"


def frame_of(page: Page) -> Frame:
    (frame,) = [frame for frame in page.frames if "/diagrams" in frame.url]
    return frame


async def test_a_diagram_takes_the_place_of_its_source(stage: Stage, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage.plays(Turn(text=f"So it goes:\n\n{FLOW}\nand\n\n{SEQUENCE}\nbut\n\n{WRONG}"))
    tab = await stage.tab(context, await stage.session("diagrams"))
    await tab.send("Draw it.")
    await tab.idle()
    flow, sequence, wrong = [tab.page.locator(".code.diagram").nth(number) for number in range(3)]
    for block in (flow, sequence):
        await expect(block.get_by_role("img")).to_be_visible()
        assert await block.get_by_role("img").evaluate(WIDTH) > 100
        await expect(block.locator("pre")).to_be_hidden()
    await expect(wrong.locator("pre")).to_be_visible()
    await expect(wrong.locator(".diagram-problem")).to_contain_text(
        "It cannot be drawn. Parse error on line 2"
    )
    await flow.get_by_role("button", name="Source").click()
    await expect(flow.locator("pre")).to_contain_text("A[Ask] --> B{Allowed?}")
    await expect(flow.get_by_role("img")).to_be_hidden()
    await flow.get_by_role("button", name="Copy").click()
    await expect(flow.get_by_role("button", name="Copied")).to_be_visible()
    assert (await tab.page.evaluate("navigator.clipboard.readText()")).startswith("flowchart LR\n  A[Ask]")
    await flow.get_by_role("button", name="Diagram", exact=True).click()
    await flow.get_by_role("button", name="Enlarge the diagram: flowchart LR").click()
    await expect(
        tab.page.get_by_role("dialog", name="Diagram: flowchart LR").get_by_role("img")
    ).to_be_visible()
    await tab.page.keyboard.press("Escape")
    light = await flow.locator("img").get_attribute("src")
    await tab.page.emulate_media(color_scheme="dark")
    await expect(flow.locator("img")).not_to_have_attribute("src", light or "")


async def test_only_what_is_written_to_its_end_is_drawn(stage: Stage, context: BrowserContext) -> None:
    half, rest = FLOW[:60], FLOW[60:]
    stage.plays(Turn(text=[f"{SEQUENCE}\n{half}", Wait("half"), f"{rest}\nThat is it."]))
    tab = await stage.tab(context, await stage.session("half a diagram"))
    await tab.send("Draw it.")
    await stage.model.gate("half").reached()
    await expect(tab.page.get_by_role("img", name="Diagram: sequenceDiagram")).to_be_visible()
    await expect(tab.page.locator(".unfinished pre")).to_contain_text("flowchart LR")
    await expect(tab.page.get_by_role("img", name="Diagram")).to_have_count(1)
    stage.model.gate("half").open()
    await tab.idle()
    await expect(tab.page.get_by_role("img", name="Diagram: flowchart LR")).to_be_visible()


async def test_a_hostile_text_reaches_nothing(stage: Stage, context: BrowserContext) -> None:
    asked: list[str] = []

    async def elsewhere(route: Route) -> None:
        asked.append(route.request.url)
        await route.abort()

    await context.route(lambda url: not url.startswith((stage.server.url, "data:")), elsewhere)
    provokes(context, "/diagrams?for=")  # the frame's own policy refuses what the text tries
    stage.plays(Turn(text=HOSTILE))
    tab = await stage.tab(context, await stage.session("hostile diagrams"))
    await tab.send("Draw it.")
    await tab.idle()
    block = tab.page.locator(".code.diagram")
    await expect(block.get_by_role("img")).to_be_visible()
    await block.get_by_role("img").click()
    assert asked == []

    frame = frame_of(tab.page)
    assert await frame.evaluate("origin") == "null"
    for reach in ("parent.document", "localStorage", "document.cookie"):
        with pytest.raises(Error, match="SecurityError"):
            await frame.evaluate(reach)


async def test_a_preview_draws_them(stage: Stage, context: BrowserContext) -> None:
    (stage.project / "drawn.md").write_text(f"# Drawn\n\n{FLOW}")
    tab = await stage.tab(context)
    await tab.page.keyboard.press("Control+p")
    await tab.page.keyboard.type("drawn.md")
    await tab.page.get_by_role("option").first.wait_for()
    await tab.page.keyboard.press("Enter")
    await tab.page.get_by_role("button", name="Preview", exact=True).click()
    await expect(tab.page.locator(".opened-preview").get_by_role("img", name="Diagram")).to_be_visible()
