"""A ticket in the address opens the socket of its terminal, and nothing else (rules 1, 4 and 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from opencode_web.site.security.guard import Guard
from opencode_web.site.security.policy import policy_for
from tests.opencode_web.site.security.harness import BEARER, EVIL, FRIEND, HOST, PORT, SECRET, Inner


class Door:
    """A guard that knows one ticket, of `pty_a`; `asked` are the tickets it was shown."""

    def __init__(self) -> None:
        self.inner = Inner()
        self.asked: list[tuple[str, str]] = []
        policy = policy_for("127.0.0.1", PORT, SECRET, {}, [FRIEND])
        self.guard = Guard(self.inner, policy, redeem=self._redeem)

    def _redeem(self, terminal: str, ticket: str) -> bool:
        self.asked.append((terminal, ticket))
        return (terminal, ticket) == ("pty_a", "good")

    async def knock(
        self, address: str, headers: Mapping[str, str] | None = None, kind: str = "websocket"
    ) -> bool:
        """Whether a request got in."""
        path, _, query = address.partition("?")
        fields = {"host": HOST, **(headers or {})}
        scope = {
            "type": kind,
            "path": path,
            "method": "GET",
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in fields.items()],
            "client": None,
        }
        before = len(self.inner.reached)
        request: Any = ApplicationCommunicator(self.guard, scope)  # type: ignore[no-untyped-call]
        await request.send_input({"type": "websocket.connect" if kind == "websocket" else "http.request"})
        await request.receive_output(5)
        return len(self.inner.reached) > before


@pytest.mark.parametrize("prefix", ["/pty", "/api/pty"])
@pytest.mark.parametrize("origin", [{}, {"Origin": FRIEND}, {"Origin": f"http://{HOST}"}])
async def test_it_opens_its_terminal(prefix: str, origin: dict[str, str]) -> None:
    assert await Door().knock(f"{prefix}/pty_a/connect?cursor=-1&ticket=good", origin)


@pytest.mark.parametrize(
    "address",
    [
        "/pty/pty_b/connect?ticket=good",
        "/pty/pty_a/connect?ticket=bad",
        "/pty/pty_a/connect?ticket=",
        "/pty/pty_a/connect?ticket=bad&ticket=good",
        "/pty/pty_a/connect?" + "x=1&" * 200 + "ticket=good",
        "/pty/pty_a/connect/?ticket=good",
        "/pty/x/pty_a/connect?ticket=good",
        "/pty/pty_a%2Fconnect?ticket=good",
        "/pty/pty_a/connect\n?ticket=good",
        "/ws/p/x/?ticket=good",
        "/?ticket=good",
    ],
)
async def test_it_opens_nothing_else(address: str) -> None:
    assert not await Door().knock(address)


async def test_it_is_no_login() -> None:
    """Nor asked for by another request than the upgrade, nor from an origin that is not named."""
    door = Door()
    assert not await door.knock("/pty/pty_a/connect?ticket=good", kind="http")
    assert not await door.knock("/pty/pty_a?ticket=good", kind="http")
    assert not await door.knock("/pty/pty_a/connect?ticket=good", {"Origin": EVIL})
    assert not await door.knock("/pty/pty_a/connect?ticket=good", {"Host": "evil.example"})
    assert door.asked == []


async def test_a_wrong_one_is_refused_whoever_brings_it() -> None:
    """As OpenCode does; without one, credentials count as ever."""
    door = Door()
    assert not await door.knock("/pty/pty_a/connect?ticket=bad", BEARER)
    assert await door.knock("/pty/pty_a/connect", BEARER)
    assert not await door.knock("/pty/pty_a/connect")
