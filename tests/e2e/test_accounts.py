"""The page of accounts: a key, a sign-in by a code that waits and is cancelled, ChatGPT in a second tab."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage, hold
from tests.loopback.accounts import (
    GITHUB_TOKEN,
    OPENAI_TOKEN,
    PENDING,
    AccountServer,
    Held,
    Status,
    openai_tokens,
)

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

KEY = "gsk_0123456789wxyz"
TRIED = "/acme/models"
PLUGIN = """
async def begin(inputs):
    if inputs["team"] == "nobody":
        return {"field": "team", "message": "Nobody is in this team."}

    async def finish(code):
        if code != "right":
            return {"type": "failed"}
        return {"type": "success", "refresh": "r", "access": inputs["plan"], "expires": 0}

    return {"url": "https://acme.invalid/", "instructions": "Bring it.", "method": "code", "callback": finish}


async def load(get_auth, provider):
    return {"headers": {"x-plan": (await get_auth())["access"]}}


async def plugin(ctx):
    plans = [{"label": "Small", "value": "small"}, {"label": "Large", "value": "large"}]
    prompts = [
        {"type": "text", "key": "team", "message": "Your team", "placeholder": "blue"},
        {"type": "select", "key": "plan", "message": "Your plan", "options": plans},
    ]
    method = {"type": "oauth", "label": "Sign in with Acme", "prompts": prompts, "authorize": begin}
    regions = [{"label": "Near", "value": "near"}, {"label": "Far", "value": "far"}]
    far = {"key": "region", "op": "eq", "value": "far"}
    asked = [
        {"type": "select", "key": "region", "message": "Where?", "options": regions},
        {"type": "text", "key": "host", "message": "Its host", "when": far},
    ]
    key = {"type": "api", "label": "Key of a region", "prompts": asked}
    return {"auth": {"provider": "acme", "methods": [method, key], "loader": load}}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def accounts() -> AsyncIterator[AccountServer]:
    async with AccountServer() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def place(accounts: AccountServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A server of its own: what is signed in decides which models every other test sees."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    written = home / ".config" / "opencode" / "opencode.json"
    written.parent.mkdir(parents=True)
    acme = {"name": "Acme", "options": {"baseURL": f"{accounts.url}/acme"}, "models": {"large": {}}}
    written.write_text(json.dumps({"provider": {"acme": acme}}))
    (written.parent / "plugins").mkdir()
    (written.parent / "plugins" / "acme.py").write_text(PLUGIN)
    stage = Stage(home, repository(tmp_path_factory.mktemp("accounts") / "project"))
    stage.server.environ = {
        **accounts.environ,
        "CEREBRAS_API_KEY": "csk-environment",
        "OPENCODE_WEB_CHATGPT_PORT": str(port),
        "HTTPS_PROXY": f"http://127.0.0.1:{port}",  # nobody is there: no provider is reached
    }
    async with stage:
        yield stage


async def opened(context: BrowserContext, place: Stage) -> Page:
    """The page, by the way a person takes from a session."""
    tab = await place.tab(context)
    await tab.page.get_by_role("link", name="Settings").click()
    await tab.page.get_by_role("link", name="Accounts").click()
    await expect(tab.page.get_by_role("heading", name="Accounts")).to_be_visible()
    return tab.page


def row(page: Page, name: str) -> Locator:
    return page.locator(".account", has=page.get_by_role("heading", name=name, exact=True))


async def test_a_key_is_added_and_removed_by_keyboard(context: BrowserContext, place: Stage) -> None:
    page = await opened(context, place)
    await expect(row(page, "Cerebras")).to_contain_text("Key in CEREBRAS_API_KEY")
    await page.get_by_label("Find a provider").press_sequentially("GROQ")
    await expect(page.locator(".account:visible")).to_have_count(1)
    await expect(page.locator("#accounts-found")).to_have_text("1 found")
    groq, field = row(page, "Groq"), page.get_by_label("Key of Groq")
    await groq.locator("summary").press("Enter")
    await expect(field).to_be_focused()
    assert await field.get_attribute("type") == "password"
    await field.press("Escape")
    await expect(groq.locator("summary")).to_be_focused()
    await groq.locator("summary").press("Enter")
    await field.fill("   ")
    await field.press("Enter")
    await expect(groq.get_by_role("alert")).to_contain_text("It is empty")
    await field.fill(KEY)
    await field.press("Enter")
    await expect(groq).to_contain_text("Key that ends in wxyz")
    await expect(page.locator("#accounts-said")).to_contain_text(
        "Groq: The key is kept, but it was not tried"
    )
    await expect(groq.locator(".account-said")).to_contain_text("Could not connect to groq at")
    await expect(groq.get_by_role("heading")).to_be_focused()
    assert KEY not in await page.content()
    await page.get_by_label("Find a provider").fill("")
    await expect(page.locator("#accounts-found")).to_contain_text("4 of ")
    await page.reload()
    assert KEY not in await page.content()
    await groq.locator("summary", has_text="Remove").press("Enter")
    await groq.get_by_role("button", name="Remove").press("Enter")
    await expect(groq).to_contain_text("Not connected")
    await expect(page.locator("#accounts-found")).to_contain_text("3 of ")
    assert json.loads((place.server.data / "auth.json").read_text()) == {}


async def test_a_key_is_tried_before_it_is_kept(
    context: BrowserContext, place: Stage, accounts: AccountServer
) -> None:
    page = await opened(context, place)
    acme, field, kept = row(page, "Acme"), page.get_by_label("Key of Acme"), place.server.data / "auth.json"
    await acme.locator("summary", has_text="Add a key").click()

    accounts.plays(TRIED, Status(401, {"error": {"message": "Unknown key."}}))
    await field.fill(KEY)
    await field.press("Enter")
    await expect(acme.get_by_role("alert")).to_contain_text("Acme refused this key, so it was not kept.")
    await expect(acme.get_by_role("alert")).to_contain_text("Unknown key.")
    assert "acme" not in json.loads(kept.read_text() if kept.exists() else "{}")

    accounts.plays(TRIED, Held({}))
    await acme.get_by_role("button", name="Save").click()
    await expect(acme).to_contain_text("Trying the key")
    await accounts.wait_for(TRIED, 2)
    await expect(acme.get_by_role("alert")).to_be_empty()
    await acme.get_by_role("button", name="Cancel").click()
    await expect(acme.get_by_role("button", name="Cancel")).to_be_hidden()
    await expect(acme.get_by_role("button", name="Save")).to_be_enabled()
    assert "acme" not in json.loads(kept.read_text() if kept.exists() else "{}")

    accounts.plays(TRIED, Status(403, {}))
    await acme.get_by_role("button", name="Save").click()
    await expect(acme.get_by_role("alert")).to_contain_text("(403)")
    await acme.get_by_role("button", name="Keep anyway").click()
    await expect(page.locator("#accounts-said")).to_have_text("Acme: The key is kept.")
    assert len(accounts.asked(TRIED)) == 3
    assert json.loads(kept.read_text())["acme"]["key"] == KEY

    accounts.plays(TRIED, {"data": [{"id": "large"}, {"id": "small"}]})
    await acme.locator("summary", has_text="Replace key").click()
    await field.fill(f"{KEY}9876")
    await field.press("Enter")
    await expect(acme).to_contain_text("Key that ends in 9876")
    await expect(acme.locator(".account-said")).to_have_text("The key works: 2 models.")
    assert KEY not in await page.content()
    assert KEY not in place.server.log()


async def test_what_is_done_before_the_page_is_wired_counts(
    context: BrowserContext, place: Stage, accounts: AccountServer
) -> None:
    page = await opened(context, place)
    address = page.url
    held = await hold(page, re.compile(r"/htmx.*\.js"))
    await page.reload(wait_until="commit")
    accounts.plays(GITHUB_TOKEN, PENDING)
    accounts.plays(TRIED, {"data": [{"id": "large"}]})
    copilot, acme = row(page, "GitHub Copilot"), row(page, "Acme")
    await copilot.get_by_role("button", name="Sign in with GitHub").click()
    await acme.locator("summary", has_text=re.compile("Add a key|Replace key")).click()
    await page.get_by_label("Key of Acme").fill(f"{KEY}5432")
    await page.get_by_label("Key of Acme").press("Enter")
    await page.get_by_label("Find a provider").fill("acme")
    held.free.set()
    await expect(page.locator(".account:visible")).to_have_count(1)
    await expect(acme).to_contain_text("Key that ends in 5432")
    await page.get_by_label("Find a provider").fill("")
    await expect(copilot.locator(".account-code code")).to_have_text("WDJB-MJHT")
    assert page.url == address
    await copilot.get_by_role("button", name="Cancel").click()
    await acme.locator("summary", has_text="Remove").click()
    await acme.get_by_role("button", name="Remove").click()
    await expect(acme).to_contain_text("Set up in the configuration")


async def test_the_usual_providers_come_first(context: BrowserContext, place: Stage) -> None:
    page = await opened(context, place)
    apart = page.locator(".account", has=page.get_by_text("Not connected")).get_by_role("heading")
    names = await apart.all_text_contents()
    assert names[:5] == ["Anthropic", "OpenAI", "Google", "OpenRouter", "GitHub Copilot"]


@pytest.mark.long
async def test_a_code_waits_is_cancelled_and_signs_in(
    context: BrowserContext, place: Stage, accounts: AccountServer
) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await opened(context, place)
    copilot, gate = row(page, "GitHub Copilot"), asyncio.Event()
    accounts.plays(GITHUB_TOKEN, PENDING)
    await copilot.get_by_role("button", name="Sign in with GitHub").click()
    await expect(copilot.locator(".account-code code")).to_have_text("WDJB-MJHT")
    link = copilot.get_by_role("link", name="Open the sign-in page")
    await expect(link).to_be_focused()
    assert await link.get_attribute("href") == "https://github.com/login/device"
    await copilot.get_by_role("button", name="Copy").click()
    await expect(copilot.get_by_role("button", name="Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == "WDJB-MJHT"
    await copilot.get_by_role("button", name="Cancel").click()
    await expect(copilot.get_by_role("button", name="Sign in with GitHub")).to_be_visible()

    accounts.plays(GITHUB_TOKEN, {"error": "access_denied"})
    await copilot.get_by_role("button", name="Sign in with GitHub").click()
    await expect(copilot.get_by_role("alert")).to_contain_text("cancelled at GitHub")

    accounts.plays(GITHUB_TOKEN, Held({"access_token": "gho_1"}, gate))
    await copilot.get_by_role("button", name="Sign in with GitHub").click()
    await expect(copilot).to_contain_text("Waiting for you to sign in")
    gate.set()
    await expect(copilot).to_contain_text("Signed in")
    await expect(page.locator("#accounts-said")).to_have_text("GitHub Copilot: Signed in.")
    tab = await place.tab(context)
    await tab.page.keyboard.press("Control+m")
    await expect(tab.page.get_by_role("listbox", name="Models")).to_contain_text("GitHub CopilotSigned in")

    await copilot.locator("summary", has_text="Sign out").click()
    await copilot.get_by_role("button", name="Sign out").click()
    await expect(copilot).to_contain_text("Not connected")


async def test_a_companys_github_needs_a_domain(context: BrowserContext, place: Stage) -> None:
    page = await opened(context, place)
    copilot = row(page, "GitHub Copilot")
    await copilot.locator("summary", has_text="GitHub Enterprise").click()
    field = copilot.get_by_label("The domain of your GitHub Enterprise")
    await field.fill("<b>localhost</b>")
    await field.press("Enter")
    await expect(copilot.get_by_role("alert")).to_contain_text("This is no domain")
    await expect(field).to_have_value("<b>localhost</b>")


async def test_chatgpt_comes_back_from_another_tab(
    context: BrowserContext, place: Stage, accounts: AccountServer
) -> None:
    page = await opened(context, place)
    openai = row(page, "OpenAI")
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))
    await openai.get_by_role("button", name="Sign in with ChatGPT").click()
    link = await openai.get_by_role("link", name="Open the sign-in page").get_attribute("href") or ""
    query = dict(parse_qsl(urlsplit(link).query))
    async with httpx.AsyncClient(trust_env=False) as browser:
        back = query["redirect_uri"].replace("localhost", "127.0.0.1")
        answer = await browser.get(back, params={"code": "c", "state": query["state"]})
    assert "You can close this tab" in answer.text
    await expect(openai).to_contain_text(re.compile("Signed in"))
    assert "secret" not in await page.content()


async def test_the_sign_in_of_a_plugin_asks_and_is_brought_a_code(
    context: BrowserContext, place: Stage
) -> None:
    page = await opened(context, place)
    acme = row(page, "Acme")
    await page.get_by_label("Find a provider").press_sequentially("ACME")
    await expect(page.locator(".account:visible")).to_have_count(1)
    await acme.get_by_text("Sign in with Acme").press("Enter")
    team = acme.get_by_label("Your team")
    await expect(team).to_be_focused()
    await acme.get_by_label("Your plan").select_option("Large")
    await team.fill("nobody")
    await team.press("Enter")
    await expect(acme.get_by_role("alert")).to_contain_text("Nobody is in this team.")
    await team.fill("blue")
    await team.press("Enter")
    await expect(acme.get_by_role("link", name="Open the sign-in page")).to_have_attribute(
        "href", "https://acme.invalid/"
    )
    code = acme.get_by_label("The code that the sign-in page shows")
    await code.fill("wrong")
    await code.press("Enter")
    await expect(acme.get_by_role("alert")).to_contain_text("The sign-in failed")
    await acme.get_by_text("Sign in with Acme").press("Enter")
    await team.fill("blue")
    await acme.get_by_label("Your plan").select_option("Large")
    await team.press("Enter")
    await code.fill("right")
    await code.press("Enter")
    await expect(acme).to_contain_text("Signed in")
    kept = json.loads((place.server.data / "auth.json").read_text())
    assert kept["acme"]["access"] == "large"
    await acme.locator("summary", has_text="Sign out").press("Enter")
    await acme.get_by_role("button", name="Sign out").press("Enter")
    await expect(acme.get_by_text("Sign in with Acme")).to_be_visible()


async def test_the_key_that_a_plugin_asks_more_about(context: BrowserContext, place: Stage) -> None:
    page = await opened(context, place)
    acme, auth = row(page, "Acme"), place.server.data / "auth.json"
    await acme.locator("summary", has_text="Far").click()
    host = acme.get_by_label("Its host")
    await expect(host).to_be_focused()
    await host.fill("acme.example")
    await acme.locator("details[open]").get_by_label("Key", exact=True).fill(KEY)
    await page.keyboard.press("Enter")
    await expect(acme).to_contain_text("Key that ends in wxyz")
    assert KEY not in await page.content()
    kept = json.loads(auth.read_text())["acme"]
    assert kept == {"type": "api", "key": KEY, "metadata": {"region": "far", "host": "acme.example"}}
    await acme.locator("summary", has_text="Remove").click()
    await acme.get_by_role("button", name="Remove").click()
    await expect(acme).to_contain_text("Set up in the configuration")
    await acme.locator("summary", has_text="Key of a region").click()
    await expect(acme.locator("details[open]").get_by_label("Its host")).to_have_count(0)
    await acme.locator("details[open]").get_by_label("Key", exact=True).fill(KEY)
    await page.keyboard.press("Enter")
    await expect(acme).to_contain_text("Key that ends in wxyz")
    assert json.loads(auth.read_text())["acme"]["metadata"] == {"region": "near"}
    await acme.locator("summary", has_text="Remove").click()
    await acme.get_by_role("button", name="Remove").click()
    await expect(acme).to_contain_text("Set up in the configuration")
