"""The states of comparisons: the dialog, the page with its changes, what is asked before an act."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.e2e.access.state import dialog, shown, state
from tests.e2e.access.world import World
from tests.loopback.script import ToolUse, Turn


async def compared(world: World) -> Page:
    """One of two attempts, which both have ended; its page."""
    writes = ToolUse("write", {"filePath": "work.py", "content": "# Another\n"})
    world.stage.plays(Turn(tools=[writes]), Turn(text="I wrote it."), Turn(text="I did nothing."))
    body = {"prompt": "Do it.", "attempts": [{}, {}], "checks": ["ls none.txt"], "judge": "none", "atOnce": 1}
    made = await world.stage.client.post("/comparison", body)
    page = await world.page(f"{world.project}compare/{made['id']}")
    await expect(page.locator("#comparison [role=status]")).to_have_text("Done")
    return page


@state("/p/{project}/compare")
async def beginning_a_comparison(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.prompt.fill("/compare Do it")
    await tab.prompt.press("Enter")
    return await shown(tab.page, tab.page.get_by_role("dialog", name="Try it several ways"))


@state("/p/{project}/compare/{comparison}", "/p/{project}/compare/{comparison}/diff")
async def a_comparison_with_its_changes(world: World) -> Page:
    page = await compared(world)
    await page.get_by_role("region", name="What each has changed").locator("summary").first.click()
    await shown(page, page.locator(".compare-picks table.diff"))
    await page.get_by_role("button", name="Show").click()
    return await shown(page, page.locator("#compare-two table.diff"))


@state("/p/{project}/compare/{comparison}/log/1")
async def the_log_of_an_attempt(world: World) -> Page:
    page = await compared(world)
    return await dialog(page, page.get_by_role("button", name="Log 1"))


@state()
async def taking_an_attempt(world: World) -> Page:
    page = await compared(world)
    return await dialog(page, page.get_by_role("button", name="Take 1"))


@state("/p/{project}/compare/{comparison}/combine")
async def combining_attempts(world: World) -> Page:
    page = await compared(world)
    return await dialog(page, page.get_by_role("button", name="Combine several…"))


@state("/p/{project}/compare/{comparison}/clean")
async def cleaning_up_after_a_comparison(world: World) -> Page:
    page = await compared(world)
    return await dialog(page, page.get_by_role("button", name="Clean up…"))


@state("/p/{project}/comparisons")
async def comparisons_so_far(world: World) -> Page:
    await compared(world)
    page = await world.page(f"{world.project}comparisons")
    return await shown(page, page.locator(".compare-list a"))
