"""Requests to addresses that a server has named: only where they may lead, bounded, and never redirected
away.

A server's metadata may name any address. Refused are plain http (but on this machine, or where the server
itself is reached that way), an address with a user's name in it, and what a name stands for: link-local
addresses, where clouds keep their secrets, always, and addresses of this machine and of private networks,
unless the MCP server is at one itself or OPENCODE_WEB_PRIVATE_HOSTS is set.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from agents.llm import tls
from agents.llm.accounts.endpoints import private_hosts
from agents.llm.accounts.flows.base import USER_AGENT
from agents.servers.mcp.errors import Unfit, Unreachable
from agents.servers.mcp.server import Server
from sessions.core.sentences import Sentence

SECONDS = 20.0
"""For one answer."""
_MOST = 1024 * 1024
_NAMES = ("localhost", "127.0.0.1", "::1")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def client(server: Server) -> httpx2.AsyncClient:
    """For requests about the sign-in at a server. They raise Unfit and Unreachable. No redirect is
    followed."""
    headers = {"user-agent": USER_AGENT, "accept-encoding": "identity"}
    return httpx2.AsyncClient(transport=Guarded(server), headers=headers, timeout=SECONDS)


def origin(url: str) -> tuple[str, str, int]:
    """Raises ValueError for a URL that is none."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def check(url: str, server: Server) -> None:
    """Whether a person or a request may be sent there. Raises Unfit."""
    try:
        scheme, host, _ = place = origin(url)
        named = urlsplit(url).username is not None
    except ValueError as error:
        raise Unfit(Sentence("An address that the server names cannot be read.")) from error
    if scheme not in ("http", "https") or not host or named:
        raise Unfit(Sentence("The server names an address that is none of https://."))
    if scheme == "http" and host not in _NAMES and place != origin(server.url):
        raise Unfit(
            Sentence("The server sends the sign-in to %(host)s without encryption (http).", host=host)
        )


class Guarded(httpx2.AsyncBaseTransport):
    """Checks each request, and connects to the very address that it checked."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._direct = httpx2.AsyncHTTPTransport(verify=tls.context())
        self._proxied: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        check(url, self._server)
        scheme, host, port = origin(url)
        until = asyncio.get_running_loop().time() + SECONDS
        try:
            async with asyncio.timeout_at(until):
                if proxy := _proxy(scheme, host):
                    with suppress(Unreachable):  # what only the proxy can look up
                        await self._addresses(host, port)
                    response = await self._through(proxy).handle_async_request(request)
                else:
                    response = await self._connected(request, await self._addresses(host, port))
        except (httpx2.TransportError, TimeoutError) as error:
            raise Unreachable(Sentence("%(host)s could not be reached.", host=host)) from error
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unreachable(
                Sentence("%(host)s sent a compressed answer that was not asked for.", host=host)
            )
        response.stream = _Bounded(response.stream, host, until)
        return response

    async def aclose(self) -> None:
        for transport in (self._direct, *self._proxied.values()):
            await transport.aclose()

    def _through(self, proxy: str) -> httpx2.AsyncHTTPTransport:
        """The names are the proxy's to look up, and its rules hold."""
        if proxy not in self._proxied:
            self._proxied[proxy] = httpx2.AsyncHTTPTransport(proxy=proxy, verify=tls.context())
        return self._proxied[proxy]

    async def _connected(self, request: httpx2.Request, addresses: list[Address]) -> httpx2.Response:
        """The answer of the first address where somebody listens."""
        for address in addresses[:-1]:
            with suppress(httpx2.ConnectError):
                return await self._direct.handle_async_request(_pinned(request, address))
        return await self._direct.handle_async_request(_pinned(request, addresses[-1]))

    async def _addresses(self, host: str, port: int) -> list[Address]:
        """Those of a name, each fit. Raises Unfit."""
        found = await resolved(host, port)
        _, own, own_port = origin(self._server.url)
        if host == own:
            return found
        if any(place.is_link_local or place.is_multicast or place.is_unspecified for place in found):
            raise Unfit(
                Sentence(
                    "The server sends the sign-in to %(host)s, which is no address of a web server.",
                    host=host,
                )
            )
        if not (_public(found) or private_hosts()) and await _is_public(own, own_port):
            raise Unfit(
                Sentence(
                    "The server sends the sign-in to %(host)s, at an address of this machine or of "
                    "a private network. Set OPENCODE_WEB_PRIVATE_HOSTS=1 to allow that.",
                    host=host,
                )
            )
        return found


async def resolved(host: str, port: int) -> list[Address]:
    """The addresses of a name. Raises Unreachable."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(Sentence("The host %(host)s was not found.", host=host)) from error
    addresses = [ipaddress.ip_address(str(item[4][0]).partition("%")[0]) for item in found]
    return [getattr(address, "ipv4_mapped", None) or address for address in addresses]


async def _is_public(host: str, port: int) -> bool:
    """Also for a name that is not known here: it is a proxy's to look up."""
    try:
        return _public(await resolved(host, port))
    except Unreachable:
        return True


def _public(addresses: list[Address]) -> bool:
    return all(address.is_global for address in addresses)


def _pinned(request: httpx2.Request, address: Address) -> httpx2.Request:
    """The same to an address that was looked at: a name may stand for another the next time."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=str(address)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


def _proxy(scheme: str, host: str) -> str:
    return "" if host in _NAMES or proxy_bypass(host) else getproxies().get(scheme, "")


class _Bounded(httpx2.AsyncByteStream):
    """A body of at most `_MOST` bytes that has come by `until`, in the time of the event loop."""

    def __init__(self, stream: Any, host: str, until: float) -> None:
        self._stream = stream
        self._host = host
        self._until = until

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        chunks = aiter(self._stream)
        while True:
            try:
                async with asyncio.timeout_at(self._until):
                    chunk = await anext(chunks, None)
            except (httpx2.TransportError, TimeoutError) as error:
                raise Unreachable(
                    Sentence("%(host)s did not send its whole answer.", host=self._host)
                ) from error
            if chunk is None:
                return
            size += len(chunk)
            if size > _MOST:
                raise Unreachable(Sentence("%(host)s sent more than an answer can be.", host=self._host))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
