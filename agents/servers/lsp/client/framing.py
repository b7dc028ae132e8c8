"""Messages of a language server as they come over the wire (Language Server Protocol 3.17, base protocol)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable

from agents.servers.lsp.types import Failed
from sessions.core.sentences import Sentence

CONTENT_MODIFIED = -32801
SERVER_CANCELLED = -32802


class Refused(Failed):
    """`code` is JSON-RPC's."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


MAX_MESSAGE = 128 * 1024 * 1024
MAX_STRANGE = 100
"""Lines in a row that belong to no message; a long line counts as many."""
_LONG = 10_000
_SHOWN = 200

_LENGTH = re.compile(rb"content-length:\s*(\d{1,12})\s*$", re.IGNORECASE)
_HEADER = re.compile(rb"[A-Za-z-]+:")


class Garbled(Exception):
    """This is no language server, or none that can be followed any longer; the text says why."""


async def messages(stream: asyncio.StreamReader, note: Callable[[str], None]) -> AsyncIterator[bytes]:
    """The body of each message until the stream ends; `note` is told of what was passed over. Raises
    Garbled."""
    length: int | None = None
    strange = 0
    while line := await _line(stream):
        found = _LENGTH.search(line)
        if found:
            length = int(found[1])
            if length > MAX_MESSAGE:
                raise Garbled(
                    Sentence(
                        "sent a message of %(length)s bytes; %(most)s are taken",
                        length=f"{length:,}",
                        most=f"{MAX_MESSAGE:,}",
                    )
                )
        if not line.strip():
            if length is not None:
                try:
                    yield await stream.readexactly(length)
                except asyncio.IncompleteReadError:
                    return
                length, strange = None, 0
        elif (found and found.start()) or not (found or _HEADER.match(line)):
            note(f"(not a message) {line[:_SHOWN].decode('utf-8', 'replace').rstrip()}")
            strange += 1 + len(line) // _LONG
            if strange >= MAX_STRANGE:
                raise Garbled(Sentence("prints what are no messages of the Language Server Protocol"))


async def _line(stream: asyncio.StreamReader) -> bytes:
    """With its end; empty at the end of the stream."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await stream.read(max(error.consumed, 1))
