"""Static files beside Django."""

from __future__ import annotations

import asyncio
from typing import Any

from opencode_web.site.static_files import StaticFiles, version

Answer = list[dict[str, Any]]


def scope(path: str, method: str = "GET", **headers: str) -> dict[str, Any]:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": method, "path": path, "headers": pairs}


async def receive() -> dict[str, Any]:
    raise AssertionError("a static file needs no body")


async def ask(path: str, method: str = "GET", **headers: str) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: Answer = []

    async def send(message: Any) -> None:
        sent.append(message)

    await StaticFiles()(scope(path, method, **headers), receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_a_file_is_answered_and_then_known_by_the_browser() -> None:
    status, headers, body = await ask("/static/css/tokens.css")
    assert (status, headers[b"content-type"][:8]) == (200, b"text/css")
    assert b"--accent" in body
    status, _, body = await ask("/static/css/tokens.css", if_none_match=headers[b"etag"].decode())
    assert (status, body) == (304, b"")
    assert (await ask("/static/css/tokens.css", "HEAD"))[2] == b""


async def test_a_service_worker_is_for_all_pages(settings: Any) -> None:
    settings.BASE_PATH = "/agent"
    for path in ("/static/js/worker.js", f"/static/{version()}/js/worker.js"):
        assert (await ask(path))[1][b"service-worker-allowed"] == b"/agent/"
    assert b"service-worker-allowed" not in (await ask("/static/js/offline.js"))[1]


async def test_what_is_no_file_is_refused() -> None:
    for path in ("/static/missing.css", "/static/../opencode_web/settings.py", "/static/", "/static/css"):
        assert (await ask(path))[0] == 404
    assert (await ask("/static/css/tokens.css", "POST"))[0] == 405


async def test_the_next_request_of_a_connection_may_start_inside_the_answer() -> None:
    """As daphne does on a kept-alive connection: in the context of the last `send`."""
    app = StaticFiles()
    following: list[asyncio.Task[None]] = []
    statuses: list[int] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        elif not following:
            following.append(asyncio.create_task(app(scope("/static/css/base.css"), receive, send)))

    await app(scope("/static/css/tokens.css"), receive, send)
    await following[0]
    assert statuses == [200, 200]


async def test_the_icon_is_also_where_browsers_look_for_one() -> None:
    status, headers, body = await ask("/favicon.ico")
    assert (status, headers[b"content-type"][:6]) == (200, b"image/")
    assert body.startswith(b"\0\0\1\0")
    assert (await ask("/favicon.ico.secret"))[0] == 404
