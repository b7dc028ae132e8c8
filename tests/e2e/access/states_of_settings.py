"""The states of what is set up: rules, trust, servers, terminals."""

from __future__ import annotations

from playwright.async_api import Locator, Page, expect

from tests.e2e.access.state import dialog, shown, state
from tests.e2e.access.world import World

# What is set up


@state("/p/{project}/rules", "/pickers/rules")
async def rules(world: World) -> Page:
    page = await world.page(f"{world.project}rules")
    await page.locator("summary").first.click()
    return await shown(page, page.locator(".configured"))


@state("/settings/configuration", "/settings/configuration/entry", "/settings/looks", "/settings/looks/files")
async def configuration(world: World) -> Page:
    page = await world.page(f"{world.url}/settings?project={world.project.rstrip('/').rpartition('/')[2]}")
    await page.locator(".setting-entries summary", has_text="build").first.click()
    await expect(page.locator("#setting-agent-build-prompt")).to_be_visible()
    await page.locator("#setting-keep-ignored-value").fill("30")
    await page.locator("#setting-keep-ignored").get_by_role("button", name="Change").click()
    return await shown(page, page.get_by_role("button", name="Write"))


@state("/settings/configuration/models")
async def a_copy_and_a_model_of_the_configuration(world: World) -> Page:
    page = await world.page(f"{world.url}/settings?project={world.project.rstrip('/').rpartition('/')[2]}")
    await page.locator(".setting-models > summary").click()
    await page.locator(".setting-list summary").first.click()
    await expect(page.get_by_label("Written to one").first).to_be_visible()
    await page.locator(".setting-entries summary", has_text="explore").first.click()
    await page.get_by_label("Name of a copy of explore").fill("searcher")
    await page.get_by_role("button", name="Copy").click()
    return await shown(page, page.get_by_role("button", name="Write"))


@state("/settings/told")
async def told(world: World) -> Page:
    project = world.project.rstrip("/").rpartition("/")[2]
    page = await world.page(f"{world.url}/settings/told?project={project}")
    await page.locator(".told summary").first.click()
    return await shown(page, page.locator(".told pre").first)


@state("/usage")
async def usage(world: World) -> Page:
    page = await world.page(f"{world.url}/usage?days=90")
    await page.locator(".usage-days summary").click()
    return await shown(page, page.get_by_role("heading", name="Models"))


@state("/offline")
async def a_server_that_is_away(world: World) -> Page:
    page = await world.page(f"{world.url}/offline")
    return await shown(page, page.get_by_role("button", name="Try again"))


@state("/settings/about", "/settings/about/log")
async def about(world: World) -> Page:
    page = await world.page(f"{world.url}/settings/about")
    await page.get_by_role("button", name="All lines").click()
    await expect(page.get_by_role("button", name="All lines")).to_have_attribute("aria-pressed", "true")
    await page.get_by_role("button", name="Look", exact=True).click()
    return await shown(page, page.locator("#about-examined pre"))


@state("/settings/keys")
async def keys(world: World) -> Page:
    page = await world.page(f"{world.url}/settings/keys")
    row = page.locator("#keys-compact")
    await row.get_by_role("button", name="Add keys").click()
    await row.get_by_label("New keys").press("Control+b")
    await page.keyboard.press("Enter")
    return await shown(page, row.get_by_role("button", name="Use it here instead"))


@state("/settings/snippets")
async def snippets(world: World) -> Page:
    page = await world.page(f"{world.url}/settings/snippets")
    if not await page.get_by_text(";review").count():
        await page.get_by_label("Name").last.fill("review")
        await page.get_by_label("Text").last.fill("Review ${1:what} for ${2:faults}.")
        await page.get_by_role("button", name="Save").last.click()
    await page.locator(".snippets summary").first.click()
    return await shown(page, page.get_by_role("button", name="Remove review"))


@state("/settings/devices", "/settings/devices/reached")
async def devices(world: World) -> Page:
    page = await world.page(f"{world.url}/settings/devices")
    await page.get_by_label("Name").fill("Phone")
    await page.get_by_role("button", name="Show a code").click()
    await page.get_by_role("img", name="QR code of the link").wait_for()
    return await shown(page, page.get_by_role("button", name="Look again"))


@state("/settings/notifiers", "/settings/notifiers/form")
async def notifiers(world: World) -> Page:
    page = await world.page(f"{world.url}/settings/notifiers")
    if not await page.locator(".notifiers").count():
        await page.get_by_label("Name").fill("Phone")
        await page.get_by_label("Topic").fill(f"{world.url}/topic")
        await page.get_by_role("button", name="Save").click()
    await page.locator(".notifiers summary").first.click()
    await page.get_by_label("By", exact=True).select_option("json")
    await page.get_by_label("Secret that signs it").wait_for()
    return await shown(page, page.get_by_role("button", name="Test Phone"))


@state("/pickers/trust")
async def trust(world: World) -> Page:
    page = (await world.tab()).page
    return await dialog(page, page.get_by_role("button", name="Look at it").first)


def server(page: Page, name: str) -> Locator:
    return page.locator("#mcp-list > .server", has=page.get_by_role("heading", name=name, exact=True))


async def servers_page(world: World) -> Page:
    return await world.page(f"{world.url}/servers?project={world.project.rstrip('/').rpartition('/')[2]}")


@state("/servers", "/servers/mcp/detail", "/servers/mcp/log", "/servers/mcp/schema", "/servers/languages")
async def servers(world: World) -> Page:
    page = await servers_page(world)
    await server(page, "ours").get_by_text("Details").click()
    await server(page, "ours").locator(".server-items summary").first.click()
    return await shown(page, server(page, "ours").locator(".server-schema pre"))


@state("/servers/mcp/form", "/servers/mcp/words")
async def server_form(world: World) -> Page:
    page = await servers_page(world)
    await dialog(page, page.get_by_role("button", name="Add a server"))
    await page.get_by_label("Command", exact=True).fill("npx 'a server'")
    return await shown(page, page.locator("#server-words code"))


@state("/servers/mcp/removal")
async def server_removal(world: World) -> Page:
    page = await servers_page(world)
    await server(page, "ours").get_by_label("More for ours").click()
    return await dialog(page, server(page, "ours").get_by_role("button", name="Remove"))


@state("/servers/languages/more")
async def other_languages(world: World) -> Page:
    page = await servers_page(world)
    await page.get_by_text("All other languages").click()
    return await shown(page, page.locator(".language"))


@state()
async def terminal(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.keyboard.press("Control+Backquote")
    return await shown(page, page.locator(".terminal-tab"))


@state()
async def paths_of_a_terminal(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.keyboard.press("Control+Backquote")
    await expect(page.get_by_role("textbox", name="Terminal Terminal").last).to_be_focused()
    await page.keyboard.type("echo hello.py:2\n")
    await expect(page.locator(".terminal-view:not([hidden]) .xterm-rows")).to_contain_text("hello.py:2")
    return await dialog(page, page.get_by_role("button", name="Paths on the screen"))
