"""Two people at one server: invited, signed in with a second factor, and what one may not, the other does."""

from __future__ import annotations

import base64
import hmac
import re
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.urls import resolve
from playwright.async_api import Browser, BrowserContext, Page, expect

from opencode_web.people import needs
from sessions.core.roles import Role
from tests import programs
from tests.e2e.access.scan import NARROW, WIDE, violations
from tests.e2e.conftest import ASKED, repository, watch
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

PASSWORD = "correct horse battery"
ADDRESS = re.compile(r"http://\S+/login/password/\S+")


class Staffed(Stage):
    """With people; a client has the server's password, and so has nobody's browser."""

    async def log_in(self) -> None:
        self.home_path = f"/p/{(await self.client.get('/project/current'))['id']}/"

    def invite(self, name: str, role: str) -> str:
        """The link by which they choose a password."""
        done = self.server.command("people", "add", name, "--role", role)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@asynccontextmanager
async def staffed(folder: Path) -> AsyncIterator[Staffed]:
    stage = Staffed(folder / "home", repository(folder / "project"), permission=ASKED)
    stage.home.mkdir()
    stage.server.environ = {"OPENCODE_WEB_TEAM": "1"}
    async with stage:
        yield stage


async def choose_password(page: Page, link: str) -> None:
    await page.goto(link)
    for label in ("New Password", "New Password (again)"):
        await page.get_by_label(label, exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Save and sign in").click()
    await expect(page.locator("#prompt")).to_be_visible()


def code_of(secret: str) -> str:
    """What an authenticator app shows (RFC 6238)."""
    counted = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.new(base64.b32decode(secret), counted, "sha1").digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place : place + 4])[0] & 0x7FFFFFFF) % 10**6:06d}"


async def test_who_may_not_approve_leaves_it_to_who_may(
    tmp_path: Path, browser: Browser, context: BrowserContext
) -> None:
    others = await browser.new_context(reduced_motion="reduce")
    faults = watch(others)
    async with staffed(tmp_path) as stage:
        ada, grace = Tab(await context.new_page(), stage), Tab(await others.new_page(), stage)
        await choose_password(ada.page, stage.invite("Ada", "ask"))
        await choose_password(grace.page, stage.invite("Grace", "approve"))
        write = ToolUse("write", {"filePath": "asked.txt", "content": "new\n"})
        stage.plays(Turn(tools=[write]), Turn(text="Written."))
        session = await stage.session("Of two")
        await ada.open(session)
        await grace.open(session)
        await ada.send("Write it.")
        await expect(grace.permissions).to_contain_text("asked.txt")
        await expect(ada.permissions).to_contain_text("asked.txt")
        await expect(ada.permissions.get_by_role("button", name="Allow once")).to_be_hidden()
        await grace.permissions.get_by_role("button", name="Allow once").click()
        await expect(ada.messages).to_contain_text("Written.")
        await ada.page.goto(f"{stage.server.url}{stage.home_path}rules/decisions")
        await expect(ada.page.locator("body")).to_contain_text("(Grace")
        for tab in (ada, grace):
            await tab.page.close()
    await others.close()
    assert faults == []


async def test_two_people_see_one_another(tmp_path: Path, browser: Browser, context: BrowserContext) -> None:
    others = await browser.new_context(reduced_motion="reduce")
    faults = watch(others)
    async with staffed(tmp_path) as stage:
        ada, grace = Tab(await context.new_page(), stage), Tab(await others.new_page(), stage)
        await choose_password(ada.page, stage.invite("Ada", "ask"))
        await choose_password(grace.page, stage.invite("Grace", "ask"))
        stage.plays(Turn(text=["first ", Wait("ended")]), Turn(text="Second."), Turn(text="Third."))
        session = await stage.session("Of both")
        await ada.open(session)
        await expect(ada.page.locator("#presence .here")).to_have_count(0)
        await grace.open(session)
        seen = ada.page.locator("#presence .here")
        await expect(seen).to_have_attribute("title", "Grace looks at this session")
        await expect(grace.page.locator("#presence .here")).to_have_text("AdAda")
        await grace.prompt.press_sequentially("And")
        await expect(seen).to_have_attribute("title", "Grace writes")
        await ada.send("One.")
        await expect(ada.messages).to_contain_text("first")
        await grace.send("Two.")
        await expect(seen).to_have_attribute("title", "Grace looks at this session")
        await ada.send("Three.")
        waiting = ada.page.locator("#queue li")
        await expect(waiting).to_have_count(2)
        await expect(waiting.nth(0)).to_contain_text("Grace")
        await expect(waiting.nth(1)).to_contain_text("Ada")
        stage.model.gate("ended").open()
        await expect(ada.messages).to_contain_text("Third.")
        await grace.page.close()
        await expect(seen).to_have_count(0)
        await ada.page.close()
    await others.close()
    assert faults == []


OFFERED = """[...document.querySelectorAll("[hx-post], [hx-get], a[href]")]
    .filter((one) => one.checkVisibility()).flatMap((one) => [
        ["POST", one.getAttribute("hx-post")], ["GET", one.getAttribute("hx-get")],
        ["GET", one.getAttribute("href")]]).filter(([, address]) => address?.startsWith("/"))"""


