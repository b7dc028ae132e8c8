"""Files of the user and of the project that this program may load: plugins and custom tools, in Python or, as
OpenCode has them, in JavaScript and TypeScript.

What is run is the very content that was compared with the trusted one: it is read once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings

from agents.config.javascript import ENDINGS
from agents.config.trust.store import TrustStore, digest, name_in
from agents.config.trust.wants import HOW
from sessions.core.confined import read_whole
from sessions.core.repository import Repository

logger = logging.getLogger(__name__)

MAX_BYTES = 1024 * 1024
Kind = Literal["plugin", "tool", "packages"]
_FOLDERS: dict[Kind, Sequence[str]] = {
    "plugin": ("plugin", "plugins"),
    "tool": ("tool", "tools"),
    "packages": (),
}
_PACKAGES = "package.json"
_told: set[tuple[Path, str]] = set()


@dataclass(frozen=True, slots=True)
class CodeFile:
    """`name` is relative to the worktree, and the whole path of a file of the user's own. `problem` says why
    a file cannot be loaded at all."""

    kind: Kind
    path: Path
    name: str
    own: bool
    trusted: bool
    content: bytes = b""
    problem: str = ""
    packages: bytes = b""
    """For JavaScript, what is in the file of kind `packages` beside its folder, once that is trusted too."""

    @property
    def digest(self) -> str:
        return digest(self.content)

    @property
    def in_python(self) -> bool:
        return self.path.suffix == ".py"


def code_files(directory: Path, *kinds: Kind) -> list[CodeFile]:
    """The user's own files, which are always trusted, then the project's from its root to `directory`."""
    found = [*_own(kinds), *_of_project(directory, kinds)]
    for file in found:
        mark = (file.path, file.digest)
        if not file.trusted and mark not in _told:
            _told.add(mark)
            logger.warning("%s does not run until you trust it %s", file.path, HOW)
    return found


def waiting(directory: Path) -> list[CodeFile]:
    """The project's that do not run, for they are not trusted."""
    return [
        file for file in _of_project(directory, ("plugin", "tool")) if not file.trusted and not file.problem
    ]


def _own(kinds: tuple[Kind, ...]) -> Iterator[CodeFile]:
    for kind, path in _code(Path(settings.CONFIG_DIR), kinds):
        content, problem = _read(path)
        yield CodeFile(kind, path, str(path), True, True, content, problem)


def _of_project(directory: Path, kinds: tuple[Kind, ...]) -> Iterator[CodeFile]:
    if os.environ.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in ("1", "true"):
        return
    try:
        worktree, here = Repository.of(directory).worktree, directory.resolve()
    except OSError:
        return
    above = [folder for folder in (here, *here.parents) if folder.is_relative_to(worktree)]
    paths = [found for folder in reversed(above) for found in _code(folder / ".opencode", kinds)]
    if not paths:
        return
    store = TrustStore(Path(settings.TRUST_FILE))
    for kind, path in paths:
        content, problem = _read(path)
        name = name_in(worktree, path)
        trusted = not problem and store.holds(worktree, {name: digest(content)})
        yield CodeFile(kind, path, name, False, trusted, content, problem)


def _code(folder: Path, kinds: tuple[Kind, ...]) -> Iterator[tuple[Kind, Path]]:
    """Names that begin with `_` or `.` are for other uses. The packages that JavaScript uses come last."""
    javascript = False
    for kind in kinds:
        for inner in _FOLDERS[kind]:
            try:
                names = sorted(os.listdir(folder / inner))
            except OSError:
                continue
            wanted = (name for name in names if name.endswith((".py", *ENDINGS)) and name[0] not in "._")
            for name in wanted:
                javascript |= not name.endswith(".py")
                yield kind, folder / inner / name
    if javascript and "packages" in kinds and (folder / _PACKAGES).is_file():
        yield "packages", folder / _PACKAGES


def _read(path: Path) -> tuple[bytes, str]:
    try:
        return read_whole(path, None, MAX_BYTES), ""
    except OSError as error:
        return b"", error.strerror or str(error)
