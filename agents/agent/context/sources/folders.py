"""The folders beside the project that were added: their names, places and branches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agents.agent.context.source import Source
from agents.toolkit.turn import Turn
from sessions.changes import vcs
from sessions.core.models.ledger import shown
from sessions.core.store.added_folders import AddedFolder

INSTRUCTIONS = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class Place:
    """`branch` is git's, empty where there is none; `instructed`: it has instructions of its own."""

    name: str
    path: str
    branch: str
    instructed: bool
    write: bool


Places = tuple[Place, ...]


async def produce(turn: Turn) -> Sequence[Source[Any]]:
    """One source, whose branches are told once: that one changes is no news."""
    return [Source("core/folders", partial(_load, turn), _encode, _rendered, _update, _removal)]


async def _load(turn: Turn) -> Places | None:
    if not turn.folders:
        return None
    return await asyncio.to_thread(lambda: tuple(map(_place, turn.folders)))


def _place(folder: AddedFolder) -> Place:
    try:
        branch = vcs.current(vcs.Checkout(folder.path))
    except vcs.GitError:
        branch = ""
    instructed = (folder.path / INSTRUCTIONS).is_file()
    return Place(folder.name, shown(str(folder.path)), branch, instructed, folder.write)


def _encode(places: Places) -> list[list[str]]:
    return [[place.name, place.path, *(["write"] if place.write else [])] for place in places]


def _rendered(places: Places) -> str:
    return (
        "The person added these folders beside the project. Name a file in one by its absolute path, or by a "
        "path that begins with the folder's name; give one as the path to search in it. Nothing is written "
        f"in those that are read-only.\n{_lines(places)}"
    )


def _update(places: Places) -> str:
    return f"The folders beside the project are now these, and no others.\n{_rendered(places)}"


def _removal(places: Places) -> str:
    return "There are no added folders beside the project any more."


def _lines(places: Places) -> str:
    return "\n".join(f"- {_line(place)}" for place in places)


def _line(place: Place) -> str:
    branch = f", git branch {place.branch}" if place.branch else ""
    own = f"; its own instructions are in {INSTRUCTIONS}" if place.instructed else ""
    access = "may be written" if place.write else "read-only"
    return f"{place.name}: {place.path} ({access}{branch}){own}"
