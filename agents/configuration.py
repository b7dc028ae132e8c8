"""The configuration of a folder, read through the loader that settings name (opencode_web is above us)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from agents import news
from agents.config import Config
from agents.trust.wants import Want


class ConfigProblem(Protocol):
    """A configuration error or warning for people to read."""

    level: str
    key: str
    """Empty when the file as a whole could not be read."""

    def __str__(self) -> str: ...


class Loaded(Protocol):
    config: Config
    problems: Sequence[ConfigProblem]
    wants: Sequence[Want]
    """What the project's files ask for that takes trust, trusted or not."""


class Loader(Protocol):
    def __call__(self, directory: Path | None) -> Loaded: ...


class Writer(Protocol):
    def __call__(self, directory: Path | None, patch: Mapping[str, Any]) -> None: ...


class Preview(Protocol):
    def __call__(self, directory: Path | None, patch: Mapping[str, Any]) -> Mapping[str, Any]: ...


class Written(Protocol):
    """One source of the configuration as it stands, references not replaced."""

    @property
    def file(self) -> Path:
        """Or the name of the environment's variable that stands in for one."""

    @property
    def own(self) -> bool:
        """The user's, and not the project's."""

    @property
    def writable(self) -> bool:
        """Whether `change` writes into this one."""

    @property
    def held(self) -> bool:
        """Whether something in it waits for trust."""

    @property
    def values(self) -> Mapping[str, Any]: ...


class Sources(Protocol):
    def __call__(self, directory: Path | None) -> Sequence[Written]: ...


class Refused(ValueError):
    """A change of the configuration that is not written; the text names the key."""


class Unreadable(Exception):
    """The configuration file that a change belongs into cannot be read."""

    def __init__(self, file: Path, message: str) -> None:
        super().__init__(message)
        self.file = file


MOST_KNOWN = 1000
_known: dict[Path | None, Loaded] = {}
"""What each folder's was when it was asked for last."""


@cache
def _loader() -> Loader:
    return cast(Loader, import_string(settings.CONFIG_LOADER))


@cache
def _writer() -> Writer:
    return cast(Writer, import_string(settings.CONFIG_WRITER))


@cache
def _preview() -> Preview:
    return cast(Preview, import_string(settings.CONFIG_PREVIEW))


@cache
def _sources() -> Sources:
    return cast(Sources, import_string(settings.CONFIG_SOURCES))


def load(directory: Path | None) -> Loaded:
    """The merged configuration of a folder, or the user's own alone for None, and what was wrong with its
    files; cheap when unchanged. Clients are told when it is another one than before."""
    loaded = _loader()(directory)
    before = _known.get(directory)
    if before is not loaded:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[directory] = loaded
        if before is not None and before.config != loaded.config:
            news.configured(directory)
    return loaded


def change(directory: Path | None, patch: Mapping[str, Any]) -> None:
    """Merge a person's change into the configuration file of a folder, or into the user's own for None.

    Null takes a key away. Blocks; raises Refused or Unreadable, and then nothing is written.
    """
    _writer()(directory, patch)


def preview(directory: Path | None, patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the file of `change` would say, references replaced; nothing is written. Blocks, raises as it."""
    return _preview()(directory, patch)


def written(directory: Path | None) -> Sequence[Written]:
    """The files that the configuration of a folder comes from, farthest first. Blocks."""
    return _sources()(directory)
