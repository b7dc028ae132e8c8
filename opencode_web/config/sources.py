"""Which files the configuration may come from, farthest first: a nearer one lies over those before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from opencode_web import paths

_PROJECT = ("opencode.json", "opencode.jsonc")
_GLOBAL = ("config.json", *_PROJECT)


def user_files(environ: Mapping[str, str]) -> list[Path]:
    """The user's own files, whether they exist or not."""
    folder = paths.config_directory(environ)
    files = [folder / name for name in _GLOBAL]
    named = named_file(environ)
    return [*files, named] if named else files


def named_file(environ: Mapping[str, str]) -> Path | None:
    """The file of `OPENCODE_CONFIG`, which has to exist."""
    name = environ.get("OPENCODE_CONFIG")
    if not name:
        return None
    return paths.home(environ) / name[2:] if name.startswith("~/") else Path(name).absolute()


def project_files(directory: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files from the git root down to `directory`, then those in `.opencode` in the same order.

    Outside of a git repository only `directory` itself counts: a folder above may be anybody's.
    """
    if environ.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in ("1", "true"):
        return []
    folders = list(_up_to_git_root(directory))[::-1]
    plain = [folder / name for folder in folders for name in _PROJECT]
    return [*plain, *(folder / ".opencode" / name for folder in folders for name in _PROJECT)]


def _up_to_git_root(directory: Path) -> Iterator[Path]:
    chain = [directory, *directory.parents]
    root = next((folder for folder in chain if (folder / ".git").exists()), directory)
    return iter(chain[: chain.index(root) + 1])
