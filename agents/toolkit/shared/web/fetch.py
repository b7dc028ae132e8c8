"""One bounded GET, following redirects hop by hop so that each address is checked before it is asked.

The connection goes to the very address that was checked, so a name that resolves differently a moment later
(DNS rebinding) cannot lead elsewhere. A proxy resolves names itself, perhaps otherwise: what is private as
far as it is known here is asked about all the same.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from agents.llm import tls
from agents.llm.bounded import bound
from agents.toolkit.base import ToolError
from sessions.core.text import error_text

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 5 * 1024 * 1024
MAX_REDIRECTS = 10
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; opencode-web)",
    "Accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.8, text/plain;q=0.7, */*;q=0.1",
    "Accept-Language": "en;q=0.9, *;q=0.5",
}

_RESOLVE_SECONDS = 3.0
"""How long a name may take that a proxy will look up anyway."""
_LOCAL = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa")
"""Ends of names that no public server has (RFC 6761, 6762, 8375, and by custom)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

Permit = Callable[[str, str], Awaitable[None]]
"""Asked with host and address before a private address is connected to; raises when it may not be."""


@dataclass(frozen=True, slots=True)
class Page:
    """`mime` is without parameters and lower case, `charset` empty where the server names none; `url` is
    where the redirects ended."""

    url: str
    mime: str
    charset: str
    body: bytes


async def fetch(url: str, seconds: float, permit: Permit) -> Page:
    """Raises ToolError for anything but a successful answer of at most 5 MB within `seconds`."""
    import httpx  # 70 ms: not before the first page

    try:
        async with asyncio.timeout(None) as limit, AsyncExitStack() as open_clients:
            clients: dict[str, httpx.AsyncClient] = {}
            for _ in range(MAX_REDIRECTS):
                limit.reschedule(None)  # a person may take their time to permit an address
                target = await target_of(url, permit)
                if target.proxy not in clients:
                    clients[target.proxy] = await open_clients.enter_async_context(client_for(target.proxy))
                client = clients[target.proxy]
                limit.reschedule(asyncio.get_running_loop().time() + seconds)
                request = client.build_request(
                    "GET", target.url, headers=target.headers, extensions=target.extensions
                )
                page = await _answer(client, request, url)
                if isinstance(page, Page):
                    return page
                url = page
            raise ToolError(f"More than {MAX_REDIRECTS} redirects.")
    except TimeoutError as error:
        raise ToolError(f"{url} did not answer within {seconds:g} seconds.") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ImportError) as error:
        raise ToolError(f"{url} could not be fetched: {error_text(error)}.") from error


async def _answer(client: httpx.AsyncClient, request: httpx.Request, url: str) -> Page | str:
    """The page, or where it redirects to."""
    response = await client.send(request, stream=True)
    try:
        if response.is_redirect:
            return urljoin(url, response.headers["location"])
        if response.is_error:
            raise ToolError(f"{url} answered {response.status_code} {response.reason_phrase}.")
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
        mime = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Page(url, mime, response.charset_encoding or "", bytes(body))
    finally:
        await response.aclose()


def client_for(proxy: str) -> httpx.AsyncClient:
    """It takes no proxy but this: which one is for an address was decided with the look at that. How long a
    request may take is left to who makes it."""
    import httpx

    transport = httpx.AsyncHTTPTransport(proxy=proxy or None, verify=tls.context())
    client = httpx.AsyncClient(headers=HEADERS, transport=transport, timeout=httpx.Timeout(None))
    bound(client, MAX_BYTES, lambda words: ToolError(f"The server {words}."))
    return client


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: by address where it goes directly, with what keeps its name."""

    url: str
    proxy: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    extensions: Mapping[str, str] = field(default_factory=dict)


async def target_of(url: str, permit: Permit) -> Target:
    """Where a request for a URL goes, once its address may be asked. Raises ToolError, and what `permit`
    raises."""
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host:
        raise ToolError(f"Only http and https addresses can be fetched, not {url!r}.")
    if parts.username or parts.password:
        raise ToolError("An address with a user name or password in it is not fetched.")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if proxy := proxy_for(parts.scheme, host):
        await _permit_proxied(host, port, permit)
        return Target(url, proxy)
    address = (await resolve(host, port))[0]
    if not is_public(address):
        await permit(host, str(address))
    place = f"[{address}]" if address.version == 6 else str(address)
    pinned = place if parts.port is None else f"{place}:{parts.port}"
    return Target(
        urlunsplit(parts._replace(netloc=pinned)),
        headers={"Host": parts.netloc},
        extensions={"sni_hostname": host},
    )


def proxy_for(scheme: str, host: str) -> str:
    """The proxy of the environment or of the system for a host; empty for none."""
    found = getproxies()
    return "" if proxy_bypass(host) else found.get(scheme) or found.get("all", "")


async def _permit_proxied(host: str, port: int, permit: Permit) -> None:
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            found = await resolve(host, port)
    except (ToolError, TimeoutError):
        name = host.rstrip(".").lower()
        if "." not in name or any(name.endswith(f".{end}") for end in _LOCAL):
            await permit(host, host)
        return
    for address in found:
        if not is_public(address):
            await permit(host, str(address))
            return


def is_public(address: Address) -> bool:
    """Whether it is in the internet, also where it stands for one of IPv4 (RFC 4291, 3056, 6052)."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED or address in _COMPATIBLE:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


async def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a name. Raises ToolError."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"The host {host} was not found.") from error
    return [ipaddress.ip_address(str(item[4][0]).partition("%")[0]) for item in found]
