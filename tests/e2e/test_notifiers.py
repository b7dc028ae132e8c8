"""Being told elsewhere, in the browser: a notifier is made and tried, and a browser is told by push."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, Worker, expect

from tests.agents.notifiers.browser import Browser
from tests.e2e.stage import Stage
from tests.loopback.hooks import PATIENCE, HookServer
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SUBSCRIBES = """
([endpoint, keys]) => {
  let subscription = null;
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || !applicationServerKey) throw new Error("not so");
    const unsubscribe = async () => { subscription = null; window.unsubscribed = true; return true; };
    subscription = { endpoint, toJSON: () => ({ endpoint, keys }), unsubscribe };
    return subscription;
  };
  PushManager.prototype.getSubscription = async () => subscription;
}
"""
"""A push service of one's own, which no browser lets one have: all else is the browser's."""


async def notifiers_page(stage: Stage, context: BrowserContext) -> Page:
    page = (await stage.tab(context, await stage.session("is told"))).page
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_role("link", name="Notifiers").click()
    await expect(page.get_by_role("heading", name="Notifiers")).to_be_visible()
    return page


async def test_a_notifier_is_made_and_tried_and_tells(stage: Stage, context: BrowserContext) -> None:
    async with HookServer() as hook:
        page = await notifiers_page(stage, context)
        await page.get_by_label("By", exact=True).select_option("json")
        await expect(page.get_by_label("Secret that signs it")).not_to_have_value("")
        await page.get_by_label("Name").fill("Desk lamp")
        await page.get_by_label("Address", exact=True).fill("nowhere")
        await page.get_by_label("Minutes to wait").fill("0")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("alert").filter(has_text="begins with https://")).to_be_visible()
        await page.get_by_label("Address", exact=True).fill(f"{hook.url}/lamp")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".notifier-state")).to_contain_text("Nothing told yet")
        await page.locator(".notifiers summary").first.click()
        await page.get_by_role("button", name="Test Desk lamp").click()
        await expect(page.locator(".notifiers-said")).to_have_text("Desk lamp was told.")
        assert (await hook.body(1))["title"] == "A test of opencode-web"

        stage.plays(Turn(text=["Done."]))
        session = await stage.session("a lamp")
        await stage.client.post(
            f"/session/{session}/prompt_async", {"parts": [{"type": "text", "text": "Go."}]}
        )
        told = await hook.body(2)
        assert told["text"].startswith("a lamp · ")
        await page.goto(told["url"])
        await expect(page.locator("#title")).to_contain_text("a lamp")

        await page.goto(f"{stage.server.url}/settings/notifiers")
        await page.locator(".notifiers summary").first.click()
        await page.get_by_role("button", name="Remove Desk lamp").click()
        await expect(page.locator(".notifiers-said")).to_have_text("Desk lamp is removed.")


async def test_a_browser_is_told_by_push(home: Path, project: Path, context: BrowserContext) -> None:
    browser = Browser()
    async with HookServer() as service, Stage(home, project) as stage:
        await context.grant_permissions(["notifications"], origin=stage.server.url)
        subscription = [f"{service.url}/push/1", json.loads(browser.keys)]
        await context.add_init_script(f"({SUBSCRIBES})({json.dumps(subscription)})")
        page = await notifiers_page(stage, context)
        await page.get_by_role("button", name="Push to this browser").click()
        await expect(page.locator(".notifiers-said")).to_have_text("This browser is told by push.")
        await expect(page.locator("#push")).to_be_hidden()
        await page.locator(".notifiers summary").first.click()
        await page.get_by_label("Minutes to wait").first.fill("0")
        await page.get_by_role("button", name="Save").first.click()
        await expect(page.locator(".notifiers-said")).to_contain_text("is kept")

        stage.plays(Turn(text=["Done."]))
        session = await stage.session("told by push")
        await stage.client.post(
            f"/session/{session}/prompt_async", {"parts": [{"type": "text", "text": "Go."}]}
        )
        text = browser.read((await service.request()).body).decode()
        assert json.loads(text)["title"] == "Done"
        worker, deliver = await pushing(page, stage)
        await worker.evaluate(NOTED)
        seen = {**json.loads(text), "title": "Seen on the page", "tag": "seen"}
        await deliver(json.dumps(seen))
        await worker.evaluate(LOOKED)
        await page.close()
        await deliver(text)
        async with asyncio.timeout(PATIENCE):
            while not (told := await worker.evaluate("self.told")):
                pass
        assert told == [["Done", json.loads(text)["text"]]], "who looks at a page sees it there"


LOOKED = "clients.matchAll({ type: 'window', includeUncontrolled: true }).then(() => null)"
NOTED = """() => {
  self.told = [];
  registration.showNotification = async (title, { body }) => void self.told.push([title, body]);
}"""
"""A browser without a window lets no worker show anything."""


async def pushing(page: Page, stage: Stage) -> tuple[Worker, Callable[[str], Awaitable[None]]]:
    """The service worker of the page, and what hands it a message as its push service does."""
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    devtools = await page.context.new_cdp_session(await page.context.new_page())

    def note(event: dict[str, Any]) -> None:
        for one in event["registrations"]:
            if one["scopeURL"].startswith(stage.server.url) and not one["isDeleted"] and not found.done():
                found.set_result(one["registrationId"])

    devtools.on("ServiceWorker.workerRegistrationUpdated", note)
    await devtools.send("ServiceWorker.enable")
    async with asyncio.timeout(PATIENCE):
        await page.evaluate("navigator.serviceWorker.ready.then(() => {})")
        registration = await found

    async def deliver(data: str) -> None:
        message = {"origin": stage.server.url, "registrationId": registration, "data": data}
        await devtools.send("ServiceWorker.deliverPushMessage", message)

    return page.context.service_workers[0], deliver
