"""Which instruction files count for a folder: global ones, the project's, then those the configuration names.

A project's are read as far as its reach goes (agents/config/trust/reach.py), which holds links.

Synchronous; call it from a worker thread.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from django.conf import settings

from agents.agent.context.sources.files import Document, document, first_of
from agents.config.trust.reach import Reach
from agents.config.trust.wants import Want
from agents.toolkit.shared.ripgrep import NOISE, excluding
from sessions.core import variables
from sessions.project import search

_CLAUDE = "CLAUDE.md"
_NAMES = ("AGENTS.md", _CLAUDE, "CONTEXT.md")
MAX_MATCHES = 50
"""Files of one pattern."""

_SEARCH_SECONDS = 5
_WILD = re.compile(r"[*?\[{]")

logger = logging.getLogger(__name__)


def ambient(directory: Path, worktree: Path) -> list[Document]:
    """The user's own file, which may be that of another program where there is none of ours, then for each
    folder from the project's root down to `directory` the first of its names."""
    own = document(Path(settings.CONFIG_DIRS[0]) / "AGENTS.md")
    found = [own or (document(Path.home() / ".claude" / _CLAUDE) if _CLAUDE in names() else None)]
    if not _project_disabled():
        chain = folders(directory, worktree)
        reach = Reach(chain[0])
        found += [first_of(folder, names(), reach) for folder in chain]
    return [one for one in found if one is not None]


def names() -> Sequence[str]:
    """Of files with instructions; of a folder the first that is there counts."""
    without = (variables.DISABLE_CLAUDE_CODE, variables.DISABLE_CLAUDE_CODE_PROMPT)
    if any(variable.is_true() for variable in without):
        return [name for name in _NAMES if name != _CLAUDE]
    return _NAMES


def below(path: Path, directory: Path, worktree: Path) -> list[Path]:
    """The folders on the way to a file of the project whose instructions `ambient` does not give. What
    somebody else wrote (`node_modules`) gives none."""
    known = folders(directory, worktree)
    return [folder for folder in on_the_way(path, known[0]) if folder not in known]


def on_the_way(path: Path, root: Path) -> list[Path]:
    """The folders from that of a file up to the root of its project. None for what somebody else wrote."""
    if _project_disabled() or root not in path.parents or root.parent == root:
        return []
    if any(part in NOISE for part in path.relative_to(root).parts):
        return []
    return [folder for folder in path.parents if folder.is_relative_to(root)]


def of_folder(folder: Path, root: Path) -> Document | None:
    """The instructions of one folder of the project with this root."""
    return None if _project_disabled() else first_of(folder, names(), Reach(root))


def named(entry: str, directory: Path, worktree: Path) -> list[Document]:
    """The files of one entry of `instructions`: a path or a glob, from the home folder (`~/`), absolute, or
    in each folder of the project."""
    if entry.startswith("~/"):
        return _documents([Path.home()], entry[2:], None)
    if os.path.isabs(entry):
        return _documents([Path("/")], entry, None)
    if _project_disabled():
        return []
    chain = folders(directory, worktree)
    return _documents(chain, entry, None if _climbs(entry) else Reach(chain[0]))


def wants(directory: Path, worktree: Path, entries: Sequence[str]) -> list[Want]:
    """The instructions of a project, also those that its configuration names by `entries`, that lead out of
    it by a link."""
    if _project_disabled():
        return []
    chain = folders(directory, worktree)
    inside = [one for one in entries if "://" not in one and not one.startswith(("~/", "/"))]
    fixed = [_split(entry)[0] for entry in inside if not _climbs(entry)]
    return Reach(chain[0]).wants(folder / name for folder in chain for name in (*names(), *fixed))


def folders(directory: Path, worktree: Path) -> list[Path]:
    """From the project's root down to `directory`. A worktree of `/` stands for "no project"."""
    chain = [path for path in (directory, *directory.parents) if path.is_relative_to(worktree)]
    return chain[::-1] if chain and worktree.parent != worktree else [directory]


def _climbs(entry: str) -> bool:
    """Whether it says itself that it leads out: it counts only where the user wrote or trusted it."""
    return ".." in Path(entry).parts


def _project_disabled() -> bool:
    return variables.DISABLE_PROJECT_CONFIG.is_true()


def _documents(roots: Sequence[Path], entry: str, reach: Reach | None) -> list[Document]:
    paths = [path for root in roots for path in _matches(root, entry, reach)]
    return [found for path in paths if (found := document(path, reach))]


def _matches(root: Path, entry: str, reach: Reach | None) -> Iterator[Path]:
    fixed, pattern = _split(entry)
    base = root / fixed
    if not pattern:
        yield base
    elif reach is None or reach.reaches(base):
        yield from (base / name for name in _search(base, pattern))


def _split(entry: str) -> tuple[str, str]:
    """The part that is a path, and the pattern below it."""
    parts = Path(entry).parts
    fixed = list(takewhile(lambda part: not _WILD.search(part), parts))
    return str(Path(*fixed)), "/".join(parts[len(fixed) :])


def _search(base: Path, pattern: str) -> list[str]:
    """By ripgrep, which is quick in a large project; what git ignores counts; links do not, nor do folders
    that nobody means."""
    options = ["--no-config", "--no-messages", "--no-ignore", "--hidden"]
    wanted = [f"--glob=/{pattern}", *excluding()]
    try:
        command = [search.binary(), "--files", "--null", *options, *wanted]
        done = subprocess.run(command, cwd=base, capture_output=True, timeout=_SEARCH_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired, search.SearchFailed) as error:
        logger.warning("the instructions %s in %s were not searched for: %s", pattern, base, error)
        return []
    return sorted(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)[:MAX_MATCHES]
