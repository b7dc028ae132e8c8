"""JSON-RPC by pygls, with plain JSON in place of its types (docs/decisions/0016).

Loading this takes 0.3 s and 30 MB: `agents.servers.lsp.client.link` does when the first server is started."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import uuid
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from cattrs import Converter
from lsprotocol.types import ResponseError, ResponseErrorMessage
from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pygls.protocol import JsonRPCProtocol
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from agents.servers.lsp.client.framing import Refused, messages
from agents.servers.lsp.types import Failed

Handler = Callable[[Any], Any]

BIG = 1024 * 1024
"""A message of more bytes is read beside the loop."""
MAX_UNSENT = 64 * 1024 * 1024
"""Bytes that a server may leave unread before it is given up."""
_VERSION = JsonRPCProtocol.VERSION
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

# What a server does wrong stands in its own log (`note`), not in ours.
logging.getLogger("pygls").setLevel(logging.CRITICAL)


class _Protocol(JsonRPCProtocol):
    handlers: Mapping[str, Handler] = MappingProxyType({})

    def _get_handler(self, feature_name: str) -> Handler:
        if feature_name in self.handlers:
            return self.handlers[feature_name]
        raise JsonRpcMethodNotFound.of(feature_name)

    def _serialize_message(self, data: Any) -> dict[str, Any]:
        message = dict(super()._serialize_message(data))
        if message.get("params", "") is None:  # null is not an object or a list: some servers refuse it
            del message["params"]
        return message

    def forget(self, number: str) -> None:
        self._request_futures.pop(number, None)
        self._result_types.pop(number, None)

    def fail(self, error: Exception) -> None:
        """End all requests that wait."""
        for future in list(self._request_futures.values()):
            if not future.done():
                future.set_exception(error)


class Peer(JsonRPCClient):
    """The server as one that is asked and told, and that asks and tells: `handlers` has a function for each
    method that it may use, called with the parameters. `note` takes words on what it does wrong."""

    def __init__(self, input: asyncio.StreamWriter, note: Callable[[str], None]) -> None:
        super().__init__(_Protocol, Converter)
        self._rpc: _Protocol = self.protocol  # type: ignore[assignment]
        self._rpc.set_writer(input)
        self._input = input
        self._note = note
        self._reason: str | None = None

    async def listen(self, output: asyncio.StreamReader, handlers: Mapping[str, Handler]) -> None:
        """Until the server's output ends. Raises Garbled."""
        self._rpc.handlers = handlers
        async for body in messages(output, self._note):
            try:
                self.protocol.handle_message(_message(await _load(body)))
            except (ValueError, TypeError, RecursionError) as error:
                self._note(f"(a message that cannot be understood: {str(error)[:200]})")

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        self._note(f"({type(error).__name__}: {str(error)[:200]})")

    async def request(self, method: str, params: Any) -> Any:
        """What it answers, as plain JSON. Raises Refused, Failed. One that is cancelled, the server is told
        of."""
        if self._reason is not None:
            raise Failed(self._reason)
        number = str(uuid.uuid4())
        try:
            return await self.protocol.send_request_async(method, params, msg_id=number)
        except asyncio.CancelledError:
            self.notify("$/cancelRequest", {"id": number})
            raise
        except JsonRpcException as error:
            raise Refused(error.message[:2000], error.code) from error
        finally:
            self._rpc.forget(number)

    def notify(self, method: str, params: Any = None) -> str:
        """Why the server cannot be told any more; empty when it can."""
        if self._reason is None:
            self.protocol.notify(method, params)
            if self._input.transport.get_write_buffer_size() > MAX_UNSENT:
                return "it does not read what it is sent"
        return self._reason or ""

    def close(self, reason: str) -> None:
        """Nothing is sent from here on; all requests that wait fail with the reason."""
        self._reason = reason
        self._rpc.fail(Failed(reason))


async def _load(body: bytes) -> Any:
    if len(body) < BIG:
        return _parsed(body)
    # Without a function in Python the parser would hold the interpreter's lock to the end.
    return await asyncio.to_thread(_parsed, body, object_hook=lambda found: found)


def _parsed(body: bytes, **more: Any) -> Any:
    """Lone surrogates, which JSON can name and no encoder takes, are replaced."""
    data = json.loads(body, **more)
    if _SURROGATE.search(body) is None:
        return data
    return json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"), **more)


def _message(data: Any) -> Any:
    """As one of pygls' messages. Raises ValueError, TypeError."""
    if not isinstance(data, dict):
        raise TypeError("not an object")
    if "method" in data:
        method, params = str(data["method"]), data.get("params")
        if "id" not in data:
            return JsonRPCNotification(method=method, jsonrpc=_VERSION, params=params)
        return JsonRPCRequestMessage(id=data["id"], method=method, jsonrpc=_VERSION, params=params)
    if "id" not in data:
        raise ValueError("neither a method nor an id")
    if isinstance(data.get("error"), dict):
        error = data["error"]
        failure = ResponseError(
            code=int(error.get("code", -32603)), message=str(error.get("message")), data=error.get("data")
        )
        return ResponseErrorMessage(id=data["id"], error=failure)
    return JsonRPCResponseMessage(id=data["id"], jsonrpc=_VERSION, result=data.get("result"))
