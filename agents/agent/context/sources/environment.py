"""Where the model works: its name, folder, root, git, platform and files."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from agents.agent.context.source import Source
from agents.toolkit.shared.ripgrep import NOISE
from agents.toolkit.turn import Turn
from sessions.changes.vcs import Checkout
from sessions.core.coalescing import Coalesced
from sessions.core.models.ledger import shown
from sessions.project.search import ignored


@dataclass(frozen=True, slots=True)
class Environment:
    name: str
    model: str
    directory: str
    root: str
    """Of the project; empty where the folder is it."""
    is_git: bool
    platform: str


async def produce(turn: Turn) -> Sequence[Source[Environment]]:
    """What git says and the files are told with a baseline only: what changes in them is not news of the
    surroundings."""
    return [
        Source(
            "core/environment",
            load=partial(_load, turn),
            encode=asdict,
            baseline=_rendered,
            update=lambda value: f"The environment has changed and is now:\n{_rendered(value)}",
            once=partial(_once, turn),
        )
    ]


async def _load(turn: Turn) -> Environment:
    return Environment(
        name=turn.model.name,
        model=turn.model.ref,
        directory=shown(str(turn.directory)),
        root=shown(str(turn.worktree)) if turn.worktree in turn.directory.parents[:-1] else "",
        is_git=turn.session.project.vcs == "git",
        platform=sys.platform,
    )


_described: Coalesced[str] = Coalesced()
"""By folder: many sessions may begin in one at the same moment."""


async def _once(turn: Turn) -> str:
    return await _described.get((turn.directory, turn.worktree), partial(_describe, turn))


async def _describe(turn: Turn) -> str:
    listed, status = await asyncio.gather(asyncio.to_thread(tree, turn.directory), _status(turn))
    pieces = [("git-status", status), ("files", listed)]
    return "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in pieces if text)


STATUS_LINES = 20
STATUS_SECONDS = 2.0


async def _status(turn: Turn) -> str:
    """The branch, and files that are not as they were committed, as `git status --short --branch` has them at
    the start; empty without git, and where that takes long."""
    if turn.session.project.vcs != "git":
        return ""
    said = await asyncio.to_thread(Checkout(turn.worktree).asked, *_STATUS, seconds=STATUS_SECONDS)
    lines = said.splitlines()
    more = len(lines) - 1 - STATUS_LINES
    return "\n".join(lines[: STATUS_LINES + 1] + ([f"(and {more} more)"] if more > 0 else []))


_STATUS = ("status", "--short", "--branch", "--ignore-submodules=all", "--untracked-files=normal")


def _rendered(value: Environment) -> str:
    return "\n".join(
        (
            f"You are running on the model {value.name} ({value.model}).",
            "<env>",
            f"  Working directory: {value.directory}",
            *([f"  Root of the project: {value.root}"] if value.root else []),
            f"  Is directory a git repository: {'yes' if value.is_git else 'no'}",
            f"  Platform: {value.platform}",
            "</env>",
        )
    )


# The upper levels of a project's files, as the model is told of them at the start.

LIMIT = 200
MAX_ENTRIES = 2_000
"""Of one folder; so a folder of a million files costs no more than one of these."""

NOTE = "(only the upper levels are listed; there is more)"


@dataclass(slots=True)
class _Node:
    """A folder that is listed, or a file, which has nothing below it."""

    name: str
    path: Path
    is_folder: bool
    below: list[_Node] = field(default_factory=list)
    more: int = 0
    """How many are below it that are not listed."""

    def lines(self, margin: str) -> Iterator[str]:
        for node in self.below:
            yield f"{margin}{shown(node.name)}{'/' if node.is_folder else ''}"
            yield from node.lines(margin + "  ")
        if self.more and self.below:
            yield f"{margin}(and {self.more} more)"


def tree(directory: Path, limit: int = LIMIT) -> str:
    """At most `limit` files and folders, level by level, without what git ignores; empty without any. Of a
    level for which there is not room enough each folder gets a fair share."""
    root = _Node("", directory, True)
    level, room, cut = [root], limit, False
    while level and not cut:
        found = list(_below(level))
        unwanted = ignored(directory, [node.path for _, node in found]) if found else set()
        for folder, node in found:
            if node.path not in unwanted:
                folder.below.append(node)
        room = _share(level, room)
        cut = any(folder.more for folder in level)
        level = [node for folder in level for node in folder.below if node.is_folder]
    return "\n".join([*root.lines(""), *([NOTE] if cut else [])])


def _share(level: Sequence[_Node], room: int) -> int:
    """Leave in each folder what it has room for, the smallest first, as they leave room to the others; what
    is left of the room."""
    folders = sorted(level, key=lambda folder: len(folder.below))
    for number, folder in enumerate(folders):
        share = room // (len(folders) - number)
        folder.more = max(0, len(folder.below) - share)
        del folder.below[share:]
        room -= len(folder.below)
    return room


def _below(folders: list[_Node]) -> Iterator[tuple[_Node, _Node]]:
    """What is directly in these folders, each with its folder: folders first, by name."""
    for folder in folders:
        try:
            with os.scandir(folder.path) as entries:
                nodes = [_node(entry) for entry in islice(entries, MAX_ENTRIES) if entry.name not in NOISE]
        except OSError:
            continue
        yield from (
            (folder, node) for node in sorted(nodes, key=lambda node: (not node.is_folder, node.name))
        )


def _node(entry: os.DirEntry[str]) -> _Node:
    return _Node(entry.name, Path(entry.path), entry.is_dir(follow_symlinks=False))
