"""Where the model works: its name, folder, git, platform and files (seed 004 §9.3; seed 000 §6.3)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from agents.context.source import Source
from agents.context.sources.tree import tree
from agents.turn import Turn
from sessions.models.ledger import shown


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
