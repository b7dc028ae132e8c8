"""What is asked of a server that listens while the rest of it is loaded."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from opencode_web.site import loading as loading_module
from opencode_web.site.loading import Loading
from opencode_web.site.security.asgi import Application, Headers, respond
from sessions.core.wire.version import VERSION


async def pages(scope: Any, receive: Any, send: Any) -> None:
    await respond(send, 201, "a page")


PAGE = [(b"accept", b"text/html,application/xhtml+xml")]
PIECE = [(b"accept", b"text/html, */*"), (b"hx-request", b"true")]


def request(method: str, path: str, headers: Headers | None = None) -> dict[str, Any]:
    """For a page, where no headers are given."""
    return {"type": "http", "method": method, "path": path, "headers": PAGE if headers is None else headers}


async def ask(
    application: Application, method: str, path: str, headers: Headers | None = None
) -> tuple[int, bytes]:
    asked: Any = ApplicationCommunicator(  # type: ignore[no-untyped-call]
        application, request(method, path, headers)
    )
    status = (await asked.receive_output(timeout=30))["status"]
    return status, (await asked.receive_output())["body"]


def loading_of(application: Application) -> Loading:
    async def make() -> Application:
        return application

    return Loading(make, "")


@pytest.mark.parametrize("base", ["", "/agent"])
async def test_its_health_is_told_then_pages_come_then_the_rest(base: str) -> None:
    making, go_on = asyncio.Event(), asyncio.Event()

    async def make() -> Application:
        making.set()
        await go_on.wait()
        return pages

    def asked(method: str, path: str, headers: Headers) -> asyncio.Task[tuple[int, bytes]]:
        return asyncio.create_task(ask(loading, method, f"{base}{path}", headers))

    loading = Loading(make, base)
    work = asyncio.create_task(loading.load())
    early = [asked("GET", "/", PAGE), asked("GET", "/static/base.css", []), asked("HEAD", "/favicon.ico", [])]
    rest = [
        asked("GET", "/session", []),
        asked("GET", "/models", PIECE),
        asked("POST", "/", PAGE),
        asked("POST", "/global/health", []),
    ]
    await making.wait()
    status, body = await ask(loading, "GET", f"{base}/global/health")
    assert (status, b'"healthy": true' in body, VERSION.encode() in body) == (200, True, True)
    assert not any(each.done() for each in (*early, *rest))
    go_on.set()
    await work
    await loading.settle()
    assert await asyncio.gather(*early) == [(201, b"a page")] * 3
    assert (await ask(loading, "GET", f"{base}/global/health"))[0] == 200
    assert not any(each.done() for each in rest)
    loading.begun()
    assert await asyncio.gather(*rest) == [(201, b"a page")] * 4
    assert await ask(loading, "GET", f"{base}/global/health") == (201, b"a page")


async def test_what_goes_wrong_is_told() -> None:
    async def make() -> Application:
        raise ImportError("no such module")

    with pytest.raises(ImportError, match="no such module"):
        await Loading(make, "").load()


async def test_what_is_asked_first_is_answered_before_more_is_loaded() -> None:
    """A stream counts as answered when it has begun."""
    held, streams = asyncio.Event(), asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/streamed":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await streams.wait()
        else:
            await held.wait()
            await pages(scope, receive, send)

    loading = loading_of(application)
    stream: Any = ApplicationCommunicator(loading, request("GET", "/streamed"))  # type: ignore[no-untyped-call]
    page = asyncio.create_task(ask(loading, "GET", "/"))
    await asyncio.sleep(0)
    await loading.load()
    settled = asyncio.create_task(loading.settle())
    assert (await stream.receive_output(timeout=30))["status"] == 200
    assert not settled.done()
    held.set()
    assert await page == (201, b"a page")
    assert await settled
    streams.set()
    await stream.wait()


async def test_nothing_is_waited_for_where_nothing_is_asked() -> None:
    loading = loading_of(pages)
    await loading.load()
    assert not await loading.settle()
    assert await ask(loading, "GET", "/") == (201, b"a page")


async def test_who_asks_again_and_again_does_not_hold_up_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the time is over while the loop is busy with an answer."""
    monkeypatch.setattr(loading_module, "PATIENCE", 0.01)
    over = asyncio.Event()

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        time.sleep(0.003)  # noqa: ASYNC251 (as a page that is made)
        await pages(scope, receive, send)

    asked = [loading_of(busy)]

    async def poll() -> None:
        while not over.is_set():
            await ask(asked[-1], "GET", "/")

    polls = [asyncio.create_task(poll()) for _ in range(3)]
    for _ in range(50):
        asked.append(loading_of(busy))
        first = asyncio.create_task(ask(asked[-1], "GET", "/"))
        await asyncio.sleep(0)
        await asked[-1].load()
        await asyncio.wait_for(asked[-1].settle(), 30)
        await first
    over.set()
    await asyncio.gather(*polls)
