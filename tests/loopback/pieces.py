"""A turn taken apart into the deltas every protocol has, and what a protocol makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tests.loopback.script import Chunks, HttpError, StreamError, TokenUsage, ToolUse, Turn, Wait


@dataclass(frozen=True, slots=True)
class Redacted:
    data: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class Signature:
    data: str


@dataclass(frozen=True, slots=True)
class Hosted:
    item: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    index: int
    use: ToolUse


@dataclass(frozen=True, slots=True)
class CallInput:
    index: int
    text: str


Piece = Redacted | Reasoning | Signature | Hosted | Text | CallStart | CallInput


class Encoder(Protocol):
    """One stream in one protocol: every method answers complete SSE frames."""

    def start(self, usage: TokenUsage) -> Iterable[bytes]: ...

    def delta(self, piece: Piece) -> Iterable[bytes]: ...

    def end(self, turn: Turn) -> Iterable[bytes]: ...

    def error(self, error: StreamError | HttpError) -> dict[str, Any]:
        """The body that tells of an error, alone or inside the stream."""


def pieces(turn: Turn) -> Iterator[Piece | Wait]:
    """The deltas of a turn in the order they are sent."""
    if turn.redacted:
        yield Redacted(turn.redacted)
    for chunk in _chunks(turn.reasoning):
        yield chunk if isinstance(chunk, Wait) else Reasoning(chunk)
    if turn.signature:
        yield Signature(turn.signature)
    yield from map(Hosted, turn.hosted)
    for chunk in _chunks(turn.text):
        yield chunk if isinstance(chunk, Wait) else Text(chunk)
    for index, use in enumerate(turn.tools):
        yield CallStart(index, use)
        yield from (CallInput(index, part) for part in _halves(use.raw) if part)


def _chunks(value: str | Chunks) -> Chunks:
    if isinstance(value, str):
        return (value,) if value else ()
    return value


def _halves(raw: str) -> tuple[str, str]:
    """Arguments never come in one delta, so a reader that does not collect them fails."""
    middle = len(raw) // 2
    return raw[:middle], raw[middle:]
