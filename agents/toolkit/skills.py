"""Skills: folders with a `SKILL.md` that say how a kind of work is done, read when they are needed.

Unchanged folders are not read again: each is known by its stamp. A body stays on the disk.
Source: OpenCode's documentation of `SKILL.md` (frontmatter with name and description).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.config.configuration import load
from agents.config.schema import Config, SkillsConfig
from agents.toolkit.definitions import PROMPTS
from agents.toolkit.file_names import printable
from agents.toolkit.permission.rules import Ruleset, evaluate
from agents.toolkit.remote_skills import folder_of
from sessions.core import variables
from sessions.core.bounded import Bounded
from sessions.core.confined import is_machine, opened
from sessions.core.platform.stamps import Stamp, stamp
from sessions.core.repository import Repository
from sessions.core.sentences import Sentence

FILE_NAME = "SKILL.md"
MAX_BYTES = 1024 * 1024
"""Of a whole file; a larger one is refused before it is read."""
MAX_HEAD = 64 * 1024
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_FILES = 50
"""Names of files beside a skill that are listed."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)


class BadSkill(Exception):
    """The file breaks a rule; the text says which one, `line` where if that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Skill:
    """`location` is its file; the folder around it may hold others that the body speaks of. Links of it must
    not lead out of `within`; None for the user's own."""

    name: str
    description: str
    location: Path
    within: Path | None = None

    @property
    def folder(self) -> Path:
        return self.location.parent


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
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


def read_skill(file: Path, within: Path | None = None) -> tuple[Skill, list[SkillProblem]]:
    """The skill of a file, from its frontmatter alone, and what is odd about it. Raises BadSkill."""
    from agents.config.frontmatter import MENDED

    fields, mended = _fields(_read(file, within, MAX_HEAD))
    odd = [SkillProblem(file, MENDED, line + 1, key, "warning") for key, line in mended.items()]
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not name:
        raise BadSkill(Sentence("`name` is missing"))
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise BadSkill(
            Sentence(
                "`name` is %(name)s: it may have lower-case letters, digits and single hyphens "
                "between them, %(most)s characters at most",
                name=repr(printable(name[:80])),
                most=MAX_NAME,
            )
        )
    if name != file.parent.name:
        words = Sentence(
            "it goes by its name %(name)s, though the folder is %(parent)s",
            name=repr(name),
            parent=repr(printable(file.parent.name)),
        )
        odd.append(SkillProblem(file, words, level="warning"))
    if not isinstance(description, str) or not description.strip():
        raise BadSkill(Sentence("`description` is missing"))
    if len(description) > MAX_DESCRIPTION:
        raise BadSkill(
            Sentence(
                "`description` has %(count)s characters; the limit is %(most)s",
                count=len(description),
                most=MAX_DESCRIPTION,
            )
        )
    return Skill(name, " ".join(description.split()), file, within), odd


def body(skill: Skill) -> str:
    """What the file says below its frontmatter. Raises BadSkill when it is gone or has become too large."""
    text = _read(skill.location, skill.within, MAX_BYTES)
    return text[_end_of_head(text) :].decode("utf-8", "replace").strip()


