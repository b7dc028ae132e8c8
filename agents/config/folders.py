"""The Markdown files of a configuration folder: agents and commands, one to a file, named by their path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from agents.config.problem import Problem
from agents.config.trust.reach import Reach
from sessions.core.confined import LeadsOut
from sessions.core.platform.stamps import Stamp, stamp
from sessions.core.sentences import Sentence

_MODE = "mode"
"""The older name of primary agents; its folders have no folders below them, and count over the agents'."""
SECTIONS = {
    "agent": "agent",
    "agents": "agent",
    "command": "command",
    "commands": "command",
    "mode": _MODE,
    "modes": _MODE,
}
"""The section that the files of a folder are entries of, by the folder's name."""

MAX_FILES = 1000
MAX_FOLDERS = 500
_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file and what it is an entry of; `name` is its path below the folder, without `.md`."""

    file: Path
    section: str
    name: str


@dataclass(slots=True)
class Listing:
    """`stamps` are those of every folder looked at, from before it was read, also of one that is missing."""

    entries: list[Entry] = field(default_factory=list)
    reach: Reach | None = None
    stamps: dict[Path, Stamp] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    beyond: dict[Path, LeadsOut] = field(default_factory=dict)


def listing(folder: Path, reach: Reach | None = None) -> Listing:
    """The entries of a configuration folder, in the order of their paths. A project's comes with its reach;
    the folders `beyond` that are not looked into."""
    found = Listing(reach=reach)
    every = (_entries(folder / name, folder / name, section, (), found) for name, section in SECTIONS.items())
    found.entries = list(islice(chain.from_iterable(every), MAX_FILES))
    if len(found.entries) == MAX_FILES or len(found.stamps) > MAX_FOLDERS:
        message = Sentence(
            "there is too much here to read more than %(files)s files or %(folders)s folders",
            files=MAX_FILES,
            folders=MAX_FOLDERS,
        )
        found.problems.append(Problem(folder, None, "", message))
    return found


def _entries(
    folder: Path, top: Path, section: str, around: tuple[str, ...], found: Listing
) -> Iterator[Entry]:
    """What is in a folder and those below it; `around` are the real paths of the folders that lead here."""
    found.stamps[folder] = stamp(folder)
    if found.stamps[folder] is None or len(found.stamps) > MAX_FOLDERS:
        return
    try:
        if found.reach is not None:
            found.reach.root(folder)
    except LeadsOut as error:
        found.beyond[folder] = error
        return
    real = os.path.realpath(folder)
    if real in around:
        found.problems.append(
            Problem(folder, None, "", Sentence("a link that leads into itself; it is not followed"))
        )
        return
    try:
        items = sorted(os.scandir(folder), key=lambda item: item.name)
    except OSError as error:
        found.problems.append(Problem(folder, None, "", error.strerror or str(error)))
        return
    for item in items:
        path = folder / item.name
        if item.name.startswith(".") or not _is_text(item.name):
            continue
        if os.path.isdir(path):
            if section == _MODE:
                continue
            yield from _entries(path, top, section, (*around, real), found)
        elif item.name.endswith(_SUFFIX):
            yield Entry(path, section, path.relative_to(top).as_posix().removesuffix(_SUFFIX))


def _is_text(name: str) -> bool:
    """Whether a file name can be written as UTF-8, and so shown and sent."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
