"""What went wrong, in words: the rest of a sentence about the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx2
from mcp import types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agents.mcp.errors import Refusal, ServerFailed


class TooNew(ServerFailed):
    """The server knows no `initialize`: it speaks the protocol of 2026 only."""


def explained(error: BaseException) -> ServerFailed | Refusal:
    """The SDK raises groups of groups: of all that is in them, what says most."""
    leaves = list(_leaves(error))
    for leaf in leaves:
        if isinstance(leaf, ServerFailed | Refusal):
            return leaf
        if isinstance(leaf, MCPError) and leaf.code == types.UNSUPPORTED_PROTOCOL_VERSION:
            return TooNew(_words(leaf))
    return ServerFailed(_words(next((leaf for leaf in leaves if not _is_ending(leaf)), error)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _is_ending(error: BaseException) -> bool:
    return isinstance(error, asyncio.CancelledError)


def _words(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, MCPError):
        return f"answered with an error: {text}"
    if isinstance(error, ValidationError):
        return f"answered what MCP does not allow: {error.error_count()} errors in {error.title}"
    if isinstance(error, httpx2.HTTPStatusError):
        return f"answered with {error.response.status_code} {error.response.reason_phrase}"
    if isinstance(error, httpx2.TransportError):
        return f"cannot be reached: {text}"
    return f"{type(error).__name__}: {text}"
