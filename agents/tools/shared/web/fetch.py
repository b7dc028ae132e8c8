"""One bounded GET, following redirects hop by hop so that each address is checked before it is asked.

The connection goes to the very address that was checked, so a name that resolves differently a moment later
(DNS rebinding) cannot lead elsewhere. Behind a proxy the proxy resolves names, and no address is known here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit
from urllib.request import getproxies

from agents.tools.base import ToolError

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 5 * 1024 * 1024
MAX_REDIRECTS = 10
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; opencode-web)",
    "Accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.8, text/plain;q=0.7, */*;q=0.1",
    "Accept-Language": "en;q=0.9, *;q=0.5",
}

Permit = Callable[[str, str], Awaitable[None]]
"""Asked with host and address before a private address is connected to; raises when it may not be."""


@dataclass(frozen=True, slots=True)
class Page:
    """`mime` is without parameters and lower case; `url` is where the redirects ended."""

    url: str
    mime: str
    charset: str
    body: bytes


async def fetch(url: str, seconds: float, permit: Permit) -> Page:
    """Raises ToolError for anything but a successful answer of at most 5 MB within `seconds`."""
    import httpx  # 70 ms: not before the first page

    try:
        async with asyncio.timeout(None) as limit, httpx.AsyncClient(headers=HEADERS) as client:
            for _ in range(MAX_REDIRECTS):
                limit.reschedule(None)  # a person may take their time to permit an address
                asked, headers, extensions = await _target(url, permit)
                limit.reschedule(asyncio.get_running_loop().time() + seconds)
                request = client.build_request("GET", asked, headers=headers, extensions=extensions)
                page = await _answer(client, request, url)
                if isinstance(page, Page):
                    return page
                url = page
            raise ToolError(f"More than {MAX_REDIRECTS} redirects.")
    except TimeoutError as error:
        raise ToolError(f"{url} did not answer within {seconds:g} seconds.") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise ToolError(f"{url} could not be fetched: {error or type(error).__name__}.") from error


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
            if len(body) > MAX_BYTES:
                raise ToolError(f"{url} is larger than {MAX_BYTES // 1024**2} MB.")
        mime = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Page(url, mime, response.charset_encoding or "utf-8", bytes(body))
    finally:
        await response.aclose()


async def _target(url: str, permit: Permit) -> tuple[str, dict[str, str], dict[str, str]]:
    """The URL to connect to, by address, with the headers and extensions that keep its name."""
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host:
        raise ToolError(f"Only http and https addresses can be fetched, not {url!r}.")
    if parts.username or parts.password:
        raise ToolError("An address with a user name or password in it is not fetched.")
    if parts.scheme in getproxies():
        return url, {}, {}
    address = await _resolve(host, parts.port or (443 if parts.scheme == "https" else 80))
    if not ipaddress.ip_address(address).is_global:
        await permit(host, address)
    place = f"[{address}]" if ":" in address else address
    pinned = place if parts.port is None else f"{place}:{parts.port}"
    return urlunsplit(parts._replace(netloc=pinned)), {"Host": parts.netloc}, {"sni_hostname": host}


async def _resolve(host: str, port: int) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"The host {host} was not found.") from error
    return str(found[0][4][0]).partition("%")[0]
