"""The way out of a sandbox: a forward proxy of HTTP (RFC 9110 §9.3.6, RFC 9112 §3.2.2) and of SOCKS (RFC
1928, 1929), both on one port.

Who asks says whose call it is by the user's name in the proxy's address. A name is looked up only once it is
permitted, as looking it up tells it to others already, and the connection goes to the very address that was
looked at. Nothing of this machine itself is reached but what who made it lets through.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from agents.toolkit.base import ToolError
from agents.toolkit.sandbox.streams import Streams, joined
from agents.toolkit.shared.web.fetch import Address, is_public, proxy_for, resolve

NAME = "opencode-web"
"""By which it says that an answer is its own."""
_MOST_DETAILS = 300
HEAD_SECONDS = 60.0
CONNECT_SECONDS = 30.0
_SOCKS = 5
_DONE, _NOT_ALLOWED, _UNREACHABLE, _NO_COMMAND, _NO_ADDRESS = 0, 2, 4, 7, 8
_OF_THE_HOP = frozenset({"connection", "keep-alive", "proxy-authorization", "proxy-connection", "host"})

logger = logging.getLogger(__name__)


class Forbidden(Exception):
    """It may not be reached; the text says why."""


class Unreachable(Exception):
    """It cannot be reached; the text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program wants to. `address` is set where it is one of a private network."""

    host: str
    port: int
    address: str = ""


Permit = Callable[[str, Place], Awaitable[None]]
"""Asked with the name of a call, once for a host and once more where it is in a private network. Raises
Forbidden."""


Serves = Callable[[str, int], Awaitable[bool]]
"""Whether a port of this machine itself may be reached by a name."""


async def _nothing(host: str, port: int) -> bool:
    return False


class Proxy:
    def __init__(self, permit: Permit, serves: Serves = _nothing) -> None:
        self._permit = permit
        self._serves = serves

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                first = await reader.readexactly(1)
            inside = reader, writer
            await (self._socks(inside) if first[0] == _SOCKS else self._http(first, inside))
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, ValueError) as error:
            logger.debug("a connection out of a sandbox broke: %s", error)
        finally:
            writer.close()

    async def _http(self, first: bytes, inside: Streams) -> None:
        reader, writer = inside
        async with asyncio.timeout(HEAD_SECONDS):
            head = first + await reader.readuntil(b"\r\n\r\n")
        line, *fields = head[:-4].decode("latin-1").split("\r\n")
        method, target, version = line.split(" ")
        call = _user(fields)
        try:
            if method == "CONNECT":
                outside = await self._reached(call, *_authority(target))
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                outside = await self._asked(call, method, target, version, fields)
        except Forbidden as error:
            writer.write(_answer("403 Forbidden", f"Refused by the sandbox: {error}\n", str(error)))
        except Unreachable as error:
            writer.write(_answer("502 Bad Gateway", f"{error}\n", str(error)))
        else:
            await joined(inside, outside)

    async def _asked(self, call: str, method: str, target: str, version: str, fields: list[str]) -> Streams:
        """A request without TLS goes on as the server behind wants it, and is the last of its connection."""
        parts = urlsplit(target)
        if parts.scheme != "http" or not parts.hostname:
            raise Unreachable(f"{target[:200]!r} is no address for a proxy")
        outside = await self._reached(call, parts.hostname, parts.port or 80)
        path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        kept = [field for field in fields if field.partition(":")[0].strip().lower() not in _OF_THE_HOP]
        lines = [f"{method} {path} {version}", f"Host: {parts.netloc.rpartition('@')[2]}", *kept]
        outside[1].write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
        return outside

    async def _socks(self, inside: Streams) -> None:
        reader, writer = inside
        async with asyncio.timeout(HEAD_SECONDS):
            methods = await reader.readexactly((await reader.readexactly(1))[0])
            if not {0, 2} & set(methods):
                writer.write(bytes((_SOCKS, 0xFF)))
                return
            named = 2 in methods
            writer.write(bytes((_SOCKS, 2 if named else 0)))
            call = await _named(inside) if named else ""
            _, command, _, kind = await reader.readexactly(4)
            host = await _host(reader, kind)
            port = int.from_bytes(await reader.readexactly(2), "big")
        said = _NO_COMMAND if command != 1 else _NO_ADDRESS if not host else _DONE
        outside: Streams | None = None
        try:
            outside = await self._reached(call, host, port) if said == _DONE else None
        except Forbidden:
            said = _NOT_ALLOWED
        except Unreachable:
            said = _UNREACHABLE
        writer.write(bytes((_SOCKS, said, 0, 1, 0, 0, 0, 0, 0, 0)))
        if outside is not None:
            await joined(inside, outside)

    async def _reached(self, call: str, host: str, port: int) -> Streams:
        """A connection. Raises Forbidden or Unreachable."""
        await self._permit(call, Place(host, port))
        served = await self._serves(host, port)
        parent = "" if served else proxy_for("https" if port != 80 else "http", host)
        addresses = await _looked_up(host, port, needed=not parent)
        for address in addresses:
            if _is_here(address):
                if not served:
                    raise Forbidden(f"{host} is this machine itself")
            elif not is_public(address):
                await self._permit(call, Place(host, port, str(address)))
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                if parent:
                    return await _by_parent(parent, host, port)
                return await _first(addresses, port)
        except (OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError) as error:
            raise Unreachable(f"{host}:{port} cannot be reached: {error}") from error


async def _first(addresses: Sequence[Address], port: int) -> Streams:
    """A connection to the first that answers. Raises OSError."""
    for address in addresses[:-1]:
        with suppress(OSError):
            return await asyncio.open_connection(str(address), port)
    return await asyncio.open_connection(str(addresses[-1]), port)


def _is_here(address: Address) -> bool:
    """Whether it is this machine's own: only of those a socket can be bound to one."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family) as trying, suppress(OSError):
        trying.bind((str(address), 0))
        return True
    return False


