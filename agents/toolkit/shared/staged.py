"""What waits in review mode, for the tools that search and list: it is laid out in a folder of its own, where
ripgrep finds it as it would in the working tree.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.toolkit.base import ToolContext
from agents.toolkit.shared import ripgrep
from agents.toolkit.shared.ripgrep import Keep, Records

IGNORING = (".gitignore", ".ignore", ".rgignore")


@dataclass(frozen=True, slots=True)
class Overlay:
    """The staged files at or below `folder`, by real path: whether there is a file, or it is gone."""

    folder: Path
    files: dict[Path, bool]

    @property
    def present(self) -> list[Path]:
        return [path for path, there in self.files.items() if there]

    def covers(self, name: str) -> bool:
        """Whether what was found on the disk under this name in the folder is another file now, or gone."""
        return self.folder / name in self.files

    def shows(self, name: str) -> bool:
        """Whether what was found in the folder laid out is a staged file, and not laid out with them."""
        return self.files.get(self.folder / name, False)


def overlay(waiting: Mapping[Path, bool], folder: Path) -> Overlay:
    """Of what waits (`ToolContext.staged_files`)."""
    return Overlay(folder, {path: there for path, there in waiting.items() if path.is_relative_to(folder)})


async def search(
    ctx: ToolContext,
    arguments: Sequence[str],
    over: Overlay,
    *,
    separator: bytes,
    limit: int,
    keep: Keep | None = None,
) -> Records:
    """As `ripgrep.run` in the folder, among the staged files; no records where there are none."""
    if not over.present:
        return Records([])
    with tempfile.TemporaryDirectory(prefix="opencode-web-staged-") as name:
        cwd = await asyncio.to_thread(_laid_out, ctx, over, Path(name))
        return await ripgrep.run(ctx, arguments, cwd=cwd, separator=separator, limit=limit, keep=keep)


async def names(ctx: ToolContext, arguments: Sequence[str], folder: Path, limit: int) -> Records:
    """File names in a folder as the session sees it: the staged ones first, then those of the disk."""
    over = overlay(await asyncio.to_thread(ctx.staged_files), folder)
    found = await search(ctx, arguments, over, separator=b"\0", limit=limit + len(over.files))
    both = [record for record in found.found if over.shows(os.fsdecode(record))]
    more, late = found.more, found.late
    if await asyncio.to_thread(folder.is_dir):
        disk = await ripgrep.run(ctx, arguments, cwd=folder, separator=b"\0", limit=limit + len(over.files))
        both += [record for record in disk.found if not over.covers(os.fsdecode(record))]
        more, late = more or disk.more, late or disk.late
    return Records(both[:limit], more or len(both) > limit, late)


def is_folder(waiting: Mapping[Path, bool], path: Path) -> bool:
    """Whether there is a folder for the session: on the disk, or as the place of what waits
    (`ToolContext.staged_files`). Blocks."""
    return path.is_dir() or any(there and path in staged.parents for staged, there in waiting.items())


def exists(waiting: Mapping[Path, bool], path: Path) -> bool:
    """Whether there is something for the session. Blocks."""
    there = waiting.get(path)
    return there if there is not None else path.exists() or is_folder(waiting, path)


def _laid_out(ctx: ToolContext, over: Overlay, root: Path) -> Path:
    """Write the staged files below `root` as they lie in the worktree, or in a folder beside it, the newest
    last, with what says which of them are ignored. Returns the place of the folder there."""
    beside = (folder.path for folder in ctx.turn.folders)
    tops = (top for top in (ctx.worktree.resolve(), *beside) if over.folder.is_relative_to(top))
    top = next(tops, over.folder)
    for path in reversed(over.present):
        _put(root / path.relative_to(top), ctx.read_file(path))
    folders = {folder for path in over.present for folder in path.parents if folder.is_relative_to(top)}
    for folder in folders:
        for name in IGNORING:
            if folder / name not in over.files:
                _put(root / folder.relative_to(top) / name, _ignoring(ctx, folder / name))
    return root / over.folder.relative_to(top)


def _put(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _ignoring(ctx: ToolContext, path: Path) -> bytes | None:
    try:
        return ctx.read_file(path)
    except OSError:
        return None
