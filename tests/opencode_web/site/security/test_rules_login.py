"""The rules of docs/security.md about who gets in (1, 2, 6, 16): a test fails when its rule is taken out."""

from __future__ import annotations

import asyncio
import base64
import math
import time
from typing import Any

import httpx
import pytest
from asgiref.testing import ApplicationCommunicator

from opencode_web.site.security import launch, throttle
from opencode_web.site.security.asgi import Receive, Scope, Send
from opencode_web.site.security.cookies import BrowserSession, SessionCookies
from opencode_web.site.security.logins import End, Logins
from tests.opencode_web.site.security.harness import (
    BEARER,
    EVIL,
    FRIEND,
    HOST,
    ORIGIN,
    SECRET,
    House,
    cookie_header,
)

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def house() -> House:
    return House()


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


# Rule 1: auth always on, loopback included


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic !!!"},
        basic("opencode", "wrong"),
        basic("root", SECRET),
        {"Cookie": "opencode_web_4096=forged:1abcde:signature"},
    ],
)
async def test_rule_1_nobody_gets_in_without_the_secret(house: House, headers: dict[str, str]) -> None:
    response = await house.client().get("/session", headers=headers)
    assert response.status_code == 401
    assert house.inner.reached == []


async def test_rule_1_the_secret_opens_by_basic_and_by_bearer(house: House) -> None:
    for headers, kind in ((basic("opencode", SECRET), "basic"), (BEARER, "bearer")):
        response = await house.client().post("/session", headers=headers)
        assert response.json()["principal"] == {"kind": kind, "session": None, "csrf": None}


async def test_rule_1_the_password_of_the_environment_replaces_the_secret() -> None:
    house = House({"OPENCODE_SERVER_PASSWORD": "pa:ss", "OPENCODE_SERVER_USERNAME": "me"})
    assert (await house.client().get("/", headers=basic("me", "pa:ss"))).status_code == 200
    assert (await house.client().get("/", headers=BEARER)).status_code == 401


async def test_rule_1_sockets_need_credentials(house: House) -> None:
    assert await house.handshake({"Host": HOST, "Origin": ORIGIN}) == "websocket.close"
    assert house.inner.reached == []
    assert await house.handshake({"Host": HOST, **BEARER}) == "websocket.accept"


async def test_rule_1_a_browser_without_login_is_shown_the_form(house: House) -> None:
    response = await house.client().get("/s/1?tab=diff", headers={"Accept": "text/html,*/*"})
    assert response.status_code == 303
    assert response.headers["location"] == "/login?next=/s/1%3Ftab%3Ddiff"


async def test_rule_1_a_root_path_of_the_client_does_not_move_the_paths(house: House) -> None:
    client = house.client(root_path="/static")
    assert (await client.get("/", headers=BEARER)).json()["root_path"] == ""


@pytest.mark.parametrize(
    "path", ["/static/../session", "/static/..%2fsession", "/static/..\\session", "/staticx", "/favicon"]
)
async def test_rule_1_static_files_are_no_way_around(house: House, path: str) -> None:
    client = house.client()
    request = client.build_request("GET", ORIGIN)
    request.url = request.url.copy_with(raw_path=path.encode())
    assert (await client.send(request)).status_code == 401
    assert house.inner.reached == []


async def test_rule_1_the_icon_is_for_everybody_to_see(house: House) -> None:
    client = house.client()
    assert (await client.get("/favicon.ico")).status_code == 200
    assert (await client.post("/favicon.ico")).status_code != 200
    assert 'href="/static/icon.svg"' in (await client.get("/login")).text


async def test_rule_1_challenges_do_not_make_browsers_keep_basic_credentials(house: House) -> None:
    tool = await house.client().get("/session")
    page = await house.client().get("/session", headers={"Sec-Fetch-Site": "same-origin"})
    assert "Basic" in tool.headers["www-authenticate"]
    assert "Basic" not in page.headers["www-authenticate"]


# Rule 2: the launch token


async def test_rule_2_a_launch_token_works_once_and_leaves_a_clean_address(house: House) -> None:
    address = launch.launch_url("", house.guard.launch_tokens.issue(), "/s/1")
    first = await house.client().get(address)
    assert (first.status_code, first.headers["location"]) == (303, "/s/1")
    assert house.cookie in first.cookies
    second = await house.client().get(address)
    assert second.status_code == 403
    assert not second.cookies


