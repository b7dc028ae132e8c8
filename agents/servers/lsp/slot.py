"""One language server in one root, whether it runs or not. To be used on the loop of the servers."""

from __future__ import annotations

import asyncio
import logging
import shlex
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from agents.servers.lsp.client.client import Client
from agents.servers.lsp.finding import Found
from agents.servers.lsp.plan import Use
from agents.servers.lsp.trusted import Held
from agents.servers.lsp.types import Failed, ServerState, Status
from agents.toolkit.sandbox.servers import CannotConfine, confined
from agents.toolkit.shared.environment import program_environment
from sessions.core.sentences import Sentence, sentence_of

logger = logging.getLogger(__name__)

CRASHES = 3
CRASH_SECONDS = 600.0
"""So many ends within this time, and a server is not started again by itself."""
LINES = 40
"""Of its log, that are shown."""


class Slot:
    """`use` is how it was asked for last, `folders` are where; `used` is a time of `time.monotonic`.
    `changed` is called when its state is another."""

    def __init__(self, use: Use, changed: Callable[[Slot], None]) -> None:
        self.use = use
        self.folders: set[Path] = set()
        self.client: Client | None = None
        self.used = time.monotonic()
        self.status: Status = "idle"
        self.reason = ""
        self._changed = changed
        self._starting: asyncio.Task[Client | None] | None = None
        self.in_use = 0
        """How many are at work with it: its process is not ended for another one."""
        self.timer: asyncio.TimerHandle | None = None
        self._ends: deque[float] = deque(maxlen=CRASHES)
        self._log: Sequence[str] = ()
        self._sent: dict[Path, int] = {}

    @property
    def spare(self) -> bool:
        """Whether its process may be ended for another one."""
        return self.client is not None and not self.in_use

    def state(self) -> ServerState:
        """It may be called from any thread."""
        client, row = self.client, self.use.row
        log = (
            client.log.lines()[-LINES:] if client else ()
        ) or self._log  # of the last, until it says something
        reason = (client.working() if client else "") or self.reason
        memory = client.memory() if client else None
        return ServerState(row.id, row.language, self.use.root, self.status, reason, memory, log)

    def is_newer(self, path: Path, ticket: int) -> bool:
        """Whether nothing of a later ticket was sent of a file; then this one is noted."""
        if self._sent.get(path, -1) > ticket:
            return False
        self._sent[path] = ticket
        return True

    async def ready(self, begin: Callable[[Slot, Found], Awaitable[Client]]) -> Client | None:
        """The client, started if it does not run; starts are never doubled, and go on when this is cancelled.

        None when it cannot or may not run: the state says why.
        """
        if self.client is not None:
            return self.client
        outcome = self.use.outcome
        if not isinstance(outcome, Found):
            self._set("held" if isinstance(outcome, Held) else "missing", outcome.reason)
            return None
        if self.status == "error":
            return None
        starting = self._starting or asyncio.create_task(self._start(outcome, begin))
        self._starting = starting
        await asyncio.wait({starting})
        return None if starting.cancelled() else starting.result()

    async def end(self, status: Status, reason: str) -> None:
        """End its process, if it has one. Nothing is left of a start that was under way."""
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
        client, self.client = self.client, None
        self._set(status, reason)
        if client is not None:
            self._keep(client)
            await client.end(reason)

    async def look_again(self, use: Use) -> None:
        """Take in that what it waited for may be there by now."""
        self.use = use
        if isinstance(use.outcome, Found) and self.status in ("missing", "held"):
            self._set("idle", "")

    def forgive(self) -> None:
        """Ends of before count no longer."""
        self._ends.clear()

    async def _start(self, found: Found, begin: Callable[[Slot, Found], Awaitable[Client]]) -> Client | None:
        self._set("starting", "")
        try:
            client = await begin(self, found)
        except Failed as error:
            self._log = str(error).splitlines()[:LINES]
            self._set("error", sentence_of(error))
            return None
        except Exception as error:
            logger.exception("%s was not started", self.use.row.id)
            self._set("error", f"{type(error).__name__}: {error}")
            return None
        finally:
            if self._starting is asyncio.current_task():  # else it was ended, and begun anew meanwhile
                self._starting = None
        self._sent.clear()
        self.client = client
        self._set("connected", "")
        client.ended.append(lambda reason: self._lost(client, reason))
        if not client.alive:
            self._lost(client, client.reason)
        return self.client

    def _lost(self, client: Client, reason: str) -> None:
        """It has ended by itself: it starts again when it is needed, unless that happens too often."""
        if self.client is not client:
            return
        self.client = None
        self._keep(client)
        now = time.monotonic()
        self._ends.append(now)
        often = len(self._ends) == CRASHES and now - self._ends[0] < CRASH_SECONDS
        self._set(
            "error" if often else "idle",
            Sentence("%(reason)s (%(count)s times)", reason=reason, count=CRASHES) if often else reason,
        )

    def _keep(self, client: Client) -> None:
        self._log = client.log.lines()[-LINES:]

    def _set(self, status: Status, reason: str) -> None:
        if (status, reason) != (self.status, self.reason):
            self.status, self.reason = status, reason
            self._changed(self)


async def start(use: Use, found: Found) -> Client:
    """Start a server's process. Raises Failed."""
    logger.info("starting %s in %s: %s", use.row.id, use.root, shlex.join(found.argv))
    given = dict(use.row.environment)
    argv: Sequence[str] = found.argv
    environment: Mapping[str, str] = {**program_environment(), **given}
    if use.row.sandbox:
        try:
            argv, environment = await asyncio.to_thread(confined, argv, use.root, environment, given)
        except CannotConfine as error:
            raise Failed(sentence_of(error)) from error
    return await Client.start(
        use.row.id, argv, use.root, environment, found.initialization, confined=use.row.sandbox
    )
