"""The configuration of a directory: every source read, merged and checked, cached until one changes.

Order and names are those of OpenCode's documentation of `opencode.json`.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config import unused
from agents.config.check import check
from agents.config.folders import listing
from agents.config.plugins import Named
from agents.config.problem import Problem
from agents.config.reader import Reading, beyond, merge, read_entry, read_file, read_text
from agents.config.schema import Config
from agents.config.trust.wants import Want
from agents.config.trusted import Gate
from sessions.core import paths, variables
from sessions.core.bounded import Bounded
from sessions.core.platform.stamps import Stamp, stamp
from sessions.core.sentences import Sentence

# Which files the configuration may come from, farthest first: a nearer one lies over those before it.


@dataclass(frozen=True, slots=True)
class Source:
    """A file that may hold JSON; with `markdown`, a configuration folder whose Markdown files count; with
    `text`, a variable of the environment by its name. `own`: the user's, and not the project's."""

    path: Path
    own: bool
    markdown: bool = False
    text: str | None = None

    @property
    def is_file(self) -> bool:
        return not self.markdown and self.text is None


_NAMES = ("opencode.json", "opencode.jsonc")
_GLOBAL = ("config.json", *_NAMES)


def sources(directory: Path | None, environ: Mapping[str, str]) -> list[Source]:
    """What there may be for a folder, or of the user's own alone for None, whether it exists or not
    (docs/decisions/0058-whose-configuration.md).

    A project's are the files from the git root down to `directory`, then the folders `.opencode` in the same
    order. Outside of a git repository only `directory` itself counts: a folder above may be anybody's.
    """
    first, *beside = paths.config_directories(environ)
    above = _up_to_git_root(directory)[::-1] if directory is not None else []
    counted = [] if is_disabled(environ) else above
    found = [*(Source(first / name, True) for name in _GLOBAL), Source(first, True, markdown=True)]
    if named := named_file(environ):
        found.append(Source(named, True))
    found += [Source(folder / name, False) for folder in counted for name in _NAMES]
    folders = dict.fromkeys((folder / ".opencode" for folder in counted), False)
    folders |= {
        folder: not (above and folder.is_relative_to(above[0])) for folder in beside if folder not in folders
    }
    for folder, own in folders.items():
        found += [*(Source(folder / name, own) for name in _NAMES), Source(folder, own, markdown=True)]
    if content := variables.CONFIG_CONTENT.read(environ):
        found.append(Source(Path(variables.CONFIG_CONTENT.name), True, text=content))
    found += (Source(paths.managed_config_directory(environ) / name, True) for name in _NAMES)
    return [*found, *_switches(environ)]


def _switches(environ: Mapping[str, str]) -> Iterator[Source]:
    """Variables that stand for a key of the configuration."""
    if rules := variables.PERMISSION.read(environ):
        yield Source(Path(variables.PERMISSION.name), True, text=f'{{"permission": {rules}}}')
    for variable, key in ((variables.DISABLE_AUTOCOMPACT, "auto"), (variables.DISABLE_PRUNE, "prune")):
        if variable.is_true(environ):
            yield Source(Path(variable.name), True, text=json.dumps({"compaction": {key: False}}))


def named_file(environ: Mapping[str, str]) -> Path | None:
    """The file of `OPENCODE_CONFIG`, which has to exist."""
    name = variables.CONFIG.read(environ)
    return paths.named_path(name, environ) if name else None


def is_disabled(environ: Mapping[str, str]) -> bool:
    """Whether a project's files are left out."""
    return variables.DISABLE_PROJECT_CONFIG.is_true(environ)


def _up_to_git_root(directory: Path) -> list[Path]:
    root = Path(_git_root(directory))
    chain = [directory, *directory.parents]
    return chain[: chain.index(root) + 1]


def _git_root(directory: Path) -> str:
    """The folder itself where there is none around it."""
    top = str(directory)  # as texts: each request and each step asks
    while not os.path.exists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return str(directory)
        top = above
    return top


logger = logging.getLogger(__name__)

_CACHED = 64
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "note": logging.INFO}


@dataclass(frozen=True, slots=True)
class Loaded:
    """`sources` are the files that were read, farthest first; `config` is shared and not to be changed.
    `wants` is what the project's files ask for that takes trust, trusted or not; `named` are the plugins
    that they name by path, likewise; `unused`, also among the problems, what only others read."""

    config: Config
    problems: list[Problem]
    sources: list[Path]
    wants: list[Want]
    named: list[Named]
    unused: list[Problem]

    @property
    def unreadable(self) -> bool:
        """Whether a whole file of it could not be read: what it says of permissions is not known."""
        return any(problem.level == "error" and not problem.key for problem in self.problems)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What was loaded, and all that it depends on: files and folders, and variables of the environment."""

    loaded: Loaded
    stamps: list[tuple[str, Stamp]]
    variables: dict[str, str | None]


class _Noted(Mapping[str, str]):
    """An environment that notes in `read` what is read of it."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.read: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        self.read[name] = self._environ.get(name)
        return self._environ[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._environ)

    def __len__(self) -> int:
        return len(self._environ)


