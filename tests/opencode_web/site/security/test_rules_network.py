"""The rules of docs/security.md about where requests come from and what goes out (3-5, 7, 8, 10, 17)."""

from __future__ import annotations

import pytest

from opencode_web.site.security import vouching
from opencode_web.site.security.origins import cors_origins
from opencode_web.site.security.vouching import vouch
from tests.opencode_web.site.security.harness import BEARER, EVIL, FRIEND, HOST, ORIGIN, House, cookie_header

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def house() -> House:
    return House()


# Rule 3: Host


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:4096",
        "127.0.0.1",
        "127.0.0.1:4097",
        "localhost.:4096",
        "",
        "127.0.0.1:4096.evil",
    ],
)
async def test_rule_3_other_hosts_are_refused(house: House, host: str) -> None:
    response = await house.client().get("/session", headers={"Host": host, **BEARER})
    assert response.status_code == 421
    assert await house.handshake({"Host": host, **BEARER}) == "websocket.close"
    assert house.inner.reached == []


async def test_rule_3_static_files_and_the_login_are_refused_to_other_hosts_too(house: House) -> None:
    for path in ("/static/app.css", "/login", "/auth/launch"):
        assert (await house.client().get(path, headers={"Host": "evil.example"})).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:4096", "LOCALHOST:4096", "[::1]:4096"])
async def test_rule_3_the_names_of_this_machine_are_served(house: House, host: str) -> None:
    assert (await house.client().get("/", headers={"Host": host, **BEARER})).status_code == 200


async def test_rule_3_listening_everywhere_does_not_widen_the_list() -> None:
    everywhere = House(hostname="0.0.0.0")  # noqa: S104
    for host in ("0.0.0.0:4096", "192.168.0.7:4096"):
        assert (await everywhere.client().get("/", headers={"Host": host, **BEARER})).status_code == 421
    with pytest.raises(ValueError, match="wildcard"):
        House({"OPENCODE_WEB_ALLOWED_HOSTS": "*"})
    named = House({"OPENCODE_WEB_ALLOWED_HOSTS": "box.lan"}, hostname="0.0.0.0")  # noqa: S104
    assert (await named.client().get("/", headers={"Host": "box.lan:4096", **BEARER})).status_code == 200


async def test_rule_3_two_host_headers_are_refused(house: House) -> None:
    headers = [("Host", HOST), ("Host", "evil.example"), ("Authorization", BEARER["Authorization"])]
    assert (await house.client().get("/", headers=headers)).status_code == 400


# Rule 4: Origin

FOREIGN = [
    EVIL,
    "null",
    "http://127.0.0.1:4097",
    "http://localhost",
    "https://127.0.0.1:4096",
    f"{ORIGIN}.evil.example",
]


@pytest.mark.parametrize("origin", FOREIGN)
async def test_rule_4_changes_from_other_origins_are_refused_with_any_credentials(
    house: House, origin: str
) -> None:
    browser = await house.browser()
    token = await house.csrf(browser)
    house.inner.reached.clear()
    for method in UNSAFE:
        by_cookie = await browser.request(method, "/session", headers={**token, "Origin": origin})
        by_key = await house.client().request(method, "/session", headers={"Origin": origin, **BEARER})
        assert (by_cookie.status_code, by_key.status_code) == (403, 403)
    for credentials in (cookie_header(house, browser), BEARER):
        headers = {"Host": HOST, "Origin": origin, **credentials}
        assert await house.handshake(headers) == "websocket.close"
    assert house.inner.reached == []


async def test_rule_4_origin_equal_to_host_is_not_enough(house: House) -> None:
    headers = {"Host": "rebound.example:4096", "Origin": "http://rebound.example:4096", **BEARER}
    assert (await house.client().post("/session", headers=headers)).status_code == 421


async def test_rule_4_without_an_origin_the_cookie_is_not_enough(house: House) -> None:
    browser = await house.browser()
    headers = await house.csrf(browser)
    del headers["Origin"]
    assert (await browser.post("/session", headers=headers)).status_code == 403
    assert await house.handshake({"Host": HOST, **cookie_header(house, browser)}) == "websocket.close"
    accepted = {"Host": HOST, "Origin": ORIGIN, **cookie_header(house, browser)}
    assert await house.handshake(accepted) == "websocket.accept"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_rule_4_fetch_metadata_of_other_sites_is_believed(house: House, site: str) -> None:
    headers = {"Sec-Fetch-Site": site, **BEARER}
    assert (await house.client().post("/session", headers=headers)).status_code == 403
    assert (
        await house.client().get("/session", headers={**headers, "Sec-Fetch-Mode": "no-cors"})
    ).status_code == 403
    navigation = {**headers, "Sec-Fetch-Mode": "navigate"}
    assert (await house.client().get("/session", headers=navigation)).status_code == 200


# Rule 5: CORS


async def test_rule_5_no_cors_headers_for_strangers(house: House) -> None:
    house.inner.headers = [(b"access-control-allow-origin", b"*")]
    for origin in (EVIL, "http://localhost:5173", "null"):
        ask = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        responses = [
            await house.client().get("/session", headers={"Origin": origin, **BEARER}),
            await house.client().options("/session", headers=ask),
        ]
        for response in responses:
            assert not any(name.startswith("access-control-") for name in response.headers)
        assert responses[1].status_code == 401


