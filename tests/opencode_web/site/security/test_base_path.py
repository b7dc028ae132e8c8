"""The guard of a server below a path of its host."""

from __future__ import annotations

import pytest

from opencode_web.base_path import VARIABLE
from opencode_web.site.security import launch
from tests.opencode_web.site.security.harness import BEARER, HOST, ORIGIN, House

PAGE = {"Accept": "text/html"}


@pytest.fixture
def house() -> House:
    return House({VARIABLE: "/agent"})


@pytest.mark.parametrize(
    "path", ["/", "/agents", "/agentx/s", "/agen", "/s/1", "/login", "/static/icon.svg", "/agent"]
)
async def test_what_is_not_below_it_reaches_nobody(house: House, path: str) -> None:
    answer = await house.client().get(path, headers=BEARER)
    assert answer.status_code == 404
    assert "below /agent/" in answer.json()["data"]["message"]
    assert await house.handshake({"Host": HOST, **BEARER}, "/ws") == "websocket.close"
    assert house.inner.reached == []


async def test_its_own_address_leads_to_its_first_page(house: House) -> None:
    answer = await house.client().get("/agent", headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/agent/")


async def test_what_is_below_is_reached_by_its_whole_path(house: House) -> None:
    assert (await house.client().get("/agent/agent", headers=BEARER)).status_code == 200
    assert await house.handshake({"Host": HOST, **BEARER}, "/agent/ws") == "websocket.accept"
    assert house.inner.reached == ["http /agent/agent", "websocket /agent/ws"]


async def test_nothing_below_is_open_without_a_login(house: House) -> None:
    assert (await house.client().get("/agent/s/1")).status_code == 401
    page = await house.client().get("/agent/s/1?a=b", headers=PAGE)
    assert page.headers["location"] == "/agent/login?next=/s/1%3Fa%3Db"
    assert (await house.client().get("/agent/static/icon.svg")).status_code == 200


async def test_a_login_goes_on_below_and_its_cookie_is_sent_there_alone(house: House) -> None:
    form = await house.client().get("/agent/login", params={"next": "/s/1"})
    assert 'action="/agent/login"' in form.text
    assert 'name="next" value="/s/1"' in form.text
    address = launch.launch_url("/agent", house.guard.launch_tokens.issue(), "/s/1")
    answer = await house.client().get(address)
    assert answer.headers["location"] == "/agent/s/1"
    assert "; Path=/agent/;" in answer.headers["set-cookie"]
    for elsewhere in ("https://evil.example", "//evil.example"):
        address = launch.launch_url("/agent", house.guard.launch_tokens.issue(), elsewhere)
        assert (await house.client().get(address)).headers["location"] == "/agent/"


async def test_a_new_link_is_below(house: House) -> None:
    answer = await house.client().post("/agent/auth/launch", headers=BEARER)
    assert answer.json()["url"].startswith(f"{ORIGIN}/agent/auth/launch?token=")
