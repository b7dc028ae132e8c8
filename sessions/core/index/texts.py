"""What of a message is searched: its texts, by what they are, and facets that filters ask for.

Rows may come from elsewhere: what has not the form it should have is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

LONGEST = 64 * 1024
"""Characters of one text that are searched; of a longer one, the beginning."""

Kind = Literal["prompt", "answer", "thought", "input", "output", "error", "file"]
Facet = Literal["agent", "model", "file", "ran", "has"]


class PartRow(Protocol):
    """What is needed of a row of `Part`."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def data(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Text:
    kind: Kind
    part_id: str
    text: str


def texts(role: str, info: Any, parts: Iterable[PartRow]) -> Iterator[Text]:
    """Of a message with `info` as its data, in the order in which they are shown. What was only added for the
    model is not among them."""
    for part in parts:
        for kind, text in _texts(role, part.type, _mapping(part.data)):
            if isinstance(text, str) and text:
                yield Text(kind, part.id, text[:LONGEST])
    error = _mapping(_mapping(_mapping(info).get("error")).get("data")).get("message")
    if isinstance(error, str) and error:
        yield Text("error", "", error[:LONGEST])


def _texts(role: str, type: str, data: Mapping[str, Any]) -> Iterator[tuple[Kind, Any]]:
    match type:
        case "text" if not data.get("synthetic"):
            yield "prompt" if role == "user" else "answer", data.get("text")
        case "reasoning":
            yield "thought", data.get("text")
        case "tool":
            state = _mapping(data.get("state"))
            yield "input", "\n".join(_leaves(state.get("input")))
            yield "output", state.get("output")
            yield "error", state.get("error")
        case "subtask":
            yield "prompt", data.get("description")
            yield "prompt", data.get("prompt")
        case "file":
            yield "file", data.get("filename")
        case "patch":
            yield "file", "\n".join(_strings(data.get("files")))


def facets(info: Any, parts: Sequence[PartRow]) -> dict[Facet, list[str]]:
    """Of a message's `data` and its parts: the agent, the model as `provider/model`, the files that it
    changed, the commands that it ran, and `error` where it or a call of it failed."""
    info = _mapping(info)
    model = _mapping(info.get("model")) or info
    tools = [_mapping(part.data) for part in parts if part.type == "tool"]
    states = [_mapping(data.get("state")) for data in tools]
    failed = bool(info.get("error")) or any(state.get("status") == "error" for state in states)
    changed = (_strings(_mapping(part.data).get("files")) for part in parts if part.type == "patch")
    return {
        "agent": _strings([info.get("agent")]),
        "model": [f"{model.get('providerID', '')}/{model.get('modelID', '')}"],
        "file": [file for files in changed for file in files],
        "ran": _strings([_mapping(state.get("input")).get("command") for state in states]),
        "has": ["error"] if failed else [],
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _strings(value: Any) -> list[str]:
    values = value if isinstance(value, list) else []
    return [one[:LONGEST] for one in values if isinstance(one, str)]


def _leaves(value: Any) -> Iterator[str]:
    """The texts in a value of JSON, without the names of its fields."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
