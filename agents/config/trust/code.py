"""Files of the user and of the project that this program may load: plugins and custom tools, in Python or, as
OpenCode has them, in JavaScript and TypeScript.

What is run is the very content that was compared with the trusted one: it is read once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from django.conf import settings

from agents.config.javascript import ENDINGS, SCRIPTS, imported
from agents.config.loader import is_disabled, load
from agents.config.plugins import PACKAGES, entry_of, packages_of
from agents.config.trust.store import Trusted, TrustStore, digest, name_in
from agents.config.trust.wants import HOW
from sessions.core.confined import read_whole
from sessions.core.repository import Repository

logger = logging.getLogger(__name__)

MAX_BYTES = 1024 * 1024
Kind = Literal["plugin", "tool", "packages", "module"]
"""A module is what one of the others imports."""
_FOLDERS: Mapping[str, Kind] = {"plugin": "plugin", "plugins": "plugin", "tool": "tool", "tools": "tool"}
MAX_MODULES = 500
_told: set[tuple[Path, str]] = set()


@dataclass(frozen=True, slots=True)
class CodeFile:
    """`name` is relative to the worktree, and the whole path of a file of the user's own. `home` is the
    folder whose packages it may use. A `named` one runs only where the configuration names it. `problem`
    says why a file cannot be loaded at all."""

    kind: Kind
    path: Path
    name: str
    own: bool
    trusted: bool
    home: Path
    content: bytes = b""
    problem: str = ""
    named: bool = False
    modules: tuple[CodeFile, ...] = ()
    """For JavaScript, the files that are imported by it, or by one of these."""
    packages: bytes = b""
    """For JavaScript, what is in the file of kind `packages` in its home, once that is trusted too."""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What the configuration that names it gives it."""

    @property
    def digest(self) -> str:
        return digest(self.content)

    @property
    def in_python(self) -> bool:
        return self.path.suffix == ".py"

    @property
    def runs(self) -> bool:
        """Whether it may run, with all that it imports."""
        return all(one.trusted and not one.problem for one in (self, *self.modules))


def code_files(directory: Path) -> list[CodeFile]:
    """Those that the configuration names, then the user's own, which are always trusted, then the project's
    from its root to `directory`; last the packages and the modules of all of them, each once."""
    look = _Look(directory)
    found = [*look.named(), *look.own(), *look.of_project()]
    found += look.packages(found)
    known = {file.path for file in found}
    modules = {module.path: module for file in found for module in file.modules}
    found += (module for path, module in modules.items() if path not in known)
    for file in found:
        mark = (file.path, file.digest)
        if not file.trusted and mark not in _told:
            _told.add(mark)
            logger.warning("%s does not run until you trust it %s", file.path, HOW)
    return found


def waiting(directory: Path) -> list[CodeFile]:
    """The project's that do not run, for they are not trusted."""
    return [file for file in code_files(directory) if not file.trusted and not file.problem]


def is_trusted(directory: Path, file: CodeFile) -> bool:
    """Whether the content that this has is still trusted, whatever there is by now. Blocks."""
    store, worktree = TrustStore(Path(settings.TRUST_FILE)), Repository.of(directory).worktree
    return all(one.own or store.holds(worktree, {one.name: one.digest}) for one in (file, *file.modules))


class _Look:
    """At the files that concern one folder. Blocks."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._own = [Path(folder) for folder in settings.CONFIG_DIRS]
        try:
            self._worktree, self._here = Repository.of(directory).worktree, directory.resolve()
        except OSError:
            self._worktree = self._here = directory

    @cached_property
    def _trusted(self) -> Trusted:
        return TrustStore(Path(settings.TRUST_FILE)).now(self._worktree)

    def named(self) -> Iterator[CodeFile]:
        for one in load(self._directory).named:
            path = entry_of(one.path)
            if path.is_file():
                file = self._file("plugin", path, one.own, packages_of(path, self._worktree))
                yield replace(file, named=True)

    def own(self) -> Iterator[CodeFile]:
        for folder in self._own:
            for kind, path in _code(folder):
                yield self._file(kind, path, True, folder)

    def of_project(self) -> Iterator[CodeFile]:
        if is_disabled(os.environ):
            return
        above = [
            folder for folder in (self._here, *self._here.parents) if folder.is_relative_to(self._worktree)
        ]
        for folder in (folder / ".opencode" for folder in reversed(above)):
            for kind, path in _code(folder) if folder not in self._own else ():
                yield self._file(kind, path, False, folder)

    def packages(self, files: Sequence[CodeFile]) -> Iterator[CodeFile]:
        for home, own in dict.fromkeys((file.home, file.own) for file in files if not file.in_python):
            if (home / PACKAGES).is_file():
                yield self._file("packages", home / PACKAGES, own, home)

    def _file(self, kind: Kind, path: Path, own: bool, home: Path) -> CodeFile:
        file = self._one(kind, path, own, home)
        return file if kind == "packages" or file.in_python else replace(file, modules=self._modules(file))

    def _modules(self, file: CodeFile) -> tuple[CodeFile, ...]:
        """All that is reached from a file."""
        found: dict[Path, CodeFile] = {}
        left = imported(file.path, file.content)
        while left and len(found) < MAX_MODULES:
            path = left.pop()
            if path != file.path and path not in found:
                found[path] = self._one("module", path, file.own, file.home)
                left += imported(path, found[path].content) if path.suffix in SCRIPTS else ()
        return tuple(found.values())

    def _one(self, kind: Kind, path: Path, own: bool, home: Path) -> CodeFile:
        """What the user names within the project is as changeable as that, and takes trust as well."""
        own = own and (path.is_relative_to(self._own[0]) or not path.is_relative_to(self._worktree))
        content, problem = _read(path)
        name = str(path) if own else name_in(self._worktree, path)
        trusted = own or (not problem and self._trusted.holds({name: digest(content)}))
        return CodeFile(kind, path, name, own, trusted, home, content, problem)


def _code(folder: Path) -> Iterator[tuple[Kind, Path]]:
    """Names that begin with `_` or `.` are for other uses."""
    for inner, kind in _FOLDERS.items():
        try:
            names = sorted(os.listdir(folder / inner))
        except OSError:
            continue
        wanted = (name for name in names if name.endswith((".py", *ENDINGS)) and name[0] not in "._")
        yield from ((kind, folder / inner / name) for name in wanted)


def _read(path: Path) -> tuple[bytes, str]:
    try:
        return read_whole(path, None, MAX_BYTES), ""
    except OSError as error:
        return b"", error.strerror or str(error)
