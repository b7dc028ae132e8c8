"""Where a tool call points: the real path, whether it lies in the project, and words for what is wrong.

Containment is decided on real paths, after symlinks.
"""

from __future__ import annotations

import asyncio
import difflib
import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agents.toolkit import scratch
from agents.toolkit.base import ToolContext, ToolError
from agents.toolkit.file_names import printable
from agents.toolkit.folders import is_read_only, located
from agents.toolkit.permission.rules import evaluate
from agents.toolkit.skills import discover
from sessions.core.platform.names import as_listed
from sessions.core.store.added_folders import holding
from sessions.project.search import ripgrep

EXPLANATIONS = {
    errno.ENOENT: "{} does not exist.",
    errno.EACCES: "The operating system does not permit access to {}.",
    errno.EPERM: "The operating system does not permit access to {}.",
    errno.EISDIR: "{} is a directory, not a file.",
    errno.ENOTDIR: "{} cannot be reached: a part of its path is a file, not a directory.",
    errno.EEXIST: "{} cannot be made: a file is in the way.",
    errno.ENOSPC: "The disk is full: {} was not written.",
    errno.EDQUOT: "The disk quota is used up: {} was not written.",
    errno.EROFS: "{} is on a read-only file system.",
    errno.ENAMETOOLONG: "The path {} is too long for this file system.",
    errno.ELOOP: "{} cannot be reached: its symbolic links go round in a circle.",
}


_SUGGESTED = 3
"""Names that are told in place of one that is not there."""


@dataclass(frozen=True, slots=True)
class Target:
    """A place to go to: `path` is real, `patterns` is what permission rules match, `title` is for people."""

    path: Path
    patterns: tuple[str, ...]
    title: str


def relative(path: Path, root: Path) -> str:
    """`path` from `root` if it lies within, else as it is; printable."""
    inside = path != root and _contains(root, path)
    return printable(str(path.relative_to(root) if inside else path))


async def authorise(ctx: ToolContext, path: str, kind: Literal["read", "write"]) -> Target:
    """Resolve `path` from the session's directory; ask `external_directory` when it leaves the project.

    Managed output files, skills that the rules allow with what lies beside them, and folders that were added
    to the session are readable without asking, and those of them that may be written are as the project is.
    Raises ToolError for a path that cannot exist, and for one to be written in an added folder that may only
    be read.
    """
    target, inside = await asyncio.to_thread(_resolve, ctx, path, kind)
    if not inside:
        await _ask_external(ctx, target.path)
    return target


def read_pattern(ctx: ToolContext, path: Path) -> str:
    """What a `read` rule is matched with for a file that a search came upon."""
    return relative(path, _project(ctx))


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn an operating system's error inside the block into a ToolError that speaks of `name`."""
    try:
        yield
    except OSError as error:
        text = EXPLANATIONS.get(error.errno or 0, f"{{}} failed: {error.strerror or error}.")
        raise ToolError(text.format(name)) from error


def missing(ctx: ToolContext, target: Target) -> ToolError:
    """The error for a path that is not there, with up to three names that look like it beside it, or files
    of its name elsewhere in the project. Blocks."""
    near = dict.fromkeys([*_similar_names(target.path), *_same_name(_project(ctx), target.path.name)])
    names = [relative(path, ctx.directory.resolve()) for path in near if path != target.path]
    hint = f" Did you mean {', '.join(names[:_SUGGESTED])}?" if names else ""
    return ToolError(f"{target.title} does not exist.{hint}")


def _project(ctx: ToolContext) -> Path:
    """The project's real root. A worktree of `/` stands for "no project": then it is the session's folder."""
    worktree = ctx.worktree.resolve()
    return worktree if worktree.parent != worktree else ctx.directory.resolve()


def _contains(root: Path, path: Path) -> bool:
    return root.parent != root and path.is_relative_to(root)


def _resolve(ctx: ToolContext, path: str, kind: Literal["read", "write"]) -> tuple[Target, bool]:
    """The target, and whether it may be gone to without asking."""
    if not ctx.directory.is_dir():
        raise ToolError(f"The session's folder {printable(str(ctx.directory))} no longer exists.")
    named = Path(path).expanduser() if path == "~" or path.startswith("~/") else Path(path)
    named = located(ctx.turn.folders, ctx.directory, named)
    try:
        asked = Path(os.path.normpath(ctx.directory.resolve() / named))
        real = as_listed((ctx.directory / named).resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise ToolError(f"{printable(path)} is not a usable path: {error}.") from error
    root = _project(ctx)
    added = None if _contains(root, real) else holding(ctx.turn.folders, real)
    if added and kind == "write" and not added.write:
        raise ToolError(is_read_only(added, relative(real, root)))
    inside = _contains(root, real) or added is not None or is_scratch(ctx, real)
    inside = inside or (kind == "read" and _is_lent(ctx, real))
    patterns = dict.fromkeys((relative(asked, root), relative(real, root)))
    if added and kind == "write":  # the rules for an agent's own settings hold in each root
        patterns[relative(real, added.path)] = None
    return Target(real, tuple(patterns), relative(real, root)), inside


def is_scratch(ctx: ToolContext, real: Path) -> bool:
    """Whether a real path is the session's folder for scratch files or lies in it. Blocks."""
    if not real.is_relative_to(scratch.folder(ctx.output_directory, ctx.session_id)):
        return False
    return scratch.made(ctx.output_directory, ctx.session_id) is not None


def _is_lent(ctx: ToolContext, real: Path) -> bool:
    """Whether a path outside of the project may be read though: managed output, a skill's folder."""
    return _contains(ctx.output_directory.resolve(), real) or is_of_skill(ctx, real)


def is_of_skill(ctx: ToolContext, real: Path) -> bool:
    """Whether a real path is the folder of a skill that the rules allow, or lies in it. Blocks."""
    return any(
        _contains(skill.folder.resolve(), real) and evaluate("skill", name, ctx.turn.rules).action == "allow"
        for name, skill in discover(ctx.turn.directory, ctx.turn.config).skills.items()
    )


async def _ask_external(ctx: ToolContext, path: Path) -> None:
    folder = path if await asyncio.to_thread(_is_directory, path) else path.parent
    pattern = f"{printable(str(folder)).rstrip('/')}/*"
    # A rule has no way to escape its wildcards, so a folder named with one cannot be allowed for good.
    always = [] if re.search(r"[*?]", str(folder)) else [pattern]
    metadata = {"filepath": printable(str(path)), "parentDir": printable(str(folder))}
    await ctx.ask("external_directory", [pattern], always=always, metadata=metadata)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _same_name(root: Path, name: str) -> list[Path]:
    """The files of a project that have a name, wherever they lie; those that git ignores are left out."""
    pattern = re.sub(r"([][*?{}])", r"[\1]", name)
    if not name or "\\" in name or root.parent == root:
        return []
    arguments = ["--files", "--null", "--hidden", "--no-require-git", f"--iglob=**/{pattern}", "--glob=!.git"]
    try:
        found = ripgrep.names(root, [*arguments, "."])
    except (ripgrep.SearchFailed, OSError):
        return []
    return sorted(root / os.path.normpath(os.fsdecode(path)) for path in found.split(b"\0") if path)


def _similar_names(path: Path) -> list[Path]:
    try:
        names = {name.lower(): name for name in os.listdir(path.parent)}
    except OSError:
        return []
    wanted = path.name.lower()
    contained = sorted(
        name for name in names if wanted and (wanted in name or path.stem.lower() == Path(name).stem)
    )
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    return [path.with_name(names[name]) for name in dict.fromkeys(close + contained)]