async def test_rule_5_named_origins_get_exact_cors_but_not_by_our_cookie(house: House) -> None:
    ask = {"Origin": FRIEND, "Access-Control-Request-Method": "POST"}
    preflight = await house.client().options("/session", headers=ask)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == FRIEND
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    assert house.inner.reached == []

    answer = await house.client().post("/session", headers={"Origin": FRIEND, **BEARER})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, FRIEND)
    assert "access-control-allow-credentials" not in answer.headers
    browser = await house.browser()
    headers = {**await house.csrf(browser), "Origin": FRIEND}
    assert (await browser.post("/session", headers=headers)).status_code == 401
    assert (
        await house.handshake({"Host": HOST, "Origin": FRIEND, **cookie_header(house, browser)})
        == "websocket.close"
    )


@pytest.mark.parametrize(
    "origin", ["*", "https://*.example", "localhost:3000", "https://a.example/path", "null"]
)
def test_rule_5_only_exact_origins_can_be_named(origin: str) -> None:
    with pytest.raises(ValueError, match="is no origin"):
        cors_origins([origin])


# Rule 7: headers


@pytest.mark.parametrize("path", ["/", "/login", "/static/app.js", "/missing-login"])
async def test_rule_7_every_response_is_hardened(house: House, path: str) -> None:
    headers = {} if path == "/missing-login" else BEARER
    response = await house.client().get(path, headers=headers)
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == policy["connect-src"] == "'self'"
    assert policy["object-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == ("same-origin" if path == "/login" else "no-referrer")
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert ("cache-control" in response.headers) == (path != "/static/app.js")


async def test_rule_7_an_inner_response_cannot_loosen_what_is_fixed(house: House) -> None:
    house.inner.headers = [(b"X-Content-Type-Options", b"off"), (b"Content-Security-Policy", b"sandbox")]
    response = await house.client().get("/", headers=BEARER)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == "sandbox"
    assert response.headers["content-language"] == "en"


# Rule 8: hostile text


async def test_rule_8_the_login_form_escapes_where_to_go_next(house: House) -> None:
    response = await house.client().get("/login", params={"next": '/"><script>alert(1)</script>'})
    assert "<script" not in response.text


# Rule 10: proxies


async def test_rule_10_forwarded_headers_count_only_from_a_named_proxy() -> None:
    forwarded = {"X-Forwarded-For": "10.0.0.1, 203.0.113.9", "X-Forwarded-Proto": "https"}
    plain = await House().client().get("/", headers={**forwarded, **BEARER})
    assert plain.json()["client"][0] == "127.0.0.1"

    house = House({"OPENCODE_WEB_TRUSTED_PROXY": "127.0.0.1", "OPENCODE_WEB_ALLOWED_HOSTS": "code.example"})
    behind = await house.client().get("/", headers={**forwarded, **BEARER})
    assert behind.json()["client"][0] == "203.0.113.9"
    token = house.guard.launch_tokens.issue()
    launched = await house.client().get(
        "/auth/launch", params={"token": token}, headers={"Host": "code.example", **forwarded}
    )
    assert "Secure" in launched.headers["set-cookie"]


NODE = {"OPENCODE_WEB_NODE": "one", "OPENCODE_WEB_DATABASE": "postgres://there/rows"}
COOKIE = {"kind": "cookie", "session": "abc", "csrf": "00"}


def word(house: House, method: str, path: str, principal: dict[str, str] | None) -> dict[str, str]:
    said = {"principal": principal, "client": "203.0.113.9", "scheme": "https"}
    value = vouch(house.guard._policy.team_key, method, path, said).decode()
    return {vouching.HEADER.decode(): value, "Host": "tools.example"}


async def test_rule_10_a_front_says_who_asks_a_node() -> None:
    node = House(NODE)
    asked = await node.client().post("/n/one/p/1", headers=word(node, "POST", "/n/one/p/1", COOKIE))
    assert asked.json()["principal"] == COOKIE
    assert asked.json()["client"][0] == "203.0.113.9"
    nobody = await node.client().get("/n/one/p/1", headers=word(node, "GET", "/n/one/p/1", None))
    assert nobody.status_code == 401


async def test_rule_10_it_is_believed_of_that_request_and_by_a_node_alone() -> None:
    node, alone = House(NODE), House()
    asked = word(node, "GET", "/n/one/p/1", COOKIE)
    for method, path in (("POST", "/n/one/p/1"), ("GET", "/n/one/p/2")):
        assert (await node.client().request(method, path, headers=asked)).status_code == 403
    for house in (alone, node):
        own = word(house, "GET", "/p/1", COOKIE)
        assert (await alone.client().get("/p/1", headers=own)).status_code == 403
    assert [*alone.inner.reached, *node.inner.reached] == []


# Rule 17: no remote assets


async def test_rule_17_the_login_needs_nothing_from_elsewhere(house: House) -> None:
    page = await house.client().get("/login")
    style = await house.client().get("/login.css")
    assert style.headers["content-type"].startswith("text/css")
    for text in (page.text, style.text):
        assert "//" not in text
