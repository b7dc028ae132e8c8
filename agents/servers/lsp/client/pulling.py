"""Diagnostics that a language server gives when it is asked (LSP 3.17, "Pull Diagnostics")."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.abilities import PULL, Abilities
from agents.servers.lsp.client.documents import Document, Documents
from agents.servers.lsp.client.encoding import path_of
from agents.servers.lsp.client.problems import Problems

MOST_OTHERS = 10
"""Open files that are asked about again when another one has changed."""
OTHERS_SECONDS = 0.3
"""For the answers about them to be waited for, once the file's own are there."""
PULL_SECONDS = 60.0

Request = Callable[[str, Any, float], Awaitable[Any]]


class Pulls:
    """Asks about open documents, each version once."""

    def __init__(
        self, request: Request, abilities: Abilities, documents: Documents, problems: Problems
    ) -> None:
        self._request = request
        self._abilities = abilities
        self._documents = documents
        self._problems = problems
        self._results: dict[tuple[Path, str], str] = {}
        self._asked: dict[Path, int] = {}
        self._others: asyncio.Task[None] | None = None

    @property
    def possible(self) -> bool:
        return self._abilities.can(PULL)

    def asked(self, path: Path, version: int) -> bool:
        """Whether it was answered about that version."""
        return self._asked.get(path) == version

    async def ask(self, document: Document, *, again: bool = False) -> None:
        """Know what there is to say of this version of a document, and soon after of the other open ones,
        where they may depend on it. Raises Failed."""
        if self.asked(document.path, document.version) and not again:
            return
        version = document.version
        await self._ask(document)
        self._asked[document.path] = version
        if any(options.get("interFileDependencies") for options in self._abilities.options(PULL)):
            await asyncio.wait([self.refresh(document)], timeout=OTHERS_SECONDS)

    def refresh(self, but: Document | None = None) -> asyncio.Task[None]:
        """Ask again about what is open, beside everything else."""
        if self._others is not None:
            self._others.cancel()
        self._others = asyncio.create_task(self._refresh(but))
        return self._others

    def close(self) -> None:
        if self._others is not None:
            self._others.cancel()

    async def _refresh(self, but: Document | None) -> None:
        documents = [document for document in self._documents.latest() if document is not but]
        asked = (self._ask(document) for document in documents[:MOST_OTHERS])
        await asyncio.gather(*asked, return_exceptions=True)

    async def _ask(self, document: Document) -> None:
        version = document.version
        for number, options in enumerate(self._abilities.options(PULL)):
            identifier = options.get("identifier")
            provider = f"{number}:{identifier}"
            params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
            if isinstance(identifier, str):
                params["identifier"] = identifier
            before = self._results.get((document.path, provider))
            if before and self._problems.keeps(document.path, provider):
                params["previousResultId"] = before
            report = await self._request(PULL, params, PULL_SECONDS)
            if isinstance(report, dict):
                self._take(report, document.path, provider, version)

    def _take(self, report: dict[str, Any], path: Path, provider: str, version: int) -> None:
        """A DocumentDiagnosticReport, and those of other files that came with it."""
        self._keep(report, path, provider, version)
        related = report.get("relatedDocuments")
        for uri, other in related.items() if isinstance(related, dict) else ():
            if (beside := path_of(uri)) and isinstance(other, dict):
                document = self._documents.get(beside)
                self._keep(other, beside, provider, document.version if document else -1)

    def _keep(self, report: dict[str, Any], path: Path, provider: str, version: int) -> None:
        if isinstance(report.get("resultId"), str):
            self._results[path, provider] = report["resultId"]
        else:
            self._results.pop((path, provider), None)
        same = report.get("kind") == "unchanged"
        found = None if same else self._problems.parse(report.get("items"), path)
        self._problems.pulled(path, provider, found, version)
