"""Tool calls put together from what a stream gives in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from agents.llm.types import ModelEvent, ToolCall, ToolInputDelta, ToolInputStart


def complete(call_id: str, name: str, raw: str) -> ToolCall:
    """The finished call; no arguments at all mean an empty object."""
    return ToolCall(call_id, name, _parse(raw), raw)


def make_id() -> str:
    """An id for a call whose provider gave none."""
    return f"call_{uuid4().hex[:24]}"


def _parse(raw: str) -> dict[str, Any] | None:
    if not raw.strip():
        return {}
    try:
        parsed = json.loads(raw, strict=False)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


@dataclass(slots=True)
class _Open:
    given_id: str
    name: str = ""
    started: bool = False
    raw: list[str] = field(default_factory=list)
    call_id: str = ""

    def start(self) -> Iterator[ModelEvent]:
        if not self.started:
            self.started, self.call_id = True, self.given_id or make_id()
            yield ToolInputStart(self.call_id, self.name)


class CallAssembler:
    """Chat-completion deltas: keyed by index, where servers differ in all that is not the index.

    The id may be missing, the index may be missing or 0 for every call, the name may come in pieces or
    again with every delta, and arguments may be an object in place of its text.
    """

    __slots__ = ("_open", "_slots")

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._slots: dict[int, _Open] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Take one delta; the call is announced with its first arguments, when its name is known whole."""
        function = delta.get("function") or {}
        name, given_id = function.get("name") or "", delta.get("id") or ""
        call = self._find(delta.get("index"), given_id, name)
        call.given_id = call.given_id or given_id
        call.name = _join_name(call.name, name)
        arguments = function.get("arguments") or ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if text:
            yield from call.start()
            call.raw.append(text)
            yield ToolInputDelta(call.call_id, text)

    def finish(self) -> Iterator[ModelEvent]:
        """All calls, complete, in the order in which they began."""
        for call in self._open:
            yield from call.start()
            yield complete(call.call_id, call.name, "".join(call.raw))

    def _find(self, index: int | None, given_id: str, name: str) -> _Open:
        found = self._slots.get(index) if index is not None else self._open[-1] if self._open else None
        another = found and name and given_id and found.given_id and given_id != found.given_id
        if found is None or another:
            found = _Open(given_id)
            self._open.append(found)
            if index is not None:
                self._slots[index] = found
        return found


def _join_name(known: str, piece: str) -> str:
    return piece if piece.startswith(known) else known if known.endswith(piece) else known + piece
