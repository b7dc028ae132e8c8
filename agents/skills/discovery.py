"""Find the skills of a folder. Unchanged folders are not read again: each is known by its stamp."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.config import Config
from agents.configuration import load
from agents.permission.rules import Ruleset, evaluate
from agents.skills.places import Place, places
from agents.skills.skill import FILE_NAME, BadSkill, Skill, read_skill
from sessions.confined import is_machine

logger = logging.getLogger(__name__)

MAX_DEPTH = 6
MAX_FOLDERS = 2000
"""Of one place: a repository must not be able to make a search of a whole disk."""
_CACHED = 64

Stamp = tuple[int, int, int] | None
"""Modification time in nanoseconds, size and number of the file; None where there is none."""


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """What is wrong with a file; shown with the problems of the configuration and named like them."""

    file: Path
    message: str
    line: int | None = None
    key: str = ""
    level: str = "error"

    def __str__(self) -> str:
        where = str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Found:
    """`skills` by name; what broke a rule is in `problems`, and the others count."""

    skills: Mapping[str, Skill]
    problems: Sequence[SkillProblem]


@dataclass(slots=True)
class _Search:
    """One look at all places; `stamps` is everything the result depends on."""

    skills: dict[str, Skill] = field(default_factory=dict)
    problems: list[SkillProblem] = field(default_factory=list)
    stamps: dict[Path, Stamp] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    left: int = 0

    def place(self, place: Place) -> None:
        self.left = MAX_FOLDERS
        self.stamps[place.folder] = _stamp(place.folder)
        if self.may_enter(place.folder, place):
            self.folder(place.folder, place, 0)
        if place.named and self.stamps[place.folder] is None:
            self.problems.append(
                SkillProblem(place.folder, "the folder named in skills.paths does not exist")
            )

    def folder(self, folder: Path, place: Place, depth: int) -> None:
        """A folder with a skill is not searched further: what lies below belongs to the skill."""
        self.stamps[folder] = _stamp(folder)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return
        if FILE_NAME in names:
            self.file(folder / FILE_NAME, place)
        if depth == MAX_DEPTH or (depth and FILE_NAME in names):
            return
        for name in names:
            if self.left and (folder / name).is_dir() and self.may_enter(folder / name, place):
                self.left -= 1
                self.folder(folder / name, place, depth + 1)

    def may_enter(self, path: Path, place: Place) -> bool:
        """Once each, however many links lead there; never out of the project by a link of its own."""
        real = os.path.realpath(path)
        beyond = place.within is not None and not Path(real).is_relative_to(place.within)
        if beyond or is_machine(Path(real)):
            self.stamps[path] = _stamp(path)
            self.problems.append(SkillProblem(path, "the link leads out of the project and is not followed"))
            return False
        known = real in self.seen
        self.seen.add(real)
        return not known

    def file(self, file: Path, place: Place) -> None:
        self.stamps[file] = _stamp(file)
        if not self.may_enter(file, place):
            return
        try:
            skill = read_skill(file, place.within)
        except BadSkill as error:
            self.problems.append(SkillProblem(file, f"the skill is left out: {error}", error.line))
            return
        winner = self.skills.setdefault(skill.name, skill)
        if winner is not skill:
            logger.warning("the skill %s is left out: %s is nearer", file, winner.location)


_cache: dict[tuple[Place, ...], tuple[Found, dict[Path, Stamp]]] = {}


def discover(directory: Path, config: Config) -> Found:
    """The skills that apply in a folder; cheap when nothing has changed. No file can make it raise."""
    key = tuple(places(directory, config.skills.paths))
    cached = _cache.get(key)
    if cached is not None and all(_stamp(path) == stamp for path, stamp in cached[1].items()):
        return cached[0]
    search = _Search()
    for place in key:
        search.place(place)
    found = Found(search.skills, search.problems)
    while len(_cache) >= _CACHED:
        _cache.pop(next(iter(_cache)), None)
    _cache[key] = (found, search.stamps)
    for problem in found.problems:
        logger.warning("%s", problem)
    return found


def permitted(found: Found, rules: Ruleset) -> list[Skill]:
    """Those that an agent may know of: a denied one is not listed. By name."""
    return [
        skill
        for name, skill in sorted(found.skills.items())
        if evaluate("skill", name, rules).action != "deny"
    ]


def skill_problems(directory: Path) -> Sequence[SkillProblem]:
    """What to tell beside the problems of the configuration."""
    return discover(directory, load(directory).config).problems


def _stamp(path: Path) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
