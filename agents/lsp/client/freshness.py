"""When what a language server said of a file is about what the file holds now."""

from __future__ import annotations

from pathlib import Path

from agents.lsp.client.files.documents import Document
from agents.lsp.client.problems import Problems
from agents.lsp.client.progress import Progress
from agents.lsp.client.pulling import Pulls

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
