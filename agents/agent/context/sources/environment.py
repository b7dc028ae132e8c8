"""Where the model works: its name, folder, git, platform and files."""

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
from sessions.core.models.ledger import shown
from sessions.project.search import ignored


@dataclass(frozen=True, slots=True)
class Environment:
    name: str
    model: str
    directory: str
    is_git: bool
    platform: str


async def produce(turn: Turn) -> Sequence[Source[Environment]]:
    """The files are told with a baseline only: what changes in them is not news of the surroundings."""
    return [
        Source(
            "core/environment",
            load=partial(_load, turn),
            encode=asdict,
            baseline=_rendered,
            update=lambda value: f"The environment has changed and is now:\n{_rendered(value)}",
            once=partial(_files, turn.directory),
        )
    ]


async def _load(turn: Turn) -> Environment:
    return Environment(
        name=turn.model.name,
        model=turn.model.ref,
        directory=shown(str(turn.directory)),
        is_git=turn.session.project.vcs == "git",
        platform=sys.platform,
    )


async def _files(directory: Path) -> str:
    listed = await asyncio.to_thread(tree, directory)
    return f"<files>\n{listed}\n</files>" if listed else ""


def _rendered(value: Environment) -> str:
    return "\n".join(
        (
            f"You are running on the model {value.name} ({value.model}).",
            "<env>",
            f"  Working directory: {value.directory}",
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

    def lines(self, margin: str) -> Iterator[str]:
        for node in self.below:
            yield f"{margin}{shown(node.name)}{'/' if node.is_folder else ''}"
            yield from node.lines(margin + "  ")


def tree(directory: Path, limit: int = LIMIT) -> str:
    """At most `limit` files and folders, level by level, without what git ignores; empty without any."""
    root = _Node("", directory, True)
    level, room, cut = [root], limit, False
    while level and not cut:
        found = list(_below(level))
        unwanted = ignored(directory, [node.path for _, node in found]) if found else set()
        wanted = [(folder, node) for folder, node in found if node.path not in unwanted]
        cut = len(wanted) > room
        for folder, node in wanted[:room]:
            folder.below.append(node)
        level = [node for _, node in wanted[:room] if node.is_folder]
        room -= len(wanted)
    return "\n".join([*root.lines(""), *([NOTE] if cut else [])])


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
