"""The states of the panel of issues and pull requests."""

from __future__ import annotations

from playwright.async_api import Page

from tests.e2e.access.state import shown, state
from tests.e2e.access.world import World


async def panel(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    return await shown(page, page.locator(".forge-row"))


@state("/p/{project}/forge", "/p/{project}/forge/list")
async def issues(world: World) -> Page:
    return await panel(world)


@state("/p/{project}/forge/item", "/p/{project}/forge/merge")
async def a_pull_request_that_is_to_be_merged(world: World) -> Page:
    page = await panel(world)
    await page.get_by_role("button", name="Pull requests", exact=True).click()
    await page.locator(".forge-row", has_text="Mend it").click()
    await page.locator("summary", has_text="Answer").click()
    await page.get_by_role("button", name="Merge…").click()
    return await shown(page, page.locator("#forge-method"))


@state("/p/{project}/forge/branch")
async def a_new_pull_request(world: World) -> Page:
    world.forge.branch = "trunk"  # another one than is checked out
    page = await panel(world)
    await page.get_by_role("button", name="This branch").click()
    return await shown(page, page.locator("#forge-new"))
