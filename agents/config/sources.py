"""Which files the configuration may come from, farthest first: a nearer one lies over those before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sessions.core import paths


@dataclass(frozen=True, slots=True)
class Source:
    """A file that may hold JSON or, with `markdown`, a configuration folder whose Markdown files count.
    `own`: the user's, and not the project's."""

    path: Path
    own: bool
    markdown: bool = False


DISABLED = "OPENCODE_DISABLE_PROJECT_CONFIG"
_PROJECT = ("opencode.json", "opencode.jsonc")
_GLOBAL = ("config.json", *_PROJECT)


def user_sources(environ: Mapping[str, str]) -> list[Source]:
    """The user's own, whether they exist or not."""
    folder = paths.config_directory(environ)
    found = [*(Source(folder / name, True) for name in _GLOBAL), Source(folder, True, markdown=True)]
    named = named_file(environ)
    return [*found, Source(named, True)] if named else found


def named_file(environ: Mapping[str, str]) -> Path | None:
    """The file of `OPENCODE_CONFIG`, which has to exist."""
    name = environ.get("OPENCODE_CONFIG")
    if not name:
        return None
    return paths.home(environ) / name[2:] if name.startswith("~/") else Path(name).absolute()


def project_sources(directory: Path, environ: Mapping[str, str]) -> list[Source]:
    """The files from the git root down to `directory`, then the folders `.opencode` in the same order.

    Outside of a git repository only `directory` itself counts: a folder above may be anybody's.
    """
    if is_disabled(environ):
        return []
    folders = list(_up_to_git_root(directory))[::-1]
    found = [Source(folder / name, False) for folder in folders for name in _PROJECT]
    for folder in (folder / ".opencode" for folder in folders):
        found += [Source(folder / name, False) for name in _PROJECT]
        found.append(Source(folder, False, markdown=True))
    return found


def is_disabled(environ: Mapping[str, str]) -> bool:
    """Whether a project's files are left out."""
    return environ.get(DISABLED, "").lower() in ("1", "true")


def _up_to_git_root(directory: Path) -> Iterator[Path]:
    chain = [directory, *directory.parents]
    root = next((folder for folder in chain if (folder / ".git").exists()), directory)
    return iter(chain[: chain.index(root) + 1])