async def refused(page: Page, role: Role) -> list[tuple[str, str]]:
    """What of the page is seen and would be refused to the role."""
    found = []
    for method, address in await page.evaluate(OFFERED):
        name = resolve(urlsplit(address).path, "opencode_web.urls").url_name or ""
        if name not in needs.PUBLIC and needs.of_page(method, name).rank > role.rank:
            found.append((method, address))
    return found


async def test_a_page_offers_what_its_reader_may(tmp_path: Path, context: BrowserContext) -> None:
    async with staffed(tmp_path) as stage:
        page = await context.new_page()
        tab = Tab(page, stage)
        await choose_password(page, stage.invite("Ada", "ask"))
        write = ToolUse("write", {"filePath": "asked.txt", "content": "new\n"})
        stage.plays(Turn(tools=[write]), Turn(text="Written."))
        session = await stage.session("For readers")
        await tab.open(session)
        await tab.send("Write it.")
        await expect(tab.permissions).to_contain_text("asked.txt")
        assert await refused(page, Role.ASK) == []
        await page.locator("#session-more").click()
        await expect(page.get_by_role("menuitem", name="Rename")).to_be_visible()
        assert await refused(page, Role.ASK) == []
        done = stage.server.command("people", "role", "Ada", "see")
        assert done.returncode == 0, done.stderr
        await page.goto(f"{stage.server.url}{stage.home_path}s/{session}")
        await expect(tab.permissions).to_contain_text("asked.txt")
        await expect(page.locator("#prompt")).to_be_hidden()
        assert await refused(page, Role.SEE) == []
        await page.locator("#session-more").click()
        await expect(page.get_by_role("menuitem", name="Copy the link")).to_be_visible()
        await expect(page.get_by_role("menuitem", name="Rename")).to_be_hidden()
        await page.close()


async def test_a_person_is_invited_in_the_page_and_switched_off(
    tmp_path: Path, browser: Browser, context: BrowserContext
) -> None:
    others = await browser.new_context(reduced_motion="reduce")
    async with staffed(tmp_path) as stage:
        page, theirs = await context.new_page(), await others.new_page()
        await choose_password(page, stage.invite("Ada", "administer"))
        await page.goto(f"{stage.server.url}/people/")
        await page.get_by_label("Name").fill("Edsger")
        await page.get_by_role("button", name="Invite").click()
        link = await page.get_by_text(ADDRESS).inner_text()
        await choose_password(theirs, link)
        await theirs.goto(f"{stage.server.url}/people/")
        await expect(theirs.get_by_role("heading", name="Not for your role")).to_be_visible()
        await theirs.goto(f"{stage.server.url}{stage.home_path}")
        await theirs.locator("#connection[data-state=connected]").wait_for(state="attached")
        await page.locator(".person", has_text="Edsger").get_by_text("Projects, sign-ins").click()
        await page.locator(".person", has_text="Edsger").get_by_role("button", name="Switch off").click()
        await expect(page.locator(".person", has_text="Edsger")).to_contain_text("switched off")
        await expect(theirs.locator("#connection")).not_to_have_attribute("data-state", "connected")
        await page.close()
    await others.close()


async def test_a_second_factor_is_asked_for(tmp_path: Path, context: BrowserContext) -> None:
    async with staffed(tmp_path) as stage:
        page = await context.new_page()
        await choose_password(page, stage.invite("Ada", "administer"))
        await page.goto(f"{stage.server.url}/you/")
        await page.get_by_role("link", name="Second factor").click()
        await page.get_by_role("link", name="Set up an authenticator app").click()
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Go on").click()
        secret = await page.locator("main code").inner_text()
        await page.get_by_label("Authenticator code").fill(code_of(secret))
        await page.get_by_role("button", name="Use it from now on").click()
        await expect(page.locator(".recovery-codes li")).to_have_count(10)
        spare = await page.locator(".recovery-codes li").first.inner_text()

        await page.goto(f"{stage.server.url}/you/")
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("Username").fill("Ada")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
        await page.get_by_role("textbox").fill(spare)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.locator("#prompt")).to_be_visible()
        await page.close()


@pytest.mark.long
async def test_the_pages_break_no_rule_of_access(
    tmp_path: Path, context: BrowserContext, user_environ: dict[str, str]
) -> None:
    axe, found = programs.axe(user_environ), []
    async with staffed(tmp_path) as stage:
        page = await context.new_page()
        link = stage.invite("Ada", "administer")
        stage.invite("Grace", "see")
        for address in ("/login", urlsplit(link).path):
            await page.goto(stage.server.url + address)
            found += [f"{address} {line}" for line in await violations(page, axe, (WIDE, NARROW))]
        await choose_password(page, link)
        for address in ("/people/", "/you/", "/you/second", "/you/password", "/accounts/own"):
            await page.goto(stage.server.url + address)
            for summary in await page.locator(".person summary").all():
                await summary.click()
            found += [f"{address} {line}" for line in await violations(page, axe, (WIDE, NARROW))]
        await page.close()
    assert found == []
