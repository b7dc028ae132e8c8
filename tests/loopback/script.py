"""What a loopback model answers: a list of turns, or a function from the request body to a turn.

    Turn(text=["Hel", "lo"])                              text in two deltas
    Turn(text=["a", Wait("go"), "b"])                     stops at the gate until the test opens it
    Turn(tools=[ToolUse("read", {"filePath": "a.py"})])   a tool call
    Turn(fault=HttpError(429, headers={"retry-after-ms": "10"}))

The same in JSON (a list of turns) through `load`; `Wait` is `{"gate": "go"}`, a fault has its `kind`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, config=STRICT)
class Wait:
    """The stream stands still here until the gate of this name is open."""

    gate: str


@dataclass(frozen=True, slots=True, config=STRICT)
class ToolUse:
    """A tool call. A string as `arguments` is sent as it stands, so it may be malformed JSON."""

    name: str
    arguments: dict[str, Any] | str = ""
    id: str = ""
    """Empty: `call_1`, `call_2`, … in the order of the server's whole life."""

    @property
    def raw(self) -> str:
        """The arguments as they go over the wire."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True, config=STRICT)
class TokenUsage:
    """Tokens, each kind apart: `input` without the cache, `output` without reasoning."""

    input: int = 10
    output: int = 5
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, config=STRICT)
class HttpError:
    """An error instead of a stream; `body` replaces the body in the protocol's own shape."""

    status: int
    message: str = "scripted error"
    type: str = "scripted_error"
    headers: dict[str, str] | None = None
    body: str | None = None
    kind: Literal["http"] = "http"


@dataclass(frozen=True, slots=True, config=STRICT)
class StreamError:
    """An error inside the stream, in the protocol's own shape, after this many deltas."""

    after: int = 0
    message: str = "scripted error"
    type: str = "scripted_error"
    kind: Literal["error"] = "error"


@dataclass(frozen=True, slots=True, config=STRICT)
class Cut:
    """The connection is dropped after this many deltas."""

    after: int = 0
    kind: Literal["cut"] = "cut"


@dataclass(frozen=True, slots=True, config=STRICT)
class Empty:
    """A stream that begins and ends with no event in it."""

    kind: Literal["empty"] = "empty"


Chunks = Sequence[str | Wait]
FinishReason = Literal["stop", "tool-calls", "length", "content-filter"]


@dataclass(frozen=True, slots=True, config=STRICT)
class Turn:
    """One answer, sent in the order reasoning, text, tool calls, finish with usage."""

    text: str | Chunks = ()
    reasoning: str | Chunks = ()
    signature: str = ""
    """Anthropic's signature of the reasoning."""
    redacted: str = ""
    """Anthropic's redacted reasoning, sent before all else."""
    hosted: Sequence[dict[str, Any]] = ()
    """Items (OpenAI's responses) or blocks (Anthropic) of what the provider ran itself, before the text."""
    tools: Sequence[ToolUse] = ()
    finish: FinishReason | None = None
    """None: `tool-calls` when there are any, else `stop`."""
    usage: TokenUsage = TokenUsage()
    gate: str = ""
    """The gate before anything is answered, the status line included."""
    delay: float = 0.0
    """Seconds from one delta to the next, on a schedule that does not drift."""
    stamp: bool = False
    """Each text delta that is more than white space is replaced by `time.time_ns()` and a space."""
    fault: HttpError | StreamError | Cut | Empty | None = None

    @property
    def finish_reason(self) -> FinishReason:
        return self.finish or ("tool-calls" if self.tools else "stop")


Body = Mapping[str, Any]
Script = Sequence[Turn] | Callable[[Body], Turn]
EXHAUSTED = HttpError(400, "the script has no turn left for this request", "script_exhausted")

_turns: TypeAdapter[list[Turn]] = TypeAdapter(list[Turn])


def load(path: Path) -> list[Turn]:
    """The turns of a JSON file. Raises pydantic.ValidationError naming the key that is wrong."""
    return _turns.validate_json(path.read_bytes())


def player(script: Script) -> Callable[[Body], Turn]:
    """One function for both kinds of script; a list is used up turn by turn."""
    if callable(script):
        return script
    turns = iter(script)
    return lambda body: next(turns, Turn(fault=EXHAUSTED))
