"""What language servers say of files goes into the rows, from which the pages and later diffs read it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from agents.servers.lsp.service import service
from agents.servers.lsp.types import Diagnostic, Update
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.store import problems
from sessions.core.store.problems import Finding, Problem
from sessions.web.problems.current import LARGEST

logger = logging.getLogger(__name__)


class Teller:
    """Of what a server says of a file while rows are written, the last counts. On the loop of the servers."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Path, str], Update] = {}
        self._writing: asyncio.Task[None] | None = None

    def hear(self, update: Update) -> None:
        self._waiting[update.path, update.server] = update
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._waiting:
            updates, self._waiting = self._waiting, {}
            try:
                addressed = await asyncio.to_thread(_addressed, updates.values())
                await in_db(_keep, addressed)
            except Exception:
                logger.exception("what language servers say could not be kept")


@cache
def register() -> None:
    """Listen from now on."""
    service.listen(Teller().hear)


def _addressed(updates: Iterable[Update]) -> list[tuple[Update, str]]:
    """With the address of the content they are about; empty for a server that takes back what it said, and
    does not say of which content. Problems without a content are of what is on the disk; of a file that is
    gone there are none."""
    found = []
    for update in updates:
        content = update.content
        if content is None and update.diagnostics:
            content = _on_disk(update.path)
        if content is not None or not update.diagnostics:
            found.append((update, object_id(content) if content is not None else ""))
    return found


def _on_disk(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= LARGEST else None
    except OSError:
        return None


def _keep(addressed: Iterable[tuple[Update, str]]) -> None:
    """For every project that the file is in: one may lie in another. On the ORM's thread."""
    findings = []
    for update, content in addressed:
        for project_id, path in problems.holders(update.path):
            if content:
                said = _problems(update.diagnostics)
                findings.append(Finding(project_id, path, content, update.server, said))
            else:
                problems.withdraw(project_id, path, update.server)
    if findings:
        problems.put(findings)


def _problems(diagnostics: Iterable[Diagnostic]) -> tuple[Problem, ...]:
    return tuple(
        Problem(
            one.range.start.line,
            one.range.start.character,
            one.range.end.line,
            one.range.end.character,
            one.severity,
            one.message,
            one.code,
            one.source,
            one.server,
        )
        for one in diagnostics
    )
