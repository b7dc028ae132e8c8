"""What language servers say, in our own words (Language Server Protocol 3.17).

Lines and characters count from 0; characters are UTF-16 code units, as the protocol counts by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

Severity = Literal[1, 2, 3, 4]
"""Error, warning, information, hint."""
ERROR: Severity = 1
WARNING: Severity = 2
MOST = 2**31 - 1
"""The largest number of a line or a character."""


class WirePosition(TypedDict):
    line: int
    character: int


class WireRange(TypedDict):
    start: WirePosition
    end: WirePosition


@dataclass(frozen=True, slots=True, order=True)
class Position:
    line: int
    character: int

    @classmethod
    def parse(cls, data: Any) -> Position:
        """Of the protocol's own shape; what is beyond its numbers (`uinteger`) is the nearest that is one.
        Raises KeyError, TypeError, ValueError."""
        return cls(_number(data["line"]), _number(data["character"]))


@dataclass(frozen=True, slots=True, order=True)
class Range:
    start: Position
    end: Position

    @classmethod
    def parse(cls, data: Any) -> Range:
        """Of the protocol's own shape. Raises KeyError, TypeError, ValueError."""
        return cls(Position.parse(data["start"]), Position.parse(data["end"]))

    def wire(self) -> WireRange:
        return {
            "start": {"line": self.start.line, "character": self.start.character},
            "end": {"line": self.end.line, "character": self.end.character},
        }


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`server` is the id of the language server, `source` who found it in the server's words, `code` its
    name for the rule."""

    range: Range
    severity: Severity
    message: str
    code: str = ""
    source: str = ""
    server: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    path: Path
    range: Range


@dataclass(frozen=True, slots=True)
class Symbol:
    """`kind` is the number of the protocol's SymbolKind; `container` the name of what it is in."""

    name: str
    kind: int
    location: Location
    container: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """A server's diagnostics of a file, all of them: they take the place of what it said before. `content` is
    what the file held when the server looked at it; None when that is not known."""

    root: Path
    server: str
    path: Path
    diagnostics: tuple[Diagnostic, ...]
    content: bytes | None


def _number(value: Any) -> int:
    try:
        return min(max(int(value), 0), MOST)
    except OverflowError as error:
        raise ValueError("infinite") from error


class Failed(Exception):
    """A language server could not be asked, or did not answer; the text is for people and the model."""


Status = Literal["connected", "starting", "error", "missing", "held", "idle"]
"""`missing`: its program is not there. `held`: it waits for a person's trust. `idle`: it does not run, and
starts when it is needed."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """`reason` says why it is not connected, or what it is at work on; `memory` in bytes; `log` has the last
    lines that it said."""

    id: str
    name: str
    root: Path
    status: Status
    reason: str = ""
    memory: int | None = None
    log: Sequence[str] = ()