_cache: Bounded[tuple[Path | None, str], _Entry] = Bounded(_CACHED)


def load(directory: Path | None, environ: Mapping[str, str] = os.environ) -> Loaded:
    """The configuration in force in `directory` (absolute), or the user's own alone for None.

    Never raises for what a file says: what is wrong is in `problems`, and the rest counts. Unchanged
    files are not read again.
    """
    key = directory, "" if directory is None else _git_root(directory)
    entry = _cache.get(key)
    if entry is None or not _is_current(entry, environ):
        entry = _read(directory, _Noted(environ))
        _cache[key] = entry
        for problem in entry.loaded.problems:
            logger.log(_LEVELS[problem.level], "%s", problem)
    return entry.loaded


def _is_current(entry: _Entry, environ: Mapping[str, str]) -> bool:
    if any(environ.get(name) != value for name, value in entry.variables.items()):
        return False
    return all(stamp(file) == known for file, known in entry.stamps)


def _read(directory: Path | None, environ: _Noted) -> _Entry:
    found = sources(directory, environ)
    # Stamped before reading: a file that changes meanwhile is read again at the next call.
    files = [source.path for source in found if source.is_file]
    stamps = {file: stamp(file) for file in (*files, paths.trust(environ))}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    wants: list[Want] = []
    idle: list[Problem] = []
    named: list[Named] = []
    read: list[Path] = []
    for file, own, reading in _readings(directory, found, stamps, environ):
        values = merge(values, reading.values)
        problems += reading.problems
        idle += reading.unused
        named += (Named(path, own) for path in reading.plugins)
        stamps |= {included: stamp(included) for included in reading.files}
        wants += [reading.want] if reading.want else []
        read.append(file)
    if values.get("autoshare"):
        values = {"share": "auto", **values}
    loaded = Loaded(check(values)[0], [*problems, *idle], read, wants, named, idle)
    return _Entry(loaded, _fewest(stamps), environ.read)


def _fewest(stamps: Mapping[Path, Stamp]) -> list[tuple[str, Stamp]]:
    """The same with one folder that is missing for all that would be in it."""
    fewest: dict[str, Stamp] = {}
    for path, known in stamps.items():
        missing = path
        while known is None and stamp(missing.parent) is None:
            missing = missing.parent
        if missing is path:
            fewest[str(path)] = known
        else:
            fewest.setdefault(str(missing), None)
    return list(fewest.items())


def _readings(
    directory: Path | None, found: list[Source], stamps: dict[Path, Stamp], environ: Mapping[str, str]
) -> Iterator[tuple[Path, bool, Reading]]:
    """Each source, and whether it is the user's own."""
    named = named_file(environ)
    gate = Gate(directory, environ) if directory is not None else None
    for source in found:
        file, through = source.path, None if source.own else gate
        if source.text is not None:
            yield file, True, read_text(source.text, file, directory or Path.cwd(), environ)
        elif source.markdown:
            yield from ((path, source.own, read) for path, read in _entries(file, stamps, environ, through))
        elif stamps[file] is not None and (source.own or not file.is_dir()):
            # A folder of that name is no configuration; one may stand there while a confined program runs.
            yield file, source.own, read_file(file, environ, through)
        elif file == named:
            missing = Problem(file, None, "", Sentence("the file named by OPENCODE_CONFIG does not exist"))
            yield file, True, Reading(problems=[missing])


def _entries(
    folder: Path, stamps: dict[Path, Stamp], environ: Mapping[str, str], gate: Gate | None
) -> Iterator[tuple[Path, Reading]]:
    """The Markdown files of a configuration folder, and what is there for others; what is added or removed
    shows in the folders' stamps."""
    found = listing(folder, gate.reach if gate is not None else None)
    stamps |= found.stamps | {entry.file: stamp(entry.file) for entry in found.entries}
    for entry in found.entries:
        yield entry.file, read_entry(entry, environ, gate)
    for path, error in found.beyond.items():
        yield path, beyond(path, error, gate)
    idle = unused.files(folder, environ, own=gate is None, stamps=stamps)
    if found.problems or idle:
        yield folder, Reading(problems=found.problems, unused=idle)
