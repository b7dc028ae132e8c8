"""A connection to one MCP server: one task on the background loop, begun again when the server dies."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from agents.servers.mcp.calls import Call, settle
from agents.servers.mcp.errors import NeedsAuth, Refusal, ServerFailed
from agents.servers.mcp.oauth import store
from agents.servers.mcp.server import CONNECTED, CONNECTING, DISABLED, NOTHING, Offers, Server, State
from agents.toolkit.children.child import Tail
from agents.toolkit.children.loop import background
from sessions.core.ids import now
from sessions.core.sentences import Sentence, joined, sentence_of

if TYPE_CHECKING:
    from mcp import Client, types

logger = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a server is started again: doubled each time, and the first again once it held that long."""
STATE = "state"

Hook = Callable[["Connection", frozenset[str]], object]


Hold = Callable[["Connection"], Awaitable[NoReturn]]
"""One life of a connection: ends only by an error."""


class Connection:
    """Shared by all sessions of a project. Attributes may be read from any thread: they are replaced and
    never changed. What the server offers stays known while it is away: `state` says whether it is there."""

    def __init__(self, server: Server, root: Path, hold: Hold) -> None:
        self.server = server
        self.root = root
        """The worktree of the project."""
        self.state = CONNECTING
        self.since = now()
        """Milliseconds since 1970, of `state`."""
        self.log = Tail()
        """What the server says on stderr and by log messages, and what became of it."""
        self.offers = NOTHING
        self.calls: list[Call] = []
        """In flight, newest last. Only on the background loop."""
        self.changed: list[Hook] = []
        """Called on the background loop with the names of what is new: `state` and fields of Offers."""
        self._hold = hold
        self._client: Client | None = None
        self._gone: asyncio.Future[str] | None = None
        self._settled = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._turns = asyncio.Lock()
        self._closed = False

    @property
    def tools(self) -> tuple[types.Tool, ...]:
        return self.offers.tools

    @property
    def prompts(self) -> tuple[types.Prompt, ...]:
        return self.offers.prompts

    @property
    def resources(self) -> tuple[types.Resource, ...]:
        return self.offers.resources

    @property
    def templates(self) -> tuple[types.ResourceTemplate, ...]:
        return self.offers.templates

    @property
    def instructions(self) -> str:
        return self.offers.instructions

    async def call(
        self, use: Callable[[Client], Awaitable[T]], within: float | None = None, call: Call | None = None
    ) -> T:
        """What `use` gives, which runs on the background loop. From any loop; cancelling it tells the server.

        It waits for a server that is just starting. `within` is in seconds, None for what is configured;
        `call` says who asks, and lets the time begin anew. Raises ServerFailed; the server's own error is its
        `__cause__`.
        """
        return await background.ask(self._call(use, within or self.server.timeout, call or Call()))

    def start(self) -> None:
        """On the background loop. One that was closed stays so."""
        if not self._closed and (self._life is None or self._life.done()):
            self._life = asyncio.create_task(self._live(), name=f"mcp {self.server.name}")

    async def settled(self) -> None:
        """Until the first try has ended, well or not. On the background loop."""
        await self._settled.wait()

    async def restart(self) -> None:
        """Begin anew at once, whatever it was doing. From any loop."""
        await background.ask(self._restart())

    async def close(self) -> None:
        """End the server and what is in flight. From any loop."""
        await background.ask(self._close())

    def connected(self, client: Client, offers: Offers) -> None:
        """For the link: the server is there."""
        self._client = client
        self._gone = asyncio.get_running_loop().create_future()
        self._stand(CONNECTED, offers)

    def relisted(self, offers: Offers) -> None:
        """For the link: the server offers something else."""
        self._stand(self.state, offers)

    def lost(self, reason: str) -> None:
        """For the link: the server is not there any longer; calls in flight end with the reason. It is empty
        for one that was not to be there any longer."""
        self._client = None
        if reason:
            self._stand(State("failed", reason))
        self._let_go(reason)

    def refused(self, refusal: Refusal) -> None:
        """For the link: the server wants a person to do something; calls in flight end with that."""
        self._client = None
        signs_in = isinstance(refusal, NeedsAuth)
        self._stand(State("needs_auth" if signs_in else "needs_client_registration", sentence_of(refusal)))
        self._let_go(self.state.words)

    def _let_go(self, reason: str) -> None:
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(reason)

    async def _call(self, use: Callable[[Client], Awaitable[T]], within: float, call: Call) -> T:
        name = self.server.name
        if self.state is CONNECTING:
            try:
                async with asyncio.timeout(within):
                    await self._settled.wait()
            except TimeoutError:
                raise ServerFailed(
                    Sentence("The MCP server %(name)s is still starting.", name=name)
                ) from None
        if self._client is None or self._gone is None:
            words = Sentence("The MCP server %(name)s is not connected.", name=name)
            raise ServerFailed(joined(filter(None, (words, self.state.words)), " "))
        self.calls.append(call)
        try:
            return await settle(use(self._client), self._gone, within, call)
        except ServerFailed as failure:
            raise ServerFailed(
                Sentence("The MCP server %(name)s %(failure)s", name=name, failure=failure)
            ) from failure.__cause__
        finally:
            self.calls.remove(call)
            call.over.set()

    async def _live(self) -> None:
        pause, current = FIRST_PAUSE, asyncio.current_task()
        assert current is not None
        while True:
            begun = time.monotonic()
            try:
                await self._hold(self)  # what was cancelled may end otherwise at the same moment
            except Refusal as refusal:
                if current.cancelling():
                    return
                self.refused(refusal)
                await store.changed()
                continue
            except ServerFailed as failure:
                self._stand(State("failed", sentence_of(failure)))
            except Exception as error:
                logger.exception("the connection to the MCP server %s ended in an error", self.server.name)
                self._stand(State("failed", f"{type(error).__name__}: {error}"))
            if current.cancelling():
                return
            if time.monotonic() - begun >= LONGEST_PAUSE:
                pause = FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _restart(self) -> None:
        async with self._turns:
            await self._end()
            if not self._closed:
                self._settled.clear()
                self._stand(CONNECTING, NOTHING)
            self.start()

    async def _close(self) -> None:
        self._closed = True
        async with self._turns:
            await self._end()
            self._stand(DISABLED)

    async def _end(self) -> None:
        if self._life is not None:
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)

    def _stand(self, state: State, offers: Offers | None = None) -> None:
        new = frozenset[str]()
        if state != self.state:
            self.state, self.since = state, now()
            new |= {STATE}
            if state.error:
                self.log.say(f"[{state.status}] {state.error.splitlines()[0]}")
        if offers is not None:
            new |= self.offers.differences(offers)
            self.offers = offers
        if state is not CONNECTING:
            self._settled.set()
        for hook in list(self.changed) if new else ():
            hook(self, new)
