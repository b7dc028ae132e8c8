"""Search a project for files and folders by fuzzy words."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sessions.models.ledger import shown

from .listing import listing


async def find_files(
    directory: Path, query: str, *, limit: int = 10, files: bool = True, folders: bool = False
) -> list[str]:
    """Paths relative to the folder whose letters contain those of `query` in order, the best first; a
    folder's path ends with a slash. Raises SearchFailed."""
    return await asyncio.to_thread(_find_files, directory, query, limit, files, folders)


def _find_files(directory: Path, query: str, limit: int, files: bool, folders: bool) -> list[str]:
    found = listing(directory)
    names = found.of_all if files and folders else found.of_folders if folders else found.of_files
    return [shown(path) for path in names.best(query, limit)]