async def test_rule_2_a_launch_token_expires(house: House) -> None:
    token = house.guard.launch_tokens.issue()
    house.clock.now += launch.LIFETIME
    assert (await house.client().get("/auth/launch", params={"token": token})).status_code == 403


async def test_rule_2_a_launch_token_has_256_bits_and_a_look_does_not_use_it_up(house: House) -> None:
    token = house.guard.launch_tokens.issue()
    assert len(base64.urlsafe_b64decode(token + "=")) == 32
    assert (await house.client().head("/auth/launch", params={"token": token})).status_code == 405
    assert (await house.client().get("/auth/launch", params={"token": token})).status_code == 303


@pytest.mark.parametrize(
    "target",
    [
        EVIL,
        "//evil.example",
        "/\\evil.example",
        "\\/evil.example",
        "javascript:alert(1)",
        "/\r\nSet-Cookie: a=b",
        "x",
    ],
)
async def test_rule_2_the_redirect_stays_on_this_server(house: House, target: str) -> None:
    token = house.guard.launch_tokens.issue()
    response = await house.client().get("/auth/launch", params={"token": token, "next": target})
    assert response.headers["location"] == "/"


async def test_rule_2_only_api_credentials_get_a_new_launch_link(house: House) -> None:
    assert (await house.client().post("/auth/launch", headers={"Origin": ORIGIN})).status_code == 401
    answer = await house.client().post("/auth/launch", headers=BEARER)
    assert (await house.client().get(answer.json()["url"])).status_code == 303


# Rule 6: cookie and CSRF


