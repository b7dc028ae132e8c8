"""A guarded application small enough to see whether a request got through, and clients for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
from asgiref.testing import ApplicationCommunicator

from opencode_web.site.security.asgi import Receive, Scope, Send, respond
from opencode_web.site.security.guard import Guard
from opencode_web.site.security.policy import policy_for

PORT = 4096
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
SECRET = "the-generated-secret"
BEARER = {"Authorization": f"Bearer {SECRET}"}
EVIL = "https://evil.example"
FRIEND = "http://localhost:3000"


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Inner:
    """What the guard protects: it tells who asked and remembers which requests reached it."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(f"{scope['type']} {scope['path']}")
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            return
        body = {"principal": scope["principal"], "root_path": scope["root_path"], "client": scope["client"]}
        await respond(send, 200, json.dumps(body), headers=[(b"content-language", b"en"), *self.headers])


class House:
    """The guard around the inner application, as the policy of `environ` has it."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, hostname: str = "127.0.0.1", port: int = PORT
    ) -> None:
        self.clock = Clock()
        self.inner = Inner()
        policy = policy_for(hostname, port, SECRET, environ or {}, [FRIEND])
        self.guard = Guard(self.inner, policy, self.clock)
        self.cookie = f"opencode_web_{port}"

    def client(self, address: str = "127.0.0.1", base: str = ORIGIN, **scope: Any) -> httpx.AsyncClient:
        """A client that keeps cookies, as a browser does; closed with the test's loop."""
        transport = httpx.ASGITransport(self.guard, client=(address, 50000), **scope)
        return httpx.AsyncClient(transport=transport, base_url=base)

    async def browser(self) -> httpx.AsyncClient:
        """A client that went through a launch URL."""
        browser = self.client()
        response = await browser.get("/auth/launch", params={"token": self.guard.launch_tokens.issue()})
        assert response.status_code == 303
        return browser

    async def csrf(self, browser: httpx.AsyncClient) -> dict[str, str]:
        """The headers that a page of ours sends with a change."""
        principal = (await browser.get("/")).json()["principal"]
        return {"Origin": ORIGIN, "X-CSRF-Token": principal["csrf"]}

    async def handshake(self, headers: Mapping[str, str], path: str = "/ws") -> str:
        """Open a socket; the type of the answer: `websocket.accept` or `websocket.close`."""
        fields = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": fields, "client": None}
        socket: Any = ApplicationCommunicator(self.guard, scope)  # type: ignore[no-untyped-call]
        await socket.send_input({"type": "websocket.connect"})
        answer: dict[str, Any] = await socket.receive_output(5)
        await socket.wait(5)
        return str(answer["type"])


def cookie_header(house: House, browser: httpx.AsyncClient) -> dict[str, str]:
    return {"Cookie": f"{house.cookie}={browser.cookies[house.cookie]}"}
