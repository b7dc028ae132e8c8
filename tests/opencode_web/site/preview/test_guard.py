"""What the port of a preview lets in, and what comes through: attacked as a browser or a program would."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from aiohttp import web
from asgiref.testing import ApplicationCommunicator

from opencode_web.site.preview.guard import PreviewGuard
from opencode_web.site.preview.holder import Holder
from opencode_web.site.preview.rewriting import SCRIPT
from opencode_web.site.security.cookies import BrowserSession
from opencode_web.site.security.logins import Logins

PORT, PAGES = 5000, 4096
HOST = f"127.0.0.1:{PORT}"
OWN = f"http://{HOST}"
FRAME = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
SAME = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
DOCUMENT = {**FRAME, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
PAGE = "<!doctype html><title>A page</title><script>first()</script>"


class Target:
    """The server that is previewed: tells what it was asked with, and answers with `headers`."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.headers: list[tuple[str, str]] = []
        self.address: tuple[str, int] | None = None

    async def look(self) -> tuple[str, int] | None:
        return self.address

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.reached.append(request.path)
        if request.headers.get("Upgrade"):
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            await socket.send_str(json.dumps(dict(request.headers)))
            await socket.close()
            return socket
        given = request.query.get("type", "text/html")
        body = PAGE if given == "text/html" else json.dumps(dict(request.headers))
        answer = web.Response(text=body, content_type=given)
        for name, value in self.headers:
            answer.headers.add(name, value)
        return answer


class Stage:
    """The guard around a target, and clients for it."""

    def __init__(self, target: Target) -> None:
        self.now = 100.0
        self.target = target
        self.logins = Logins()
        self.guard = PreviewGuard(PORT, PAGES, target.look, self.logins, lambda: self.now)

    def holder(self, login: str = "a login") -> Holder:
        return Holder(BrowserSession(login, "", math.inf, self.logins.generation()), {"kind": "cookie"})

    def client(self, base: str = OWN) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.guard), base_url=base)

    async def frame(self) -> httpx.AsyncClient:
        """A client that came in by a ticket."""
        client = self.client()
        answer = await client.get(self.guard.ticket(self.holder()), headers=FRAME)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        return client

    async def shake(self, headers: dict[str, str]) -> str:
        """Open a socket; the type of the first answer."""
        fields = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "websocket", "path": "/live", "query_string": b"", "headers": fields}
        socket: Any = ApplicationCommunicator(self.guard, scope)  # type: ignore[no-untyped-call]
        await socket.send_input({"type": "websocket.connect"})
        answer: dict[str, Any] = await socket.receive_output(5)
        await socket.wait(5)
        return str(answer["type"])


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    target = Target()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", target.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    target.address = ("127.0.0.1", int(runner.addresses[0][1]))
    stage = Stage(target)
    yield stage
    await stage.guard.close()
    await runner.cleanup()


async def test_nobody_comes_in_without_a_ticket(stage: Stage) -> None:
    client = stage.client()
    assert (await client.get("/")).status_code == 401
    assert (await client.get("/", headers={"Cookie": f"{stage.guard.cookie}=guessed"})).status_code == 401
    assert (await client.get("/.opencode-web-preview/begin?ticket=guessed")).status_code == 403
    assert await stage.shake({"Host": HOST, "Origin": OWN}) == "websocket.close"
    assert stage.target.reached == []


async def test_a_ticket_works_once_for_a_minute(stage: Stage) -> None:
    client = stage.client()
    ticket = stage.guard.ticket(stage.holder())
    answer = await client.get(ticket, headers=FRAME)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"opencode_web_preview_{PORT}=")
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert (await client.get(ticket, headers=FRAME)).status_code == 403
    late = stage.guard.ticket(stage.holder())
    stage.now += 60
    assert (await client.get(late, headers=FRAME)).status_code == 403
    assert (await client.get("/", headers=DOCUMENT)).status_code == 200


async def test_a_preview_ends_with_the_login(stage: Stage) -> None:
    client = await stage.frame()
    assert (await client.get("/", headers=DOCUMENT)).status_code == 200
    await stage.logins.end_by_id("a login")
    assert (await client.get("/", headers=DOCUMENT)).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:4096", "127.0.0.1", ""])
async def test_a_name_that_was_bound_anew_is_refused(stage: Stage, host: str) -> None:
    client = await stage.frame()
    assert (await client.get("/", headers={**DOCUMENT, "Host": host})).status_code == 421
    assert stage.target.reached == []


