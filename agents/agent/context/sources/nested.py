"""Instructions of folders beside or below the session's, those beside the project among them: each counts
from the first read or edit of a file below it on. It is told as a message of its own then, and again when it
has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from agents.agent.context.source import Source
from agents.agent.context.sources import discovery
from agents.agent.context.sources.files import Document
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.models.ledger import pack_path, unpack_path
from sessions.core.store import context as store
from sessions.core.store.added_folders import holding


async def visit(turn: Turn, paths: Iterable[Path]) -> None:
    """Files of these paths (absolute) were read or written."""
    if found := await asyncio.to_thread(_instructed, turn, list(paths)):
        known = await in_db(store.visit, turn.session.id, found)
        if Session.epoch.is_cached(turn.session) and hasattr(turn.session, "epoch"):
            turn.session.epoch.visited = known


async def produce(turn: Turn) -> Sequence[Source[Document]]:
    """One a folder, so that each is told by itself."""
    if Session.epoch.is_cached(turn.session):
        epoch = getattr(turn.session, "epoch", None)
        folders = epoch.visited if epoch else []
    else:
        folders = await in_db(store.visited, turn.session.id)
    return [_source(turn, folder) for folder in folders]


def _source(turn: Turn, packed: str) -> Source[Document]:
    return Source(
        f"core/instructions/{packed}",
        load=partial(asyncio.to_thread, _load, turn, _root(turn) / unpack_path(packed)),
        encode=lambda document: [document.origin, document.digest],
        baseline=_rendered,
        update=lambda document: f"These instructions have changed and are now:\n\n{_rendered(document)}",
        removal=lambda document: (
            f"The instructions from {document.origin} no longer apply: there are none now."
        ),
    )


def _load(turn: Turn, folder: Path) -> Document | None:
    """None where it is beside the project, and no folder that was added any more."""
    root = _root(turn)
    added = None if folder.is_relative_to(root) else holding(turn.folders, folder)
    root = added.path if added else root
    return discovery.of_folder(folder, root) if folder.is_relative_to(root) else None


def _rendered(document: Document) -> str:
    folder = Path(document.origin).parent
    return f"Instructions from: {document.origin}\n(They are for work below {folder}.)\n{document.text}"


def _instructed(turn: Turn, paths: Sequence[Path]) -> list[str]:
    """The folders on the way to files that have instructions which are not told from the start: relative to
    the root, whole where they are beside the project, and packed."""
    root = _root(turn)
    on_the_way = {folder for path in paths for folder in _on_the_way(turn, path)}
    found = {folder: one for folder in sorted(on_the_way) if (one := _load(turn, folder))}
    if not found:
        return []
    entries = [entry for entry in turn.config.instructions if "://" not in entry]
    named = {one for entry in entries for one in discovery.named(entry, turn.directory, turn.worktree)}
    told = [folder for folder, one in found.items() if one not in named]
    return [
        pack_path(str(folder.relative_to(root) if folder.is_relative_to(root) else folder)) for folder in told
    ]


def _on_the_way(turn: Turn, path: Path) -> Sequence[Path]:
    added = holding(turn.folders, path)
    if added:
        return discovery.on_the_way(path, added.path)
    return discovery.below(path, turn.directory, turn.worktree)


def _root(turn: Turn) -> Path:
    return discovery.folders(turn.directory, turn.worktree)[0]
