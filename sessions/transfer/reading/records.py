"""What every kind of source gives: a list of its sessions, then one session at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Wire = dict[str, Any]

MAX_RECORD = 32 * 1024 * 1024
"""Bytes of a message or part above which it is named and left out; no request may be longer either."""


class Unreadable(Exception):
    """A source, or one session of it, cannot be read; the text is for the person who named it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that was not taken as it is: where it is in the source, and why. Without `lost` all that can
    be taken was, and this is only to be known."""

    where: str
    reason: str
    lost: bool = True


@dataclass(frozen=True, slots=True)
class Header:
    """A session as a source lists it. `worktree` is its project's folder, empty where the source does not
    know it; `updated` is in milliseconds."""

    id: str
    parent: str
    title: str
    directory: str
    worktree: str
    project: str
    updated: int
    messages: int


@dataclass(slots=True)
class Conversation:
    """One session with everything in it, as it stands in the source.

    `entries` are `[{"info", "parts"}]`, the oldest first; `diffs` is what the session changed in all;
    `objects` are the folders of git objects with the snapshots that its steps name.
    """

    info: Wire
    worktree: str = ""
    entries: list[Wire] = field(default_factory=list)
    todos: list[Wire] = field(default_factory=list)
    diffs: list[Wire] = field(default_factory=list)
    objects: tuple[Path, ...] = ()
    problems: list[Problem] = field(default_factory=list)


class Source(Protocol):
    """A place with sessions. `problems` are of records that concern no session that can be read."""

    kind: str
    path: Path
    problems: list[Problem]

    def headers(self) -> list[Header]:
        """All sessions. Raises Unreadable when the source is none of its kind."""

    def read(self, header: Header) -> Conversation:
        """One of them. Raises Unreadable."""

    def size(self) -> int:
        """Bytes on the disk."""

    def leftovers(self, headers: Sequence[Header]) -> Iterator[Problem]:
        """Records that belong to no session, after all sessions were read."""

    def close(self) -> None:
        """Let go of files that are open; it can be read again afterwards."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a source holds. `first` and `last` are the oldest and newest change, in milliseconds; 0: none."""

    projects: int
    sessions: int
    messages: int
    size: int
    first: int
    last: int


def summary(headers: Sequence[Header], size: int) -> Summary:
    times = [header.updated for header in headers if header.updated]
    return Summary(
        projects=len({header.worktree or header.directory for header in headers}),
        sessions=len(headers),
        messages=sum(header.messages for header in headers),
        size=size,
        first=min(times, default=0),
        last=max(times, default=0),
    )


def parents_first(headers: Iterable[Header]) -> list[Header]:
    """Each session after the one it belongs to; sessions that name each other come in any order."""
    by_id = {header.id: header for header in headers}
    ordered: dict[str, Header] = {}
    for header in by_id.values():
        line: dict[str, Header] = {}
        above: Header | None = header
        while above is not None and above.id not in ordered and above.id not in line:
            line[above.id] = above
            above = by_id.get(above.parent)
        ordered |= reversed(line.items())
    return list(ordered.values())


BESIDE_TEXT = {"field": "reasoning_content"}
"""With what OpenCode's reasoning without a word on it goes back to its model (`agents.llm.readers`)."""


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


LARGEST = 2**53 - 1
"""Of the whole numbers that every program reads alike (RFC 8259)."""


def number(value: Any) -> int:
    """A whole number, 0 for what is none."""
    return int(value) if is_number(value) else 0


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def mapping(value: Any) -> Wire:
    return value if isinstance(value, dict) else {}
