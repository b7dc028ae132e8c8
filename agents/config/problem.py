"""What can be wrong with a configuration file, for the error page and the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Problem:
    """`file` names a variable where the configuration came from one; `key` is dotted, empty for the file. A
    note is for those who look for it."""

    file: Path
    line: int | None
    key: str
    message: str
    level: Literal["error", "warning", "note"] = "error"

    def __str__(self) -> str:
        where = str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


class Malformed(ValueError):
    """A text that is not what its file is to be; `line` and `column` count from 1."""

    message: str
    line: int
    column: int


# Why a configuration is not changed.


class Refused(ValueError):
    """A change of the configuration that is not written; the text names the key."""


class Unreadable(Exception):
    """The configuration file that a change belongs into cannot be read."""

    def __init__(self, file: Path, message: str) -> None:
        super().__init__(message)
        self.file = file
