"""One process of a language server, and all that is said with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.lsp.client.abilities import PULL, WATCH, Abilities
from agents.lsp.client.answering import Answers
from agents.lsp.client.files.documents import Documents
from agents.lsp.client.files.watching import Watching
from agents.lsp.client.freshness import Freshness
from agents.lsp.client.guard import IDLE_SECONDS, MEMORY_LIMIT, Guard
from agents.lsp.client.handshake import greeting
from agents.lsp.client.link import Link
from agents.lsp.client.problems import Problems
from agents.lsp.client.progress import Progress
from agents.lsp.client.pulling import Pulls
from agents.lsp.client.wire.encoding import UTF_16, Converter
from agents.lsp.client.wire.places import path_of
from agents.lsp.types import Diagnostic, Failed, Update

START_SECONDS = 45.0
"""For `initialize` to be answered: the first start of a server may index a project."""


class Client:
    """Use it on the loop that started it. Functions in `listeners` are called with every change of what the
    server says of a file, those in `ended` once, with the reason, when it is gone."""

    def __init__(self, server: str, root: Path, link: Link, settings: Mapping[str, Any], limit: int) -> None:
        """Not yet greeted: see `start`."""
        self.server = server
        self.root = root
        self.log = link.log
        self.ended = link.ended
        self.listeners: list[Callable[[Update], object]] = []
        self._link = link
        self._settings = settings
        self._abilities = Abilities()
        self._progress = Progress()
        self._documents = Documents(link.notify, self._abilities)
        self._problems = Problems(server, root, self._documents, self._tell)
        self._pulls = Pulls(link.request, self._abilities, self._documents, self._problems)
        self._freshness = Freshness(self._problems, self._pulls, self._progress)
        self._watching = Watching(root, self._abilities, link.notify, self.log.say)
        self._guard = Guard(link.child.memory, limit, link.end, self.tidy)
        self._guarding: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        server: str,
        argv: Sequence[str],
        root: Path,
        env: Mapping[str, str],
        initialization: Mapping[str, Any] | None = None,
        *,
        memory_limit: int = MEMORY_LIMIT,
        within: float = START_SECONDS,
    ) -> Client:
        """Start a program in `root` and wait until it can be asked. `server` is its id, `initialization` what
        it is configured by, at the start and whenever it asks. Raises Failed; then nothing is left of it."""
        link = await Link.start(argv, root, env)
        client = cls(server, root, link, initialization or {}, memory_limit)
        try:
            await client._greet(within)
        except Failed as error:
            said = client.log.last(3)
            await link.end(str(error))
            raise Failed(f"{error}\n{said}" if said and said not in str(error) else str(error)) from error
        except BaseException:
            link.end("not wanted any longer")
            raise
        return client

    @property
    def alive(self) -> bool:
        return self._link.alive

    @property
    def reason(self) -> str:
        """Why it is gone; empty while it is not."""
        return self._link.reason

    @property
    def pid(self) -> int:
        return self._link.child.pid

    @property
    def capabilities(self) -> dict[str, Any]:
        """ServerCapabilities; what was registered later is not in them: see `can`."""
        return self._abilities.stated

    def can(self, method: str) -> bool:
        """Whether it answers a request, as `textDocument/hover`."""
        return self._abilities.can(method)

    def memory(self) -> int | None:
        """Bytes it held at the last look, a few seconds ago, with all it started."""
        return self._guard.memory

    def working(self) -> str:
        """What it says that it is at work on, as `Indexing: 3/10 (30 %)`; empty for nothing."""
        return self._progress.words()

    def opened(self) -> list[Path]:
        """The files it holds open, the one used last first."""
        return [document.path for document in self._documents.latest()]

    def open(self, path: Path, content: bytes, *, saved: bool = True) -> int:
        """Tell it what a file holds, `saved` when the file on the disk does. The version that this is: the
        same as before when nothing has changed. Raises Failed."""
        self._check()
        before = self._documents.get(path)
        version = before.version if before else 0
        document = self._documents.put(path, content)
        if saved and version and document.version != version:
            self._documents.saved(document)
        return document.version

    change = open
    """A first time and a later one differ in the protocol only."""

    def close(self, path: Path) -> None:
        """It need not look at a file any longer, and what it said of it counts no more."""
        self._documents.close(path)
        self._problems.forget(path)

    def tidy(self) -> None:
        """Have it close the files that were not used for long, or are too many; what it said of them stays.
        It happens by itself every few seconds."""
        for path in self._documents.spare(IDLE_SECONDS):
            self._documents.close(path)
            self._problems.closed(path)

    async def diagnostics(self, path: Path, version: int, within: float) -> tuple[Diagnostic, ...]:
        """What it says of a version that `open` gave, or of a later one; nothing when it has said nothing
        after so many seconds. Raises Failed when the server is gone."""
        document = self._documents.get(path)
        if document is None:
            return self._problems.of(path)
        try:
            async with asyncio.timeout(within if self._freshness.worthwhile else 0):
                await self._watching.flush()
                await self._link.while_alive(self._freshness.wait(document, version))
        except TimeoutError:
            self._freshness.missed()
            if not self._freshness.known(path, version):
                return ()
        return self._problems.of(path)

    async def request(self, method: str, params: Any, within: float) -> Any:
        """The answer, plain JSON with positions in UTF-16. Raises Failed."""
        await self._watching.flush()
        converter = self._problems.converter
        if converter is None:
            return await self._link.request(method, params, within)
        asked = await asyncio.to_thread(converter.outgoing, params)
        answer = await self._link.request(method, asked, within)
        document = params.get("textDocument", {}) if isinstance(params, dict) else {}
        return await asyncio.to_thread(converter.incoming, answer, path_of(document.get("uri")))

    async def end(self, reason: str = "it was not needed any longer") -> None:
        """End it, as the protocol wants it where it can."""
        await self._link.close(reason)

    async def _greet(self, within: float) -> None:
        self.ended.append(self._over)
        self._abilities.changed.append(self._registered)
        answers = Answers(self.root, self._settings, self.log, self._refresh)
        self._link.listen(answers.handlers(self._abilities, self._problems, self._progress))
        result = await self._link.request("initialize", greeting(self.root, self._settings), within)
        self._abilities.state(result)
        if self._abilities.encoding != UTF_16:
            self._problems.converter = Converter(self._abilities.encoding, self._documents.lines)
        self._link.notify("initialized", {})
        self._link.notify("workspace/didChangeConfiguration", {"settings": dict(self._settings)})
        self._guarding = asyncio.create_task(self._guard.run())

    def _tell(self, update: Update) -> None:
        for listener in self.listeners if not self._link.closing else ():
            listener(update)

    def _registered(self, method: str) -> None:
        if method == PULL:
            self._problems.wake()
        elif method == WATCH:
            self._watching.registered()

    def _refresh(self) -> None:
        if self._pulls.possible:
            self._pulls.refresh()

    def _check(self) -> None:
        if not self.alive:
            raise Failed(self.reason)

    def _over(self, reason: str) -> None:
        self._pulls.close()
        self._watching.close()
        if self._guarding is not None:
            self._guarding.cancel()
