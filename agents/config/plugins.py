"""What `plugin` of the configuration names: packages, and files by their path, each with options perhaps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sessions.core import paths

_INDEX = ("index.ts", "index.js", "index.mjs", "index.mts")
PACKAGES = "package.json"


@dataclass(frozen=True, slots=True)
class Named:
    """A file, or a folder that is a package. `own`: by the user's configuration, and not the project's."""

    path: Path
    own: bool


def entries(plugin: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and options; what is neither is left out."""
    for item in plugin if isinstance(plugin, list) else ():
        name, *more = item if isinstance(item, list) and item else [item]
        if isinstance(name, str) and name:
            yield name, more[0] if more and isinstance(more[0], dict) else {}


def path_of(name: str, base: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The absolute path that an entry names, relative to `base`; None for a package."""
    if name.startswith("file://"):
        return Path(unquote(urlsplit(name).path))
    if name.startswith("~/"):
        return paths.home(environ) / name[2:]
    return Path(os.path.normpath(base / name)) if name.startswith((".", "/")) else None


def located(plugin: Any, base: Path, environ: Mapping[str, str]) -> Any:
    """The same list with each path as a URL, which says the same wherever it stands."""
    if not isinstance(plugin, list):
        return plugin
    return [_located(item, base, environ) for item in plugin]


def _located(item: Any, base: Path, environ: Mapping[str, str]) -> Any:
    if isinstance(item, list) and item:
        return [_located(item[0], base, environ), *item[1:]]
    path = path_of(item, base, environ) if isinstance(item, str) else None
    return item if path is None else path.as_uri()


def entry_of(path: Path) -> Path:
    """The file that is run: of a folder the one that its `package.json` says, else its index. Blocks."""
    if not path.is_dir():
        return path
    said = entry_in(package_in(path))
    if said:
        return Path(os.path.normpath(path / said))
    return next((path / name for name in _INDEX if (path / name).is_file()), path / _INDEX[0])


def entry_in(package: Mapping[str, Any]) -> str:
    """What a `package.json` says is for the server, else what it is by itself; empty for nothing."""
    exports = package.get("exports")
    said = exports.get("./server") if isinstance(exports, dict) else None
    while isinstance(said, dict):  # by condition
        said = next((said[name] for name in ("bun", "import", "node", "default") if name in said), None)
    found = [said, package.get("main"), package.get("module")]
    return next((name for name in found if isinstance(name, str) and name), "")


def package_in(folder: Path) -> Mapping[str, Any]:
    """Its `package.json`; empty where there is none that can be read."""
    try:
        said = json.loads((folder / PACKAGES).read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def packages_of(file: Path, worktree: Path) -> Path:
    """The nearest folder with a `package.json`, from that of a file up to the worktree and without it: what
    the project itself is made of is not installed for a plugin. That of the file where there is none.
    Blocks."""
    for folder in file.parents:
        if folder == worktree or folder.parent == folder:
            break
        if (folder / PACKAGES).is_file():
            return folder
    return file.parent
