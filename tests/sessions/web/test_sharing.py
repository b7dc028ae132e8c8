"""The one exception in the guard: reading `/s/<secret>` without a login, and nothing beside it."""

from __future__ import annotations

import pytest

from opencode_web.site.security.asgi import Receive, Scope, Send, respond
from opencode_web.site.security.throttle import LIMIT
from tests.opencode_web.site.security.harness import EVIL, House

TOKEN = "A" * 43
SHARED = f"/s/{TOKEN}"


@pytest.fixture
def house() -> House:
    return House()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_reading_needs_no_login_and_makes_nobody_of_whoever_asks(house: House, method: str) -> None:
    browser = await house.browser()
    for client in (house.client(), browser):
        answer = await client.request(method, SHARED)
        assert answer.status_code == 200
        if method == "GET":
            assert answer.json()["principal"] is None


@pytest.mark.parametrize(
    "path",
    [
        "/s/",
        f"/s/{TOKEN[1:]}",
        f"/s/{TOKEN}A",
        f"/s/{TOKEN}/",
        f"/s/{TOKEN}%0a",
        f"/s/{TOKEN[1:]}%2f",
        f"/s/{TOKEN}/../../session",
        f"/s/..%2f..%2fsession%3f{TOKEN}",
        f"//s/{TOKEN}",
        f"/S/{TOKEN}",
        f"/x/s/{TOKEN}",
        "/session",
        f"/session?/s/{TOKEN}",
    ],
)
async def test_no_other_path_is_open(house: House, path: str) -> None:
    answer = await house.client().get(path)
    assert answer.status_code == 401
    assert house.inner.reached == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_nothing_but_reading_is_open(house: House, method: str) -> None:
    answer = await house.client().request(method, SHARED)
    assert answer.status_code in (401, 403)
    assert house.inner.reached == []


async def test_a_socket_is_not_open(house: House) -> None:
    client = house.client()
    headers = {"Host": "127.0.0.1:4096", "Origin": str(client.base_url).rstrip("/")}
    assert await house.handshake(headers, path=SHARED) == "websocket.close"


async def test_the_host_is_still_checked(house: House) -> None:
    assert (await house.client().get(SHARED, headers={"Host": "evil.example"})).status_code == 421


async def test_scripts_of_other_sites_are_refused_and_links_are_not(house: House) -> None:
    client = house.client()
    fetch = {"Origin": EVIL, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    assert (await client.get(SHARED, headers=fetch)).status_code == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert (await client.get(SHARED, headers=link)).status_code == 200


async def test_wrong_addresses_are_answered_late_and_the_right_one_at_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        await respond(send, 404 if scope["path"] != SHARED else 200, "")

    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(house.guard, "_application", nothing)
    monkeypatch.setattr(house.guard._wrong_shares, "_sleep", sleep)
    client = house.client()
    for index in range(LIMIT + 2):
        assert (await client.get(f"/s/{index:043}")).status_code == 404
    assert waited == [1, 2]
    assert (await client.get(SHARED)).status_code == 200
    assert waited == [1, 2]
