"""Histories as the store gives them, in a few words."""

from __future__ import annotations

from itertools import count
from typing import Any

from agents.llm.types import Model

MODEL = Model("fake", "fake", "Fake", "openai", "fake")


class History:
    """Entries with ids in the order in which they are added."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._ids = count(1)

    def prompt(self, text: str = "Do it.", **part: Any) -> str:
        return self._add({"role": "user", "time": {"created": 1}}, [{"type": "text", "text": text, **part}])

    def step(self, text: str = "", *tools: tuple[str, str], tokens: int = 10, **info: Any) -> str:
        """An answer with its calls, each a name and an output."""
        parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        parts += [_call(name, output) for name, output in tools]
        return self._add(_answer(tokens) | {"finish": "stop"} | info, parts)

    def failed(self, text: str = "", name: str = "ContextOverflowError") -> str:
        parts = [{"type": "text", "text": text}] if text else []
        return self._add(_answer(0) | {"error": {"name": name}}, parts)

    def told(self, text: str) -> str:
        """A message about the surroundings."""
        return self._add({"role": "system", "time": {"created": 1}}, [{"type": "text", "text": text}])

    def compaction(self, summary: str, *, tail: str = "", complete: bool = True, **metadata: str) -> str:
        asked: dict[str, Any] = {"type": "compaction", "auto": True, "metadata": metadata}
        asked |= {"tail_start_id": tail} if tail else {}
        parent = self._add({"role": "user", "time": {"created": 1}}, [asked])
        info = _answer(50_000) | {"summary": True, "parentID": parent, "finish": "stop"}
        if not complete:
            info |= {"error": {"name": "MessageAbortedError"}}
        return self._add(info, [{"type": "text", "text": summary}])

    def _add(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> str:
        name = f"msg_{next(self._ids):03}"
        self.entries.append({"info": info | {"id": name}, "parts": parts})
        return name


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [part["text"] for entry in entries for part in entry["parts"] if part["type"] == "text"]


def _answer(tokens: int) -> dict[str, Any]:
    counted = {"input": tokens, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    ids = {"providerID": "fake", "modelID": "fake"}
    return {"role": "assistant", "time": {"created": 1, "completed": 2}, "tokens": counted, **ids}


def _call(name: str, output: str) -> dict[str, Any]:
    state = {"status": "completed", "input": {}, "output": output, "time": {"start": 1, "end": 1}}
    return {"type": "tool", "tool": name, "callID": "call", "state": state}