@pytest.mark.parametrize(
    "headers",
    [
        {**SAME, "Sec-Fetch-Site": "same-site"},
        {**SAME, "Sec-Fetch-Site": "cross-site"},
        {**FRAME, "Sec-Fetch-Dest": "document"},
        {**FRAME, "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:4096"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {**SAME, "Service-Worker": "script"},
        {**SAME, "Sec-Fetch-Dest": "serviceworker"},
    ],
)
async def test_what_others_ask_for_is_refused(stage: Stage, headers: dict[str, str]) -> None:
    client = await stage.frame()
    assert (await client.get("/", headers=headers)).status_code == 403
    assert (await client.post("/", headers=headers)).status_code == 403
    assert stage.target.reached == []


async def test_a_form_of_a_page_without_a_referrer_is_its_own(stage: Stage) -> None:
    client = await stage.frame()
    headers = {**DOCUMENT, "Origin": "null"}
    assert (await client.post("/", headers=headers)).status_code == 200
    assert (await client.post("/", headers={**FRAME, "Origin": OWN})).status_code == 403


async def test_two_headers_that_decide_are_refused(stage: Stage) -> None:
    client = await stage.frame()
    headers = [("Host", HOST), ("Host", "evil.example"), *DOCUMENT.items()]
    assert (await client.get("/", headers=headers)).status_code == 400


async def test_sockets_are_of_its_own_pages_alone(stage: Stage) -> None:
    client = await stage.frame()
    cookie = {"Host": HOST, "Cookie": f"{stage.guard.cookie}={client.cookies[stage.guard.cookie]}"}
    for origin in ("http://127.0.0.1:4096", "http://localhost:5000", "null", ""):
        assert await stage.shake({**cookie, "Origin": origin}) == "websocket.close"
    assert await stage.shake(cookie) == "websocket.close"
    assert stage.target.reached == []
    assert await stage.shake({**cookie, "Origin": OWN}) == "websocket.accept"


async def test_our_cookies_reach_nobody(stage: Stage) -> None:
    client = await stage.frame()
    cookies = f"opencode_web_4096=secret; theirs=1; {stage.guard.cookie}={client.cookies[stage.guard.cookie]}"
    answer = await client.get(
        "/?type=application/json", headers={**SAME, "Cookie": f"{cookies}; language=de"}
    )
    assert answer.json()["Cookie"] == "theirs=1"


async def test_the_server_finds_requests_of_its_own_origin(stage: Stage) -> None:
    client = await stage.frame()
    headers = {**SAME, "Origin": OWN, "Referer": f"{OWN}/a?b", "X-Forwarded-For": "8.8.8.8"}
    seen = (await client.get("/?type=application/json", headers=headers)).json()
    assert stage.target.address
    theirs = f"http://localhost:{stage.target.address[1]}"
    assert (seen["Origin"], seen["Referer"]) == (theirs, f"{theirs}/a?b")
    assert f"http://{seen['Host']}" == theirs
    assert "X-Forwarded-For" not in seen


async def test_nothing_that_is_about_the_host_comes_back(stage: Stage) -> None:
    client = await stage.frame()
    stage.target.headers = [
        ("Clear-Site-Data", '"*"'),
        ("Service-Worker-Allowed", "/"),
        ("X-Frame-Options", "DENY"),
        ("Strict-Transport-Security", "max-age=1"),
        ("Access-Control-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        ("Set-Cookie", "opencode_web_4096=evil; Path=/p"),
        ("Set-Cookie", "language=xx"),
        ("Set-Cookie", "theirs=1; Domain=127.0.0.1; HttpOnly"),
        ("Content-Security-Policy", "frame-ancestors 'none'; script-src 'none'; img-src *"),
    ]
    answer = await client.get("/", headers=DOCUMENT)
    names = {"clear-site-data", "service-worker-allowed", "x-frame-options", "strict-transport-security"}
    assert not {*names, "access-control-allow-origin"} & answer.headers.keys()
    assert answer.headers.get_list("set-cookie") == ["theirs=1; HttpOnly"]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    theirs, ours = answer.headers.get_list("content-security-policy")
    assert theirs.startswith("script-src 'nonce-")
    assert theirs.endswith("; img-src *")
    assert (
        ours
        == "sandbox allow-scripts allow-forms allow-same-origin; frame-ancestors 'self' http://127.0.0.1:4096"
    )


async def test_a_document_begins_with_our_script_and_is_not_kept(stage: Stage) -> None:
    client = await stage.frame()
    stage.target.headers = [("ETag", '"old"')]
    answer = await client.get("/", headers={**DOCUMENT, "If-None-Match": '"old"'})
    begin, _, rest = answer.text.partition("></script>")
    assert begin.startswith("<!doctype html><script nonce=")
    assert begin.endswith(f'src="{SCRIPT}"')
    assert rest == "<title>A page</title><script>first()</script>"
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers
    script = await client.get(SCRIPT, headers={**SAME, "Sec-Fetch-Dest": "script"})
    assert '"http://127.0.0.1:4096"' in script.text
    assert "@around" not in script.text
    fragment = await client.get("/", headers=SAME)
    assert fragment.text == PAGE


async def test_redirects_stay_in_the_preview(stage: Stage) -> None:
    client = await stage.frame()
    assert stage.target.address
    for given, expected in {
        f"http://localhost:{stage.target.address[1]}/a?b#c": f"{OWN}/a?b#c",
        "/a": "/a",
        "https://example.com/": "https://example.com/",
        f"http://127.0.0.1:{PAGES}/": f"http://127.0.0.1:{PAGES}/",
    }.items():
        stage.target.headers = [("Location", given)]
        assert (await client.get("/", headers=DOCUMENT)).headers["location"] == expected


async def test_who_has_the_port_now_is_not_reached(stage: Stage) -> None:
    client = await stage.frame()
    stage.target.address = None
    answer = await client.get("/", headers=DOCUMENT)
    assert answer.status_code == 502
    assert "frame-ancestors 'self' http://127.0.0.1:4096" in answer.headers["content-security-policy"]
    assert stage.target.reached == []