def files_beside(skill: Skill) -> tuple[list[str], bool]:
    """Names of the other files of its folder, relative to it and sorted, and whether some are left out."""
    names: list[str] = []
    for folder, folders, files in os.walk(skill.folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if path != skill.location:
                names.append(printable(str(path.relative_to(skill.folder))))
            if len(names) > MAX_FILES:
                return names[:MAX_FILES], True
    return names, False


def _read(file: Path, within: Path | None, limit: int) -> bytes:
    """The beginning of a regular file. Raises BadSkill."""
    try:
        with opened(file, within) as content:
            size = os.fstat(content.fileno()).st_size
            if size > MAX_BYTES:
                raise BadSkill(
                    Sentence(
                        "it has %(size)s MB, the limit is %(most)s MB: put what is needed now and then "
                        "into files beside it",
                        size=f"{size / 1024**2:.1f}",
                        most=MAX_BYTES // 1024**2,
                    )
                )
            return content.read(limit).removeprefix(_BOM)
    except OSError as error:
        raise BadSkill(error.strerror or str(error)) from error


def _fields(head: bytes) -> tuple[dict[str, Any], dict[str, int]]:
    """The keys and values of the frontmatter, and the lines from 0 of those that were mended."""
    import yaml

    from agents.config.frontmatter import compose

    end = _end_of_head(head)
    if not end:
        raise BadSkill(
            Sentence("it does not begin with a frontmatter: `---`, name and description, `---`"),
            1,
        )
    try:
        front = head[:end].decode("utf-8").replace("\r\n", "\n").strip().removesuffix("---")
        root, mended = compose(front)
        fields = yaml.constructor.SafeConstructor().construct_document(root) if root else None
    except UnicodeDecodeError as error:
        raise BadSkill(
            Sentence("the frontmatter is not UTF-8 text (byte %(start)s)", start=error.start)
        ) from error
    except RecursionError as error:
        raise BadSkill(Sentence("the frontmatter is nested too deeply")) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it cannot be read"
        raise BadSkill(
            Sentence("the frontmatter is not YAML: %(reason)s", reason=reason),
            mark.line + 1 if mark else None,
        ) from error
    if not isinstance(fields, dict):
        raise BadSkill(Sentence("the frontmatter has no keys: it needs name and description"))
    return fields, mended


def _end_of_head(text: bytes) -> int:
    """Where the line that closes the frontmatter ends; 0 where there is none."""
    fences = _FENCE.finditer(text)
    first, second = next(fences, None), next(fences, None)
    return second.end() if first is not None and first.start() == 0 and second is not None else 0


# Where skills are looked for, nearest first: a nearer one of the same name wins.

_OWN = ("skills", "skill")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to search. Links in it must not lead out of `within`; None for the user's own folders.

    `named` says that a configuration names it, so that it has to exist.
    """

    folder: Path
    within: Path | None = None
    named: bool = False


_OURS = Place(PROMPTS / "skills")
"""What comes with the program: how it is configured."""


def places(directory: Path, config: SkillsConfig, environ: Mapping[str, str] = os.environ) -> list[Place]:
    """The project's, from `directory` up to its root, those that the configuration names, folders before
    addresses, the user's own, and the one of this program.

    Variables leave out the project's, or those that other agents have as well.
    """
    try:
        here, worktree = directory.resolve(strict=True), Repository.of(directory).worktree
    except OSError:
        return []
    disabled = variables.DISABLE_PROJECT_CONFIG.is_true(environ)
    found: dict[Path, Place] = {}
    others = tuple(_of_others(environ))
    project = () if disabled else _of_project(here, worktree, others)
    named = chain(_of_config(here, worktree, config.paths), map(_fetched, config.urls))
    for place in chain(project, named, _of_user(others), [_OURS]):
        found.setdefault(place.folder, place)
    return list(found.values())


def _of_others(environ: Mapping[str, str]) -> Iterator[str]:
    """The folders of other agents, in a project and in the home folder."""
    if variables.DISABLE_EXTERNAL_SKILLS.is_true(environ):
        return
    without = (variables.DISABLE_CLAUDE_CODE, variables.DISABLE_CLAUDE_CODE_SKILLS)
    if not any(variable.is_true(environ) for variable in without):
        yield ".claude/skills"
    yield ".agents/skills"


def _of_project(here: Path, worktree: Path, others: Sequence[str]) -> Iterator[Place]:
    names = (*(f".opencode/{name}" for name in _OWN), *others)
    for folder in (here, *here.parents):
        if not folder.is_relative_to(worktree):
            break
        yield from (Place(folder / name, within=worktree) for name in names)


def _of_config(here: Path, worktree: Path, named: list[str]) -> Iterator[Place]:
    """Relative to the session's folder, or else to the root of the project."""
    for name in named:
        given = Path(name).expanduser() if name.startswith("~") else here / name
        if not given.exists():
            given = worktree / name
        folder = Path(os.path.normpath(given))
        yield Place(folder, within=worktree if folder.is_relative_to(worktree) else None, named=True)


def _fetched(url: str) -> Place:
    folder = folder_of(url)
    return Place(folder, within=folder)


def _of_user(others: Sequence[str]) -> Iterator[Place]:
    for folder in reversed(settings.CONFIG_DIRS):
        yield from (Place(Path(folder) / name) for name in _OWN)
    yield from (Place(Path.home() / name) for name in others)


logger = logging.getLogger(__name__)

MAX_DEPTH = 6
MAX_FOLDERS = 2000
"""Of one place: a repository must not be able to make a search of a whole disk."""
_CACHED = 64


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
        self.stamps[place.folder] = stamp(place.folder)
        if self.may_enter(place.folder, place):
            self.folder(place.folder, place, 0)
        if place.named and self.stamps[place.folder] is None:
            self.problems.append(
                SkillProblem(place.folder, Sentence("the folder named in skills.paths does not exist"))
            )

    def folder(self, folder: Path, place: Place, depth: int) -> None:
        """A folder with a skill is not searched further: what lies below belongs to the skill."""
        self.stamps[folder] = stamp(folder)
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
            self.stamps[path] = stamp(path)
            self.problems.append(
                SkillProblem(path, Sentence("the link leads out of the project and is not followed"))
            )
            return False
        known = real in self.seen
        self.seen.add(real)
        return not known

    def file(self, file: Path, place: Place) -> None:
        self.stamps[file] = stamp(file)
        if not self.may_enter(file, place):
            return
        try:
            skill, odd = read_skill(file, place.within)
        except BadSkill as error:
            self.problems.append(
                SkillProblem(file, Sentence("the skill is left out: %(error)s", error=error), error.line)
            )
            return
        self.problems += odd
        winner = self.skills.setdefault(skill.name, skill)
        if winner is not skill:
            logger.warning("the skill %s is left out: %s is nearer", file, winner.location)


_cache: Bounded[tuple[Place, ...], tuple[Found, dict[Path, Stamp]]] = Bounded(_CACHED)


def discover(directory: Path, config: Config) -> Found:
    """The skills that apply in a folder; cheap when nothing has changed. No file can make it raise."""
    key = tuple(places(directory, config.skills))
    cached = _cache.get(key)
    if cached is not None and all(stamp(path) == known for path, known in cached[1].items()):
        return cached[0]
    search = _Search()
    for place in key:
        search.place(place)
    found = Found(search.skills, search.problems)
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
