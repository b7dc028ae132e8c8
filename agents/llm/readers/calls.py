"""Tool calls put together from what a stream gives in pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from agents.llm.types import ModelEvent, ToolCall, ToolInputDelta, ToolInputStart, Usage


def complete(call_id: str, name: str, raw: str) -> ToolCall:
    """The finished call; no arguments at all mean an empty object."""
    return ToolCall(call_id, name, _parse(raw), raw)


def make_id() -> str:
    """An id for a call whose provider gave none."""
    return f"call_{uuid4().hex[:24]}"


def unused(call_id: str, used: Container[str]) -> str:
    """The id, or a new one: two calls of one name make a history that no provider takes again."""
    return call_id if call_id and call_id not in used else make_id()


def cut_off(made: Iterable[ToolCall], usage: Usage) -> list[ToolCall]:
    """The calls of an answer that ended at its output limit: the last of them may be cut."""
    out = list(made)
    if out and (out[-1].input is None or not out[-1].raw.strip()):
        out[-1] = replace(out[-1], input=None, cut_at=usage.output + usage.reasoning)
    return out


BESIDE = ("extra_content", "provider_specific_fields")
"""Fields of a call that Google and litellm keep a thought's signature in: they go back as they came."""

_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
"""A text, or a comma after which nothing comes."""


def _parse(raw: str) -> dict[str, Any] | None:
    if not raw.strip():
        return {}
    parsed = _loaded(raw)
    if isinstance(parsed, str):  # encoded twice
        parsed = _loaded(parsed)
    return parsed if isinstance(parsed, dict) else None


def _loaded(raw: str) -> Any:
    for text in (raw, _COMMA.sub(lambda found: found[1] or "", raw)):
        with suppress(ValueError, RecursionError):
            return json.loads(text, strict=False)
    return None


@dataclass(slots=True)
class _Open:
    given_id: str
    name: str = ""
    started: bool = False
    raw: list[str] = field(default_factory=list)
    call_id: str = ""
    beside: dict[str, Any] = field(default_factory=dict)

    def start(self, used: set[str]) -> Iterator[ModelEvent]:
        if not self.started:
            self.started, self.call_id = True, unused(self.given_id, used)
            used.add(self.call_id)
            yield ToolInputStart(self.call_id, self.name)


class CallAssembler:
    """Chat-completion deltas: keyed by index, where servers differ in all that is not the index.

    The id may be missing, the index may be missing or 0 for every call, the name may come in pieces or
    again with every delta, and arguments may be an object in place of its text.
    """

    __slots__ = ("_open", "_slots", "_used")

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._slots: dict[int, _Open] = {}
        self._used: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Take one delta; the call is announced with its first arguments, when its name is known whole."""
        function = delta.get("function") or {}
        name, given_id = function.get("name") or "", delta.get("id") or ""
        call = self._find(delta.get("index"), given_id, name)
        call.given_id = call.given_id or given_id
        call.name = _join_name(call.name, name)
        call.beside.update({name: delta[name] for name in BESIDE if delta.get(name)})
        arguments = function.get("arguments") or ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if text:
            yield from call.start(self._used)
            call.raw.append(text)
            yield ToolInputDelta(call.call_id, text)

    def finish(self, *, cut: Usage | None = None) -> Iterator[ModelEvent]:
        """All calls, complete, in the order in which they began. `cut`: what was counted of an answer that
        ended at its output limit."""
        made: list[ToolCall] = []
        for call in self._open:
            yield from call.start(self._used)
            whole = complete(call.call_id, call.name, "".join(call.raw))
            made.append(replace(whole, metadata=call.beside))
        yield from made if cut is None else cut_off(made, cut)

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
