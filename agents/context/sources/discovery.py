"""Which instruction files count for a folder: global ones, the project's, then those the configuration names.

Source: seed 000 §6.4; seed 002 (instruction service). Synchronous; call it from a worker thread.
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

from agents.context.sources.files import Document, document, first_of
from agents.tools.shared.ripgrep import excluding
from sessions import search

NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
MAX_MATCHES = 50
"""Files of one pattern."""

_SEARCH_SECONDS = 5
_WILD = re.compile(r"[*?\[{]")

logger = logging.getLogger(__name__)


def ambient(directory: Path, worktree: Path) -> list[Document]:
    """Global files, then for each folder from the project's root down to `directory` the first of NAMES."""
    known = (Path(settings.CONFIG_DIR) / "AGENTS.md", Path.home() / ".claude" / "CLAUDE.md")
    found = [document(path) for path in known]
    if not _project_disabled():
        found += [first_of(folder, NAMES) for folder in folders(directory, worktree)]
    return [one for one in found if one is not None]


def named(entry: str, directory: Path, worktree: Path) -> list[Document]:
    """The files of one entry of `instructions`: a path or a glob, from the home folder (`~/`), absolute, or
    in each folder of the project."""
    if entry.startswith("~/"):
        roots: Sequence[Path] = [Path.home()]
    elif os.path.isabs(entry):
        roots = [Path("/")]
    else:
        roots = [] if _project_disabled() else folders(directory, worktree)
    paths = [path for root in roots for path in _matches(root, entry.removeprefix("~/"))]
    return [found for path in paths if (found := document(path))]


def folders(directory: Path, worktree: Path) -> list[Path]:
    """From the project's root down to `directory`. A worktree of `/` stands for "no project"."""
    chain = [path for path in (directory, *directory.parents) if path.is_relative_to(worktree)]
    return chain[::-1] if chain and worktree.parent != worktree else [directory]


def _project_disabled() -> bool:
    return os.environ.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in ("1", "true")


def _matches(root: Path, pattern: str) -> Iterator[Path]:
    parts = Path(pattern).parts
    fixed = list(takewhile(lambda part: not _WILD.search(part), parts))
    base = root.joinpath(*fixed)
    if len(fixed) == len(parts):
        yield base
    else:
        yield from (base / name for name in _search(base, "/".join(parts[len(fixed) :])))


def _search(base: Path, pattern: str) -> list[str]:
    """By ripgrep, which is quick in a large project; what git ignores counts, folders nobody means do not."""
    options = ["--no-config", "--no-messages", "--no-ignore", "--hidden", "--follow"]
    wanted = [f"--glob=/{pattern}", *excluding()]
    try:
        command = [search.binary(), "--files", "--null", *options, *wanted]
        done = subprocess.run(command, cwd=base, capture_output=True, timeout=_SEARCH_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired, search.SearchFailed) as error:
        logger.warning("the instructions %s in %s were not searched for: %s", pattern, base, error)
        return []
    return sorted(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)[:MAX_MATCHES]
