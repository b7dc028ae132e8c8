"""As much of HTTP/1.1 as a scripted model server needs (RFC 9112; SSE as in the HTML standard, 9.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"connection: close\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)
STREAM_END = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Header names are lower-cased; `query` is as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""

    @property
    def keep_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request of a connection, or None when the client is done with it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    line, *fields = head.rstrip("\r\n").split("\r\n")
    method, target, _version = line.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    path, _, query = target.partition("?")
    return HttpRequest(method, path, headers, await _read_body(reader, headers), query)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return bytes(body)


def json_response(status: int, value: object, headers: Mapping[str, str] | None = None) -> bytes:
    return response(status, json.dumps(value), headers)


def response(status: int, body: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole response; JSON unless `headers` say otherwise."""
    data = body.encode()
    reason = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Scripted"
    fields = {"content-type": "application/json", **(headers or {}), "content-length": str(len(data))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {reason}\r\n{head}\r\n".encode("latin-1") + data


def sse(data: object, event: str = "") -> bytes:
    """One server-sent event; a string goes out as it stands, all else as JSON."""
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return (f"event: {event}\ndata: {text}\n\n" if event else f"data: {text}\n\n").encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def parse_object(body: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("the body is no JSON object")
    return value
