"""Why a configuration is not changed."""

from __future__ import annotations

from pathlib import Path


class Refused(ValueError):
    """A change of the configuration that is not written; the text names the key."""


class Unreadable(Exception):
    """The configuration file that a change belongs into cannot be read."""

    def __init__(self, file: Path, message: str) -> None:
        super().__init__(message)
        self.file = file
