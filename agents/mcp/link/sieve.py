"""Between the SDK's client and a server: of the lists that it gives, what MCP does not allow is left out.

The SDK takes a page or refuses it as one, also where it lists tools by itself before a call; a server with
one entry that is wrong would be of no use at all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from mcp import types
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import methods
from mcp.types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from agents.children.tail import Tail

_FIELDS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_SHOWN = 200
"""Characters of a name and of what is wrong, in the log."""
_MOST_SAID = 10
"""Of one page."""


@asynccontextmanager
async def sifted(
    streams: AbstractAsyncContextManager[TransportStreams], log: Tail
) -> AsyncIterator[TransportStreams]:
    """The same streams; `log` is told what is left out."""
    async with streams as (read, write):
        sieve = Sieve(log)
        yield _Read(read, sieve), _Write(write, sieve)


class Sieve:
    """Knows which answers are lists."""

    def __init__(self, log: Tail) -> None:
        self._log = log
        self._version = LATEST_MODERN_VERSION
        """Of servers that know nothing older; the others say theirs when they introduce themselves."""
        self._asked: dict[Any, str] = {}
        """The methods that matter, by the request's id."""

    def ask(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method in (*_FIELDS, "initialize"):
            self._asked[message.id] = message.method

    def take(self, message: Any) -> None:
        """Changes the answer in place."""
        method = self._asked.pop(message.id, "") if hasattr(message, "id") else ""
        if not method or not isinstance(message, types.JSONRPCResponse):
            return
        if method == "initialize":
            self._version = str(message.result.get("protocolVersion", self._version))
            return
        field = _FIELDS[method]
        for _ in range(2):  # what the version allows, and then what the SDK reads
            items = message.result.get(field)
            if not isinstance(items, list) or not (wrong := self._wrong(method, message.result)):
                return
            self._say(field, items, wrong)
            message.result[field] = [item for place, item in enumerate(items) if place not in wrong]

    def _wrong(self, method: str, page: dict[str, Any]) -> dict[int, str]:
        """What is wrong with entries, by their place."""
        try:
            methods.parse_server_result(method, self._version, page)
        except ValidationError as error:
            found = [(each["loc"], each["msg"]) for each in error.errors(include_url=False)]
            return {
                where[1]: f"{'.'.join(map(str, where[2:]))}: {words}".removeprefix(": ")
                for where, words in reversed(found)
                if len(where) > 1 and where[0] == _FIELDS[method] and isinstance(where[1], int)
            }
        except (KeyError, ValueError):
            pass  # a version that the SDK refuses
        return {}

    def _say(self, field: str, items: list[Any], wrong: dict[int, str]) -> None:
        for place, words in sorted(wrong.items())[:_MOST_SAID]:
            item = items[place]
            name = str(item.get("name", "")) if isinstance(item, dict) else ""
            what = f"{name[:_SHOWN]!r}" if name else f"number {place + 1}"
            self._log.say(f"[of its {field}, {what} is left out] {words[:_SHOWN]}")
        if len(wrong) > _MOST_SAID:
            self._log.say(f"[of its {field}, {len(wrong) - _MOST_SAID} more are left out]")


class _Stream:
    """The SDK's, but for what passes."""

    def __init__(self, stream: Any, sieve: Sieve) -> None:
        self._stream = stream
        self._sieve = sieve

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


class _Read(_Stream):
    def __aiter__(self) -> _Read:
        return self

    async def __anext__(self) -> Any:
        return self._passed(await self._stream.__anext__())

    async def receive(self) -> Any:
        return self._passed(await self._stream.receive())

    def _passed(self, item: Any) -> Any:
        if isinstance(item, SessionMessage):
            self._sieve.take(item.message)
        return item


class _Write(_Stream):
    async def send(self, item: SessionMessage) -> None:
        self._sieve.ask(item.message)
        await self._stream.send(item)
