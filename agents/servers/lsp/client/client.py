"""One process of a language server, and all that is said with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.abilities import PULL, WATCH, Abilities, folders, greeting
from agents.servers.lsp.client.documents import Document, Documents
from agents.servers.lsp.client.encoding import UTF_16, Converter, path_of
from agents.servers.lsp.client.link import Link
from agents.servers.lsp.client.problems import Problems
from agents.servers.lsp.client.progress import Progress
from agents.servers.lsp.client.pulling import Pulls
from agents.servers.lsp.client.watching import Watching
from agents.servers.lsp.types import Diagnostic, Failed, Update
from agents.toolkit.children.child import Tail
from sessions.core.sentences import Sentence, joined, sentence_of

# Looks after a language server while it runs: the memory it holds, the files it holds open.

MEMORY_LIMIT = 4 * 1024**3
"""Bytes; a server with more is ended."""
LOOK_SECONDS = 10.0
IDLE_SECONDS = 600.0
"""A document that was not used for so long is closed."""


class Guard:
    """`measure` blocks and gives bytes, or None where they cannot be seen; `end` is called with the reason
    when there are more than `limit`; `tidy` is called at each look."""

    def __init__(
        self,
        measure: Callable[[], int | None],
        limit: int,
        end: Callable[[str], object],
        tidy: Callable[[], object],
    ) -> None:
        self.memory: int | None = None
        self._measure = measure
        self._limit = limit
        self._end = end
        self._tidy = tidy

    async def run(self) -> None:
        while True:
            self.memory = await asyncio.to_thread(self._measure)
            if self.memory is not None and self.memory > self._limit:
                self._end(
                    Sentence(
                        "it held %(memory)s of memory; %(most)s are allowed",
                        memory=_shown(self.memory),
                        most=_shown(self._limit),
                    )
                )
                return
            self._tidy()
            await asyncio.sleep(LOOK_SECONDS)


def _shown(count: int) -> str:
    return f"{count / 1024**3:.1f} GB"


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
        confined: bool = False,
    ) -> Client:
        """Start a program in `root` and wait until it can be asked. `server` is its id, `initialization` what
        it is configured by, at the start and whenever it asks; `confined`: it does not see this process.
        Raises Failed; then nothing is left of it."""
        link = await Link.start(argv, root, env)
        client = cls(server, root, link, initialization or {}, memory_limit)
        try:
            await client._greet(within, confined)
        except Failed as error:
            said = client.log.last(3)
            await link.end(sentence_of(error))
            words = sentence_of(error)
            raise Failed(joined((words, said), "\n") if said and said not in words else words) from error
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

    async def _greet(self, within: float, confined: bool) -> None:
        self.ended.append(self._over)
        self._abilities.changed.append(self._registered)
        answers = Answers(self.root, self._settings, self.log, self._refresh)
        self._link.listen(answers.handlers(self._abilities, self._problems, self._progress))
        result = await self._link.request(
            "initialize", greeting(self.root, self._settings, confined=confined), within
        )
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


# What a language server asks for and tells by itself.

_LEVELS = {1: "error", 2: "warning", 3: "info"}
_MAX_LINES = 20

Handler = Callable[[Any], Any]


class Answers:
    """`refresh` is called when the server wants its diagnostics to be asked for again."""

    def __init__(
        self, root: Path, settings: Mapping[str, Any], log: Tail, refresh: Callable[[], object]
    ) -> None:
        self._root = root
        self._settings = settings
        self._log = log
        self._refresh = refresh

    def handlers(self, abilities: Abilities, problems: Problems, progress: Progress) -> dict[str, Handler]:
        """By method. What a client may leave unanswered is not here: the server is told so."""
        refreshes = ("semanticTokens", "inlayHint", "inlineValue", "codeLens", "foldingRange")
        return {
            "client/registerCapability": abilities.register,
            "client/unregisterCapability": abilities.unregister,
            "workspace/configuration": self._configuration,
            "workspace/workspaceFolders": lambda _: folders(self._root),
            "workspace/applyEdit": self._edit,
            "workspace/diagnostic/refresh": lambda _: void(self._refresh()),
            **{f"workspace/{name}/refresh": void for name in refreshes},
            "window/showMessage": self._say,
            "window/logMessage": self._say,
            "window/showMessageRequest": self._say,
            "window/showDocument": lambda _: {"success": False},
            "window/workDoneProgress/create": void,
            "$/progress": progress.report,
            "$/logTrace": void,
            "telemetry/event": void,
            "textDocument/publishDiagnostics": problems.push,
        }

    def _configuration(self, params: Any) -> list[Any]:
        """ConfigurationParams: a section is a path into the settings, or all of them."""
        return [section(self._settings, item.get("section")) for item in params["items"]]

    def _edit(self, params: Any) -> dict[str, Any]:
        """Nobody here has a server do something to files: what it wants to change by itself is refused."""
        label = str(params.get("label") or "an edit")[:200]
        self._log.say(f"[refused] {label}: files are changed by the agent only")
        return {"applied": False, "failureReason": "this client asked for no edit"}

    def _say(self, params: Any) -> None:
        level = _LEVELS.get(params.get("type"), "log")
        for line in str(params.get("message")).splitlines()[:_MAX_LINES]:
            self._log.say(f"[{level}] {line}")


def section(settings: Mapping[str, Any], name: Any) -> Any:
    """What the settings have under a name as `yaml.schemas`; None where they have nothing."""
    found: Any = settings
    for part in str(name).split(".") if name else ():
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def void(_: object = None) -> None:
    """Nothing to do, and nothing to answer."""


# When what a language server said of a file is about what the file holds now.

FRUITLESS = 3
"""After so many waits in a row in which a server pushed nothing at all, it is not waited for."""


class Freshness:
    def __init__(self, problems: Problems, pulls: Pulls, progress: Progress) -> None:
        self._problems = problems
        self._pulls = pulls
        self._progress = progress
        self._fruitless = 0
        self._pushes = 0
        """How many there were at the last wait that was given up."""

    @property
    def worthwhile(self) -> bool:
        """Whether there is any hope. Some servers have no diagnostics, and say nothing rather than that."""
        return self._pulls.possible or self._fruitless < FRUITLESS or self._pushes != self._problems.pushes

    def known(self, path: Path, version: int) -> bool:
        """Whether it has said something of that version, be it all or not."""
        return self._pulls.asked(path, version) or self._problems.pushed(path, version)

    def missed(self) -> None:
        """A wait was given up."""
        self._fruitless = self._fruitless + 1 if self._pushes == self._problems.pushes else 0
        self._pushes = self._problems.pushes

    async def wait(self, document: Document, version: int) -> None:
        """Until the server has said what there is to say of a version."""
        again, path = False, document.path
        while True:
            while not self._pulls.possible and not self._problems.pushed(path, version):
                await self._problems.news(path)
            if self._pulls.possible:
                await self._pulls.ask(document, again=again)
            else:
                await self._problems.quiet(surely=again)
            if self._problems.of(path) or not self._at_work(document):
                return
            await self._progress.idle()
            again = True

    def _at_work(self, document: Document) -> bool:
        """Whether the server may have found nothing because it has not looked yet. One that pushes, pushes
        when it has; later comes only what it began to do for this version (a build, as it may be)."""
        return self._progress.busy(since=0.0 if self._pulls.possible else document.told)