async def _looked_up(host: str, port: int, *, needed: bool) -> list[Address]:
    """What a proxy beyond may find where we do not is left to that."""
    try:
        return await resolve(host, port)
    except ToolError as error:
        if needed:
            raise Unreachable(str(error)) from error
        return []


async def _by_parent(parent: str, host: str, port: int) -> Streams:
    """Through the proxy that the environment names."""
    parts = urlsplit(parent)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"the proxy {parts.scheme}://{parts.hostname} is none of HTTP")
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair).decode()}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        status = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1:2]
        if status != [b"200"]:
            raise ConnectionError(f"the proxy answers {b''.join(status).decode('latin-1')}")
    except BaseException:
        writer.close()
        raise
    return reader, writer


def _user(fields: list[str]) -> str:
    for field in fields:
        name, _, value = field.partition(":")
        if name.strip().lower() == "proxy-authorization":
            with suppress(ValueError):
                return base64.b64decode(value.strip().partition(" ")[2]).decode().partition(":")[0]
    return ""


def _authority(target: str) -> tuple[str, int]:
    parts = urlsplit(f"//{target}")
    if not parts.hostname or not parts.port:
        raise Unreachable(f"{target[:200]!r} is no host with a port")
    return parts.hostname, parts.port


async def _named(inside: Streams) -> str:
    """The user's name of RFC 1929."""
    reader, writer = inside
    _, size = await reader.readexactly(2)
    name = await reader.readexactly(size)
    await reader.readexactly((await reader.readexactly(1))[0])
    writer.write(b"\x01\x00")
    return name.decode("utf-8", "replace")


async def _host(reader: asyncio.StreamReader, kind: int) -> str:
    """Empty for a kind of address that is none."""
    if kind == 3:
        return (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii", "replace")
    if kind in (1, 4):
        return str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
    return ""


def _answer(status: str, words: str, why: str) -> bytes:
    """Whose answer it is, and why, is also said in the field of RFC 9209, without what ends a line."""
    body = words.encode("utf-8", "replace")
    details = " ".join(why.encode("ascii", "replace").decode().split())[:_MOST_DETAILS]
    fields = [
        *(f"HTTP/1.1 {status}", "Content-Type: text/plain; charset=utf-8", f"Content-Length: {len(body)}"),
        *(f"Proxy-Status: {NAME}; {details}", "Connection: close"),
    ]
    return "\r\n".join([*fields, "", ""]).encode() + body
