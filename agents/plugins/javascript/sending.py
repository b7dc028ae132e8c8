"""Requests to a provider by the `fetch` of a plugin's loader; the answer streams through the process."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

from agents.plugins.javascript.process import Message
from agents.plugins.javascript.runner import Runner


class Response:
    """An `agents.llm.types.Response`, which is its own `content`; of the loop that made it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._loop = asyncio.get_running_loop()
        self._came: asyncio.Queue[Message | None] = asyncio.Queue()
        self._sending: asyncio.Task[Any] | None = None

    @property
    def content(self) -> Response:
        return self

    async def begin(self, runner: Runner, message: Message) -> None:
        """Until the head of the answer is there. Raises OSError."""
        self._sending = asyncio.create_task(runner.ask("send", message, self._hear))
        self._sending.add_done_callback(lambda _: self._came.put_nowait(None))
        try:
            head = await self._came.get()
            if head is None:
                self._raise("it gave no answer")
            else:
                self.status, self.headers = head["status"], dict(head["headers"])
        except BaseException:
            self.close()
            raise

    async def readany(self) -> bytes:
        """What has come; empty at the end. Raises OSError."""
        piece = await self._came.get()
        if piece is not None:
            return base64.b64decode(piece["data"])
        self._came.put_nowait(None)
        self._raise("")
        return b""

    def close(self) -> None:
        """What is still on its way is told to stop."""
        if self._sending is not None:
            self._sending.cancel()

    async def _hear(self, message: Message) -> None:
        """On the loop of the process."""
        self._loop.call_soon_threadsafe(self._came.put_nowait, message)

    def _raise(self, otherwise: str) -> None:
        """That the sending failed; `otherwise` says what is wrong where it did not, empty for nothing."""
        failed = self._sending is not None and not self._sending.cancelled() and self._sending.exception()
        if failed or otherwise:
            raise ConnectionError(f"the plugin that sends it: {failed or otherwise}")


async def send(
    runner: Runner, place: Message, method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> Response:
    """The answer once its head is there. Raises OSError."""
    response = Response(url)
    text = None if body is None else body.decode()
    sent = {"method": method, "url": url, "headers": dict(headers), "body": text}
    await response.begin(runner, {**place, **sent})
    return response
