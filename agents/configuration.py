"""The configuration of a folder, read through the loader that settings name (opencode_web is above us)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

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
    def __call__(self, directory: Path) -> Loaded: ...


@cache
def _loader() -> Loader:
    return cast(Loader, import_string(settings.CONFIG_LOADER))


def load(directory: Path) -> Loaded:
    """The merged configuration of a folder and what was wrong with its files; cheap when unchanged."""
    return _loader()(directory)
