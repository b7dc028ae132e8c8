"""What a language server says of files: pushed as it likes, or answered when it is asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from agents.servers.lsp.client.documents import Document, Documents
from agents.servers.lsp.client.encoding import Converter, path_of
from agents.servers.lsp.types import ERROR, Diagnostic, Range, Severity, Update
from sessions.core.bounded import Bounded

MOST_FILES = 2000
MOST_OF_A_FILE = 1000
MAX_MESSAGE = 4000
SETTLE_SECONDS = 0.15
"""Some servers push what they find quickly first, and some push what an edit broke elsewhere just after."""
SINGLES = 3
"""So many versions in a row of which one push told all: there is nothing more to wait for."""
FOLLOWING_SECONDS = 1.0
"""What is pushed within this time after a version was, belongs to it."""
CLOSED_SECONDS = 5.0
"""A server that looks at open files only takes back what it said of one within this time of its closing."""

_PUSHED = ""


@dataclass(slots=True)
class _File:
    """`said` is by who says it: pushed, or pulled from the provider of that name. `pushed` is the version of
    the last push: what the server says, else what it is taken for. `took` is how many seconds it was from a
    version to what was last pushed of it; `doubted`: what was pushed last may be of an older version."""

    said: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    pushed: int = 0
    closed: float = 0.0
    took: float = 0.0
    doubted: asyncio.TimerHandle | None = None

    def all(self) -> tuple[Diagnostic, ...]:
        return tuple(dict.fromkeys(one for said in self.said.values() for one in said))[:MOST_OF_A_FILE]


class Problems:
    """`tell` is called with every change of what is known of a file."""

    def __init__(self, server: str, root: Path, documents: Documents, tell: Callable[[Update], None]) -> None:
        self.converter: Converter | None = None
        self._server = server
        self._root = root
        self._documents = documents
        self._tell = tell
        self._files: Bounded[Path, _File] = Bounded(MOST_FILES)
        self._news: dict[Path | None, asyncio.Event] = {}
        self._singles = 0
        self._answered = 0.0
        """When a version was pushed for the first time."""
        self._thorough = False
        """It says of a file without problems, too, that there are none: each version is answered."""
        self.pushes = 0
        """How many there were."""

    def of(self, path: Path) -> tuple[Diagnostic, ...]:
        known = self._files.get(path)
        return known.all() if known else ()

    def keeps(self, path: Path, provider: str) -> bool:
        """Whether it is known what a provider answered last."""
        known = self._files.get(path)
        return known is not None and provider in known.said

    def push(self, params: Any) -> None:
        """PublishDiagnosticsParams. Raises KeyError, TypeError."""
        path = path_of(params["uri"])
        if path is None:
            return
        self.pushes += 1
        document = self._documents.get(path)
        known = self._file(path)
        stated, latest = params.get("version"), document.version if document else 0
        found = self.parse(params["diagnostics"], path)
        if not found and not document and time.monotonic() < known.closed + CLOSED_SECONDS:
            return
        if known.doubted is not None:
            known.doubted.cancel()
            known.doubted = None
        version = stated if isinstance(stated, int) else self._meant(document, path, known, found)
        self._thorough |= not found and not known.said.get(_PUSHED)
        self._count(known, version, changed=known.said.get(_PUSHED) != found)
        known.said[_PUSHED] = found
        self._changed(path, known, document if version == latest else None)

    def _meant(
        self, document: Document | None, path: Path, known: _File, found: tuple[Diagnostic, ...]
    ) -> int:
        """The version that a push without one is of. It may be an older one than the server was last told of,
        when that one is owed an answer or when nothing is new in it: then it counts for the newest only if
        nothing else comes for twice as long as the older one took, and for a moment at least: a machine that
        was quiet may be busy now."""
        if document is None:
            return 0
        now, latest = time.monotonic(), document.version
        owed = next(((at, told) for at, told in document.before if at > known.pushed), None)
        if owed is not None and self._thorough:
            version, told = owed
            known.took = now - told
        elif known.pushed < latest and found and found == known.said.get(_PUSHED):
            version = known.pushed
        else:
            if known.pushed < latest or now < self._answered + FOLLOWING_SECONDS:
                known.took = now - document.told
            return latest
        wait = document.told + max(2 * known.took, SETTLE_SECONDS) - now
        if wait <= 0:
            return latest
        known.doubted = asyncio.get_running_loop().call_later(wait, self._believe, path, latest)
        return version

    def _believe(self, path: Path, version: int) -> None:
        """Nothing else has come: what was pushed last is of this version."""
        known, document = self._file(path), self._documents.get(path)
        known.doubted = None
        if document is not None and document.version == version:
            self._count(known, version, changed=False)
            self._changed(path, known, document)

    def pulled(self, path: Path, provider: str, found: tuple[Diagnostic, ...] | None, version: int) -> None:
        """What a provider answered about a version; None when it is what it answered before."""
        known = self._file(path)
        before = known.said.get(provider)
        if found is not None:
            known.said[provider] = found
        document = self._documents.get(path)
        if before != known.said.get(provider) or (document and document.version == version):
            self._changed(path, known, document if document and document.version == version else None)

    def pushed(self, path: Path, version: int) -> bool:
        """Whether that version, or a later one, was."""
        return self._file(path).pushed >= version

    async def news(self, path: Path | None) -> None:
        """Until something new is said of a file, or of any; see also `wake`."""
        await self._news.setdefault(path, asyncio.Event()).wait()

    async def quiet(self, *, surely: bool = False) -> None:
        """Until nothing has come for a moment, where something often comes."""
        while surely or self._singles < SINGLES:
            try:
                async with asyncio.timeout(SETTLE_SECONDS):
                    await self.news(None)
            except TimeoutError:
                return

    def wake(self) -> None:
        """Who waits for a push shall look whether that is still what to wait for."""
        for event in self._news.values():
            event.set()
        self._news.clear()

    def closed(self, path: Path) -> None:
        """The server looks at the file no longer; what it said of it stays."""
        self._file(path).closed = time.monotonic()

    def forget(self, path: Path) -> None:
        """There is nothing more to say of a file."""
        known = self._files.get(path)
        if known and known.all():
            known.said.clear()
            self._changed(path, known, None)

    def parse(self, items: Any, path: Path) -> tuple[Diagnostic, ...]:
        """Of Diagnostic[]; what is not as the protocol has it is left out."""
        if not isinstance(items, list):
            return ()
        items = items[:MOST_OF_A_FILE]
        if self.converter:
            items = self.converter.incoming(items, path)
        return tuple(_parsed(items, self._server))

    def _count(self, known: _File, version: int, *, changed: bool) -> None:
        """Learn whether one push tells all."""
        now = time.monotonic()
        if version > known.pushed:
            known.pushed, self._answered = version, now
            self._singles += 1
        elif changed and now < self._answered + FOLLOWING_SECONDS:
            self._singles = 0

    def _changed(self, path: Path, known: _File, document: Document | None) -> None:
        for subject in (path, None):
            if event := self._news.pop(subject, None):
                event.set()
        content = document.content if document else None
        self._tell(Update(self._root, self._server, path, known.all(), content))

    def _file(self, path: Path) -> _File:
        return self._files.setdefault(path, _File())


def _parsed(items: Iterable[Any], server: str) -> Iterable[Diagnostic]:
    for item in items:
        try:
            where = Range.parse(item["range"])
            message = item["message"]
            code = item.get("code")
            severity = item.get("severity")
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        if isinstance(message, dict):  # MarkupContent, since 3.18
            message = message.get("value", "")
        yield Diagnostic(
            range=where,
            severity=cast(Severity, severity) if severity in (1, 2, 3, 4) else ERROR,
            message=str(message)[:MAX_MESSAGE],
            code="" if code is None else str(code)[:200],
            source=str(item.get("source") or "")[:200],
            server=server,
        )