async def test_rule_6_the_cookie_is_closed_to_scripts_and_other_sites(house: House) -> None:
    token = house.guard.launch_tokens.issue()
    value = (await house.client().get("/auth/launch", params={"token": token})).headers["set-cookie"]
    assert value.startswith("opencode_web_4096=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(value.split("; "))
    assert "Secure" not in value


@pytest.mark.parametrize("method", UNSAFE)
async def test_rule_6_a_cookie_needs_the_token_of_its_session_for_changes(house: House, method: str) -> None:
    browser, other = await house.browser(), await house.browser()
    right, foreign = await house.csrf(browser), await house.csrf(other)
    house.inner.reached.clear()
    for headers in ({"Origin": ORIGIN}, {"Origin": ORIGIN, "X-CSRF-Token": ""}, foreign):
        assert (await browser.request(method, "/session", headers=headers)).status_code == 403
    assert house.inner.reached == []
    assert (await browser.request(method, "/session", headers=right)).status_code == 200


async def test_rule_6_no_two_pages_show_the_same_token(house: House) -> None:
    """So that the length of a compressed page tells nothing about it."""
    browser = await house.browser()
    first, second = [(await house.csrf(browser))["X-CSRF-Token"] for _ in range(2)]
    assert not {first[at : at + 8] for at in range(0, 128, 8)} & {
        second[at : at + 8] for at in range(0, 128, 8)
    }
    for token in (first, second):
        headers = {"Origin": ORIGIN, "X-CSRF-Token": token}
        assert (await browser.post("/session", headers=headers)).status_code == 200
    for token in (first[:64], first[:-2], "é" * 64, f"{first[:-1]}x", second[:64] + first[64:]):
        wrong = {b"Origin": ORIGIN.encode(), b"X-CSRF-Token": token.encode()}
        assert (await browser.post("/session", headers=wrong)).status_code == 403


async def test_rule_6_cookies_of_another_port_or_key_or_time_are_no_login(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def status(value: str) -> int:
        headers = {"Cookie": f"{house.cookie}={value}"}
        return (await house.client().get("/", headers=headers)).status_code

    browser = await house.browser()
    good = browser.cookies[house.cookie]
    assert await status(good) == 200
    neighbour = House(port=4097)
    token = neighbour.guard.launch_tokens.issue()
    client = neighbour.client(base="http://127.0.0.1:4097")
    assert (await client.get("/auth/launch", params={"token": token})).status_code == 303
    assert await status(client.cookies[neighbour.cookie]) == 401

    changed = House({"OPENCODE_SERVER_PASSWORD": "new"})
    headers = {"Cookie": f"{changed.cookie}={good}"}
    assert (await changed.client().get("/", headers=headers)).status_code == 401

    later = SessionCookies("key", 4096)
    old = later.issue(secure=False).partition(";")[0].encode()
    assert later.read([old]) is not None
    monkeypatch.setattr("opencode_web.site.security.cookies.time.time", lambda: 4e9)
    assert later.read([old]) is None
    assert SessionCookies("key", 4096).read([old]) is None


async def test_rule_6_a_planted_cookie_does_not_lock_out_the_right_one(house: House) -> None:
    browser = await house.browser()
    right = cookie_header(house, browser)["Cookie"]
    headers = {"Cookie": f"{house.cookie}=planted; {right}"}
    assert (await house.client().get("/", headers=headers)).status_code == 200


async def test_rule_6_logout_needs_the_token_and_clears_the_cookie(house: House) -> None:
    browser = await house.browser()
    headers = await house.csrf(browser)
    assert (await browser.get("/logout")).status_code == 405
    assert (await browser.post("/logout", headers={"Origin": ORIGIN})).status_code == 403
    assert (await browser.post("/logout", headers=headers)).status_code == 200
    assert (await browser.get("/")).status_code == 401


async def test_rule_6_a_cookie_opens_nothing_after_logout(house: House) -> None:
    browser, other = await house.browser(), await house.browser()
    stolen = cookie_header(house, browser)
    await browser.post("/logout", headers=await house.csrf(browser))
    assert (await house.client().get("/session", headers=stolen)).status_code == 401
    assert (await house.client().get("/auth/launch", headers=stolen)).status_code == 403
    assert await house.handshake({"Host": HOST, "Origin": ORIGIN, **stolen}) == "websocket.close"
    assert (await other.get("/session")).status_code == 200


async def test_rule_6_every_browser_can_be_signed_out(house: House) -> None:
    browser, other = await house.browser(), await house.browser()
    headers = await house.csrf(browser)
    assert (await browser.post("/logout", headers=headers, data={"everywhere": "1"})).status_code == 200
    for header in (cookie_header(house, other),):
        assert (await house.client().get("/session", headers=header)).status_code == 401


@pytest.mark.parametrize("passed", [0.0, -3600.0])
async def test_rule_6_a_login_after_the_end_of_all_is_good(
    house: House, monkeypatch: pytest.MonkeyPatch, passed: float
) -> None:
    """At once, and when the clock was put back meanwhile."""
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)
    for _ in range(2):
        browser = await house.browser()
        await browser.post("/logout", headers=await house.csrf(browser), data={"everywhere": "1"})
        monkeypatch.setattr("time.time", lambda: now + passed)
        assert (await (await house.browser()).get("/session")).status_code == 200


async def test_rule_6_ends_are_written_down_and_learned() -> None:
    """As by two processes with one database."""
    rows: list[End] = []

    async def remember(end: End) -> None:
        rows.append(end)

    first, second = Logins(remember), Logins()
    cookies = SessionCookies("key", 1, second.has_ended)
    header = cookies.issue(False).partition(";")[0].encode()
    session = cookies.read([header])
    assert session
    await first.end(session)
    assert cookies.read([header])
    second.learn(rows)
    assert cookies.read([header]) is None
    restarted = Logins()
    restarted.learn(rows)
    assert restarted.has_ended(session)


async def test_rule_6_what_is_open_closes_with_the_login(house: House) -> None:
    browser, other = await house.browser(), await house.browser()
    sockets = [await opened(house, cookie_header(house, one)) for one in (browser, other)]
    await browser.post("/logout", headers=await house.csrf(browser))
    assert await sockets[0].receive_output(5) == {"type": "websocket.close", "code": 4401}
    await sockets[0].wait(5)
    assert await sockets[1].receive_nothing()
    await other.post("/logout", headers=await house.csrf(other), data={"everywhere": "1"})
    assert (await sockets[1].receive_output(5))["code"] == 4401


async def test_rule_6_what_is_open_closes_when_its_person_changes() -> None:
    """As rows say who holds it now; who is the same goes on."""
    logins, closed = Logins(), []
    session = BrowserSession("one", "", math.inf, math.inf)

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        closed.append(await receive())

    for now in (None, {"name": "Ada", "role": "see"}):
        person = {"name": "Ada", "role": "ask"}
        scope = {"type": "websocket", "principal": {"person": person}}
        coming: asyncio.Queue[Any] = asyncio.Queue()
        sent: asyncio.Queue[Any] = asyncio.Queue()
        coming.put_nowait({"type": "websocket.connect"})
        held = asyncio.create_task(logins.hold(session, listening, scope, coming.get, sent.put))
        assert await sent.get() == {"type": "websocket.accept"}
        logins.review({"one": dict(person)})
        await asyncio.sleep(0)
        assert not held.done()
        logins.review({"one": now})
        await held
        assert await sent.get() == {"type": "websocket.close", "code": 4401}
    assert [message["type"] for message in closed] == ["websocket.disconnect"] * 2


async def opened(house: House, cookie: dict[str, str]) -> Any:
    """A socket that is open, of an application that listens until its client is gone."""

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass

    inner, house.guard._application = house.guard._application, listening
    fields = {"Host": HOST, "Origin": ORIGIN, **cookie}
    headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
    scope = {"type": "websocket", "path": "/ws", "query_string": b"", "headers": headers, "client": None}
    socket: Any = ApplicationCommunicator(house.guard, scope)  # type: ignore[no-untyped-call]
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(5))["type"] == "websocket.accept"
    house.guard._application = inner
    return socket


