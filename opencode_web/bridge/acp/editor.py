"""The editor at the other end: what it is told and asked, as messages of JSON-RPC on standard output."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any
from weakref import WeakKeyDictionary

from acp.connection import Connection, MethodHandler
from acp.meta import CLIENT_METHODS
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    ClientCapabilities,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    PermissionOption,
    ReadTextFileRequest,
    ReadTextFileResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionInfoUpdate,
    SessionNotification,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
    UserMessageChunk,
)
from acp.utils import serialize_params

from opencode_web.bridge.process import Lines

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
CANCEL = "$/cancel_request"

Update = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
)


class Stdio:
    """A transport of the SDK's: one message a line. A message is written before `send` first waits, so what
    an answer is followed by comes after it."""

    def __init__(self, lines: AsyncIterator[str], writer: asyncio.StreamWriter) -> None:
        self._lines = lines
        self._writer = writer
        self._requests: WeakKeyDictionary[asyncio.Task[Any], int | str] = WeakKeyDictionary()
        """The id of the last request that a task has sent."""

    @classmethod
    async def open(cls) -> Stdio:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout
        )
        return cls(aiter(Lines()), asyncio.StreamWriter(transport, protocol, None, loop))

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end. What is none is answered (JSON-RPC 2.0 §5.1)."""
        async for line in self._lines:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError) as error:
                await self._refuse(PARSE_ERROR, f"This is no JSON: {error}")
                continue
            if isinstance(message, dict):
                return message
            await self._refuse(INVALID_REQUEST, "This is no message of JSON-RPC.")
        return None

    async def send(self, message: dict[str, Any]) -> None:
        task = asyncio.current_task()
        if task is not None and "method" in message and "id" in message:
            self._requests[task] = message["id"]
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def withdraw(self) -> None:
        """Tell the editor that the request this task has sent needs no answer any more."""
        task = asyncio.current_task()
        request = self._requests.pop(task, None) if task else None
        if request is not None:
            await self.send({"jsonrpc": "2.0", "method": CANCEL, "params": {"requestId": request}})

    async def close(self) -> None:
        self._writer.close()

    async def _refuse(self, code: int, words: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}})


class Editor:
    """Its methods raise ConnectionError when the editor has gone, and RequestError for what it refuses."""

    def __init__(self, stdio: Stdio, handler: MethodHandler) -> None:
        self.abilities = ClientCapabilities()
        """What it said it can do."""
        self._stdio = stdio
        self._connection = Connection(handler, stdio, listening=False)

    async def listen(self) -> None:
        """Hand on what it says until it ends; what is under way then is cancelled."""
        try:
            await self._connection.main_loop()
        finally:
            await asyncio.shield(self._connection.close())

    async def update(self, session_id: str, update: Update) -> None:
        told = SessionNotification(session_id=session_id, update=update)
        await self._connection.send_notification(CLIENT_METHODS["session_update"], serialize_params(told))

    async def permission(
        self, session_id: str, call: ToolCallUpdate, options: list[PermissionOption]
    ) -> RequestPermissionResponse:
        """What the person chose. When this is cancelled, the request is withdrawn."""
        asked = RequestPermissionRequest(session_id=session_id, tool_call=call, options=options)
        method = CLIENT_METHODS["session_request_permission"]
        try:
            answer = await self._connection.send_request(method, serialize_params(asked))
        except asyncio.CancelledError:
            await self._stdio.withdraw()
            raise
        return RequestPermissionResponse.model_validate(answer)

    async def text(self, session_id: str, path: str) -> str:
        """A file as the editor has it, with what is not saved yet."""
        asked = ReadTextFileRequest(session_id=session_id, path=path)
        answer = await self._connection.send_request(
            CLIENT_METHODS["fs_read_text_file"], serialize_params(asked)
        )
        return ReadTextFileResponse.model_validate(answer).content
