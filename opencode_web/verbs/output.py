"""What `run` prints of a turn: text as it comes for people, an event a line for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol
from unicodedata import category

Properties = Mapping[str, Any]

_RAW = {"step-start": "step_start", "step-finish": "step_finish", "reasoning": "reasoning", "text": "text"}


class Output(Protocol):
    failed: str
    """Why the turn failed; empty when it did not."""

    def show(self, type: str, properties: Properties) -> None:
        """An event of the session."""

    def note(self, text: str) -> None:
        """A line for the person at the terminal, on standard error."""


class Readable:
    """The model's text on standard output; what it does, and its thinking, on standard error."""

    def __init__(self, thinking: bool = False) -> None:
        self.failed = ""
        self._fields = ("text", "reasoning") if thinking else ("text",)
        self._kinds: dict[str, str] = {}
        self._open = False

    def show(self, type: str, properties: Properties) -> None:
        if type == "message.part.updated":
            self._part(properties["part"])
        elif type == "message.part.delta" and properties.get("field") == "text":
            self._delta(properties)
        elif type == "session.error":
            self.failed = message(properties.get("error") or {})

    def note(self, text: str) -> None:
        self._end()
        sys.stderr.write(f"! {shown(text)}\n")
        sys.stderr.flush()

    def _delta(self, properties: Properties) -> None:
        kind = self._kinds.get(properties["partID"], "")
        if kind not in self._fields:
            return
        stream = sys.stdout if kind == "text" else sys.stderr
        stream.write(shown(properties["delta"]))
        stream.flush()
        self._open = True

    def _part(self, part: Properties) -> None:
        kind = part["type"]
        self._kinds[part["id"]] = kind if _answers(part) else ""
        if kind in ("text", "reasoning") and (part.get("time") or {}).get("end"):
            self._end()
        elif kind == "tool" and part["state"]["status"] in ("completed", "error"):
            self._call(part)

    def _call(self, part: Properties) -> None:
        self._end()
        state = part["state"]
        told = state.get("title") or str(next(iter((state.get("input") or {}).values()), ""))
        failed = f" failed: {state.get('error', '')}" if state["status"] == "error" else ""
        sys.stderr.write(
            f"| {part['tool']}  {shown(told).splitlines()[0][:120] if told else ''}{shown(failed)}\n"
        )
        sys.stderr.flush()

    def _end(self) -> None:
        """Whatever comes next begins a line."""
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
        self._open = False


class Raw:
    """`{"type", "timestamp", "sessionID", "part"}` a line, as OpenCode's `run --format json` prints."""

    def __init__(self, session: str) -> None:
        self.failed = ""
        self._session = session

    def show(self, type: str, properties: Properties) -> None:
        if type == "session.error":
            error = properties.get("error") or {}
            self.failed = message(error)
            self._line("error", error=error)
        elif type == "message.part.updated":
            self._part(properties["part"])

    def note(self, text: str) -> None:
        sys.stderr.write(f"! {shown(text)}\n")

    def _part(self, part: Properties) -> None:
        kind = part["type"]
        if kind == "tool" and part["state"]["status"] in ("completed", "error"):
            self._line("tool_use", part=part)
        elif kind in _RAW and (kind.startswith("step") or (_answers(part) and part["time"].get("end"))):
            self._line(_RAW[kind], part=part)

    def _line(self, type: str, **more: Any) -> None:
        line = {"type": type, "timestamp": int(time.time() * 1000), "sessionID": self._session, **more}
        sys.stdout.write(f"{json.dumps(line, ensure_ascii=False)}\n")
        sys.stdout.flush()


def _answers(part: Properties) -> bool:
    """Whether a text is the model's: the parts of a prompt have no time."""
    return bool(part.get("time"))


def message(error: Properties) -> str:
    return str((error.get("data") or {}).get("message") or error.get("name") or "the turn failed")


def shown(text: str) -> str:
    """Without what would steer a terminal: the text is the model's."""
    return "".join(letter for letter in text if letter in "\n\t" or category(letter)[0] != "C")