# Rule 16: failed logins


async def log_in(client: httpx.AsyncClient, password: str) -> httpx.Response:
    form = {"password": password, "next": "/s/1"}
    return await client.post("/login", data=form, headers={"Origin": ORIGIN})


async def test_rule_16_the_password_opens_a_browser_session(house: House) -> None:
    browser = house.client()
    response = await log_in(browser, SECRET)
    assert (response.status_code, response.headers["location"]) == (303, "/s/1")
    assert (await browser.get("/")).json()["principal"]["kind"] == "cookie"


async def test_rule_16_the_login_form_of_another_site_is_refused(house: House) -> None:
    for headers in ({}, {"Origin": EVIL}, {"Origin": FRIEND}, {"Origin": "null"}):
        response = await house.client().post("/login", data={"password": SECRET}, headers=headers)
        assert response.status_code == 403
        assert not response.cookies


async def test_rule_16_wrong_passwords_are_answered_later_and_later() -> None:
    house = House({"OPENCODE_SERVER_PASSWORD": "chosen"})
    waited = waits(house)
    for attempt in range(throttle.LIMIT + 3):
        if attempt % 2:
            assert (await log_in(house.client(), "guess")).status_code == 403
        else:
            wrong = basic("opencode", f"guess {attempt}")
            assert (await house.client().get("/", headers=wrong)).status_code == 401
    assert waited == [1, 2, 3]
    await house.client("192.0.2.1").get("/", headers=BEARER)
    assert waited == [1, 2, 3]
    house.clock.now += throttle.WINDOW
    await house.client().get("/", headers=BEARER)
    assert waited == [1, 2, 3]


async def test_rule_16_the_right_password_opens_after_any_number_of_wrong_ones() -> None:
    house = House({"OPENCODE_SERVER_PASSWORD": "chosen"})
    waited = waits(house)
    for attempt in range(100):
        await house.client().get("/", headers=basic("opencode", f"guess {attempt}"))
    assert max(waited) == throttle.LONGEST
    waited.clear()
    assert (await house.client().get("/", headers=basic("opencode", "chosen"))).status_code == 200
    assert (await house.client().get("/", headers={"Authorization": "Bearer chosen"})).status_code == 200
    assert (await log_in(house.client(), "chosen")).status_code == 303
    assert waited == []


async def test_rule_16_the_generated_secret_cannot_be_guessed_and_is_not_waited_for(house: House) -> None:
    waited = waits(house)
    for attempt in range(throttle.LIMIT * 2):
        await house.client().get("/", headers=basic("opencode", f"guess {attempt}"))
        await log_in(house.client(), "guess")
    assert waited == []


def waits(house: House) -> list[float]:
    """The seconds that answers are held back from now on; they pass at once."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    house.guard._throttle._sleep = sleep
    return waited


async def test_rule_16_the_counts_stay_bounded() -> None:
    door = throttle.Throttle()
    for number in range(throttle.MAX_CLIENTS * 2):
        await door.fail(f"client {number}")
    assert len(door._failures) == throttle.MAX_CLIENTS


async def test_rule_16_a_form_without_end_is_refused(house: House) -> None:
    response = await log_in(house.client(), "x" * 100_000)
    assert response.status_code == 413
