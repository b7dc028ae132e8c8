"""A language server's process and the wire to it, from the start to the end of both."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agents.servers.lsp.client.framing import CONTENT_MODIFIED, SERVER_CANCELLED, Garbled, Refused
from agents.servers.lsp.types import Failed
from agents.toolkit.children.child import CannotStart, Child
from sessions.core.sentences import Sentence, joined, sentence_of
from sessions.core.text import error_text

if TYPE_CHECKING:
    from agents.servers.lsp.client.jsonrpc import Handler, Peer

logger = logging.getLogger(__name__)

T = TypeVar("T")

END_SECONDS = 0.5
_AGAIN_SECONDS = 0.05
_EXIT_SECONDS = 2.0
_LAST_WORDS_SECONDS = 0.4
_STREAM_LIMIT = 1024 * 1024


class Link:
    """`ended` has functions that are called once, with the reason, when it is over."""

    def __init__(self, child: Child, peer: Peer) -> None:
        self.child = child
        self.log = child.errors
        self.ended: list[Callable[[str], object]] = []
        self.reason = ""
        self.closing = False
        """It was told to end: what it takes back meanwhile is no news."""
        self._peer = peer
        self._over = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, argv: Sequence[str], root: Path, env: Mapping[str, str]) -> Link:
        """Raises Failed."""
        peer = await asyncio.to_thread(_peer)
        try:
            child = await Child.start(argv, cwd=root, env=env, limit=_STREAM_LIMIT)
        except CannotStart as error:
            raise Failed(sentence_of(error)) from error
        return cls(child, peer(child.input, child.errors.say))

    def listen(self, handlers: Mapping[str, Handler]) -> None:
        """From here on what the server asks and tells goes to these functions, by method."""
        self._listening = asyncio.create_task(self._listen(handlers))

    @property
    def alive(self) -> bool:
        return not self.reason

    async def request(self, method: str, params: Any, within: float) -> Any:
        """Its answer, as plain JSON; asked again when it says that what it looked at has changed meanwhile.
        Raises Failed, Refused."""
        try:
            async with asyncio.timeout(within):
                while True:
                    try:
                        return await self._peer.request(method, params)
                    except Refused as error:
                        if error.code not in (CONTENT_MODIFIED, SERVER_CANCELLED):
                            raise
                    await asyncio.sleep(_AGAIN_SECONDS)
        except TimeoutError:
            raise Failed(
                Sentence("no answer to %(method)s within %(seconds)s s", method=method, seconds=f"{within:g}")
            ) from None

    def notify(self, method: str, params: Any = None) -> None:
        """Nothing happens once it is over."""
        if self.alive and (fault := self._peer.notify(method, params)):
            self.end(fault)

    async def while_alive(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives. Raises Failed when the server is gone first."""
        task, over = asyncio.create_task(work), asyncio.create_task(self._over.wait())
        try:
            await asyncio.wait((task, over), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise Failed(self.reason)
        finally:
            task.cancel()
            over.cancel()

    def end(self, reason: str) -> asyncio.Task[None]:
        """End it at once; the first reason is the one that is told."""
        if self._ending is None:
            self.reason = reason
            self.log.say(f"[ended] {reason}")
            self._peer.close(reason)
            self._over.set()
            self._ending = asyncio.create_task(self._end())
            for function in self.ended:
                function(reason)
        return self._ending

    async def close(self, reason: str) -> None:
        """End it as the protocol wants it: by `shutdown` and `exit`."""
        self.closing = True
        if self.alive:
            with suppress(Failed):
                await self.request("shutdown", None, END_SECONDS)
            self.notify("exit")
        await self.end(reason)

    async def _listen(self, handlers: Mapping[str, Handler]) -> None:
        try:
            await self._peer.listen(self.child.output, handlers)
            reason = await self._how()
        except Garbled as error:
            reason = Sentence("it %(reason)s", reason=error)
        except Exception as error:
            logger.exception("a language server cannot be listened to")
            reason = Sentence("it cannot be listened to: %(error)s", error=error_text(error))
        self.end(reason)

    async def _how(self) -> str:
        """Of a server whose output has ended."""
        try:
            async with asyncio.timeout(_EXIT_SECONDS):
                reason = await self.child.wait()
        except TimeoutError:
            return Sentence("it closed its output")
        await self.child.silent(_LAST_WORDS_SECONDS)
        said = self.log.last(3)
        words = Sentence("it %(reason)s", reason=reason)
        return joined((words, said), ": ") if said else words

    async def _end(self) -> None:
        await self.child.end(END_SECONDS)
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})


def _peer() -> type[Peer]:
    """Loaded with the first server: pygls takes half a second."""
    from agents.servers.lsp.client.jsonrpc import Peer

    return Peer
