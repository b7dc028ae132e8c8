"""Servers that send a sign-in where it must not go."""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from agents.servers.mcp.errors import SignInFailed, Unfit, Unreachable
from agents.servers.mcp.oauth import signing, web
from agents.servers.mcp.oauth.web import check, client
from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.agents.servers.mcp.oauth.conftest import ORIGIN, remote, sent_back


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"authorization_endpoint": "javascript:alert(1)"}, "failed"),
        ({"authorization_endpoint": "file:///etc/passwd"}, "failed"),
        ({"authorization_endpoint": "http://login.example/authorize"}, "without encryption"),
        ({"authorization_endpoint": "https://you@login.example/authorize"}, "none of https"),
        ({"registration_endpoint": "http://169.254.169.254/register"}, "without encryption"),
        ({"issuer": "https://login.example"}, "issuer mismatch"),
        ({"token_endpoint": 7}, "failed"),
    ],
)
async def test_metadata_that_is_not_followed(
    authority: Authority,
    protected: Protected,
    files: list[Path],
    changed: dict[str, Any],
    words: str,
) -> None:
    authority.rules.changed = changed
    with pytest.raises(SignInFailed, match=words):
        await signing.begin(remote(protected.address), ORIGIN)
    assert authority.count("/authorize") == 0


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"authorization_servers": ["https://169.254.169.254/"]}, "no address of a web server"),
        ({"authorization_servers": ["http://login.example/"]}, "without encryption"),
        ({"resource": "https://another.example/mcp"}, "does not match"),
    ],
)
async def test_a_server_that_names_another(
    authority: Authority,
    protected: Protected,
    files: list[Path],
    told: dict[str, Any],
    words: str,
) -> None:
    protected.told = told
    with pytest.raises(SignInFailed, match=words):
        await signing.begin(remote(protected.address), ORIGIN)


async def test_a_token_request_is_not_redirected_to_another_origin(
    authority: Authority, protected: Protected, files: list[Path]
) -> None:
    with Authority() as other:
        authority.moved = f"{other.url}/token"
        attempt = await signing.begin(remote(protected.address), ORIGIN)
        signing.hand_over(attempt, (await sent_back(attempt.url))["code"])
        with pytest.raises(SignInFailed, match="not followed"):
            await signing.finish(attempt)
        assert other.seen == []


async def test_a_discovery_that_goes_in_circles_ends(
    authority: Authority, protected: Protected, files: list[Path]
) -> None:
    authority.rules.changed = {"issuer": None, "token_endpoint": None}
    authority.circles = True
    with pytest.raises(SignInFailed):
        await signing.begin(remote(protected.address), ORIGIN)


@pytest.mark.parametrize("cut", [False, True])
async def test_an_answer_that_does_not_come_whole_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, cut: bool
) -> None:
    """Neither one that comes byte by byte, nor one that is cut off."""

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        with suppress(OSError):
            while not cut:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()

    monkeypatch.setattr(web, "SECONDS", 0.5)
    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with client(remote(url)) as http:
            with pytest.raises(Unreachable, match="whole answer"):
                await http.get(url)


async def test_a_server_that_does_not_say_where_to_sign_in_is_told_so(
    authority: Authority, protected: Protected, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing, "_BEGIN_SECONDS", 0)
    with pytest.raises(SignInFailed, match="did not say in time"):
        await signing.begin(remote(protected.address), ORIGIN)


async def test_an_answer_without_an_end_is_not_read(authority: Authority, protected: Protected) -> None:
    authority.rules.changed = {"service_documentation": f"https://{'x' * 2_000_000}"}
    async with client(remote(protected.address)) as asking:
        with pytest.raises(Unreachable, match="more than an answer"):
            await asking.get(f"{authority.url}/.well-known/oauth-authorization-server")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "//host/x",
        "ftp://host/x",
        "http://host.example/x",
        "https://user:password@host.example/",
        "https://[::1",
        "http://127.0.0.1.evil.example/",
    ],
)
def test_addresses_that_nobody_is_sent_to(url: str) -> None:
    with pytest.raises(Unfit):
        check(url, remote("https://one.example/mcp"))


def test_plain_http_where_the_server_is_reached_that_way() -> None:
    check("http://one.example:81/authorize", remote("http://one.example:81/mcp"))
    with pytest.raises(Unfit):
        check("http://one.example:82/authorize", remote("http://one.example:81/mcp"))


@pytest.mark.parametrize(
    ("server", "target", "refused"),
    [
        ("8.8.8.8", "10.0.0.1", True),
        ("8.8.8.8", "127.0.0.1", True),
        ("8.8.8.8", "fd00::1", True),
        ("10.0.0.2", "10.0.0.1", False),
        ("127.0.0.1", "169.254.169.254", True),
        ("127.0.0.1", "fe80::1", True),
        ("127.0.0.1", "0.0.0.0", True),  # noqa: S104 (not bound to)
        ("8.8.8.8", "1.1.1.1", False),
    ],
)
async def test_what_a_name_may_stand_for(
    monkeypatch: pytest.MonkeyPatch, server: str, target: str, refused: bool
) -> None:
    """The names are looked up by us, and the address that was looked at is the one that is asked."""
    asked: list[str] = []

    async def resolved(host: str, _: int) -> list[Any]:
        return [ipaddress.ip_address(server if host == "server.example" else target)]

    async def answer(_: object, request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.url.host} {request.headers['host']} {request.extensions['sni_hostname']}")
        return httpx2.Response(200, request=request)

    monkeypatch.setattr(web, "resolved", resolved)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", answer)
    async with client(remote("https://server.example/mcp")) as asking:
        if refused:
            with pytest.raises(Unfit):
                await asking.get("https://login.example/")
            assert asked == []
        else:
            await asking.get("https://login.example/")
            assert asked == [f"{target} login.example login.example"]


async def test_a_network_of_ones_own_can_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolved(host: str, _: int) -> list[Any]:
        return [ipaddress.ip_address("8.8.8.8" if host == "server.example" else "10.0.0.1")]

    async def answer(_: object, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, request=request)

    monkeypatch.setattr(web, "resolved", resolved)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", answer)
    monkeypatch.setenv("OPENCODE_WEB_PRIVATE_HOSTS", "1")
    async with client(remote("https://server.example/mcp")) as asking:
        assert (await asking.get("https://login.example/")).status_code == 200
