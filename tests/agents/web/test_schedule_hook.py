"""The one address that is posted to without a login: `/hook/<secret>`, and nothing beside it."""

from __future__ import annotations

import pytest

from opencode_web.site.security.asgi import Receive, Scope, Send, respond
from opencode_web.site.security.shared import MOST_CALLED
from opencode_web.site.security.throttle import LIMIT
from tests.opencode_web.site.security.harness import EVIL, House

SECRET = "A" * 43
HOOK = f"/hook/{SECRET}"


@pytest.fixture
def house() -> House:
    return House()


async def test_who_calls_it_is_nobody(house: House) -> None:
    for client in (house.client(), await house.browser()):
        answer = await client.post(HOOK, json={"a": 1}, headers={"Authorization": "Bearer wrong"})
        assert (answer.status_code, answer.json()["principal"]) == (200, None)


@pytest.mark.parametrize(
    "path",
    [
        "/hook/",
        f"/hook/{SECRET[1:]}",
        f"/hook/{SECRET}A",
        f"/hook/{SECRET}/",
        f"/hook/{SECRET}%0a",
        f"/hook/{SECRET}/../../session",
        f"//hook/{SECRET}",
        f"/x/hook/{SECRET}",
        f"/session?/hook/{SECRET}",
    ],
)
async def test_nothing_beside_it_is_open(house: House, path: str) -> None:
    assert (await house.client().post(path)).status_code in (401, 403)
    assert house.inner.reached == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_it_is_only_posted_to(house: House, method: str) -> None:
    assert (await house.client().request(method, HOOK)).status_code in (401, 403)
    assert house.inner.reached == []


async def test_pages_of_other_sites_and_other_hosts_are_refused(house: House) -> None:
    client = house.client()
    for headers in ({"Origin": EVIL}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert (await client.post(HOOK, headers=headers)).status_code == 403, headers
    assert (await client.post(HOOK, headers={"Host": "evil.example"})).status_code == 421
    assert house.inner.reached == []


async def test_a_command_of_the_agent_is_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house.guard, "_own", lambda client, server: True)
    assert (await house.client().post(HOOK)).status_code == 403
    assert house.inner.reached == []


async def test_what_it_is_sent_is_bounded_before_anybody_reads_it(house: House) -> None:
    client = house.client()
    assert (await client.post(HOOK, content=b"x" * MOST_CALLED)).status_code == 200
    assert (await client.post(HOOK, content=b"x" * (MOST_CALLED + 1))).status_code == 413
    assert house.inner.reached == [f"http {HOOK}"]


async def test_who_guesses_is_answered_late(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        await respond(send, 404 if scope["path"] != HOOK else 202, "")

    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(house.guard, "_application", nothing)
    monkeypatch.setattr(house.guard._wrong_shares, "_sleep", sleep)
    client = house.client()
    for index in range(LIMIT + 2):
        assert (await client.post(f"/hook/{index:043}")).status_code == 404
    assert waited == [1, 2]
    assert (await client.post(HOOK)).status_code == 202
