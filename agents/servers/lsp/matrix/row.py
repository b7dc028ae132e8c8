"""What one language server is: data, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

NOTHING: Mapping[str, Any] = MappingProxyType({})

TSSERVER = "$TSSERVER"
"""In `initialization`: the `tsserver.js` of the TypeScript that the server is to use."""
TSDK = "$TSDK"
"""The folder it is in."""

NODE_LOCKS = ("package-lock.json", "bun.lock", "bun.lockb", "pnpm-lock.yaml", "yarn.lock")


@dataclass(frozen=True, slots=True)
class Package:
    """From a package registry: what is installed, each as the registry's client takes it."""

    registry: Literal["npm", "pypi"]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A manifest (TOML) whose folder is the root of the manifests below it when it has `table`; the key
    `exclude` of that table lists folders that are not of it."""

    file: str
    table: str
    exclude: str


@dataclass(frozen=True, slots=True)
class Row:
    """`files` are extensions with their dot, or whole names (`Dockerfile`); `commands` are tried in order.

    `roots` are groups of markers, each the name or path of something in a folder, or a pattern: the nearest
    folder upward with one of the first group counts, else of the next group; without any, the worktree if
    `fallback`. `unless` are markers that hand the file to another server when they are at that root or
    nearer, `unless_nearer` only when they are nearer. Of the servers of one `choice` one runs: those that
    the configuration names, else the first that is installed.

    `project_code` says what of the project the server runs by design, empty where it runs nothing; the
    others wait for trust, with `code_in` only where one of these paths is there. `install` is a package, or
    in words how to get it. `named`: the configuration has an entry for it; `own_command`: with a command.
    """

    id: str
    language: str
    files: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    install: Package | str = ""
    roots: tuple[tuple[str, ...], ...] = ()
    fallback: bool = True
    unless: tuple[str, ...] = ()
    unless_nearer: tuple[str, ...] = ()
    workspace: Workspace | None = None
    choice: str = ""
    project_code: str = ""
    code_in: tuple[str, ...] = ()
    initialization: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    environment: tuple[tuple[str, str], ...] = ()
    sandbox: bool = False
    """Whether it is confined."""
    named: bool = False
    own_command: bool = False

    def serves(self, name: str) -> bool:
        """Whether it is for a file of this name."""
        lower = name.lower()
        return any(lower.endswith(one) if one.startswith(".") else name == one for one in self.files)


def npm(*names: str) -> Package:
    return Package("npm", names)


def pypi(*names: str) -> Package:
    return Package("pypi", names)
