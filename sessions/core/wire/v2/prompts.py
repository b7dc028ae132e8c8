"""What a person asks, as the second protocol has it: a text with files and agents."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from sessions.core.wire.base import SessionID, Wire
from sessions.core.wire.v2.base import Plain

Part = dict[str, Any]
Delivery = Literal["steer", "queue"]
_DESCRIBES = "describes"
"""The key in the metadata of the text that tells the model what an attachment is."""


class PromptSource(Wire):
    """Where in the text it is named."""

    start: int
    end: int
    text: str


class FileInput(Wire):
    uri: str
    name: str | None = None
    description: str | None = None
    source: PromptSource | None = None


class FileAttachment(FileInput):
    mime: str


class AgentAttachment(Wire):
    name: str
    source: PromptSource | None = None


class PromptInput(Wire):
    text: Plain
    files: list[FileInput] | None = None
    agents: list[AgentAttachment] | None = None


class PromptInfo(Wire):
    text: str
    files: list[FileAttachment] | None = None
    agents: list[AgentAttachment] | None = None


class InputAdmitted(Wire):
    """`admitted_seq` and `promoted_seq` are cursors of the session's events."""

    admitted_seq: int = Field(alias="admittedSeq")
    id: str
    session_id: SessionID
    prompt: PromptInfo
    delivery: Delivery
    time_created: int = Field(alias="timeCreated")
    promoted_seq: Annotated[int | None, Field(alias="promotedSeq")] = None


def parts_of(given: PromptInput) -> list[Part]:
    """The parts of an Admitted Prompt."""
    parts: list[Part] = [{"type": "text", "text": given.text}]
    for file in given.files or ():
        parts += _file_parts(file)
    for agent in given.agents or ():
        source = agent.source
        told = {"value": source.text, "start": source.start, "end": source.end} if source else None
        parts.append({"type": "agent", "name": agent.name, **({"source": told} if told else {})})
    return parts


def prompt_of(parts: Iterable[Part]) -> PromptInfo:
    """The same back from the parts of a prompt or of its message."""
    listed = list(parts)
    described = {
        part["metadata"][_DESCRIBES]: part["text"]
        for part in listed
        if _DESCRIBES in (part.get("metadata") or {})
    }
    files = [_attachment(part, described.get(part["url"])) for part in listed if part["type"] == "file"]
    agents = [_agent(part) for part in listed if part["type"] == "agent"]
    return PromptInfo(text="\n".join(_words(listed)), files=files or None, agents=agents or None)


def _words(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if part["type"] == "subtask":
            yield part["prompt"]
        elif part["type"] == "text" and not part.get("synthetic") and not part.get("ignored"):
            yield part["text"]


def _file_parts(file: FileInput) -> Iterator[Part]:
    name = file.name or _name(file.uri)
    part: Part = {"type": "file", "mime": _mime(file.uri, name), "url": file.uri}
    if name:
        part["filename"] = name
    if file.source is not None:
        text = {"value": file.source.text, "start": file.source.start, "end": file.source.end}
        part["source"] = {"type": "file", "path": unquote(urlsplit(file.uri).path) or name, "text": text}
    yield part
    if file.description:
        told = {"type": "text", "text": file.description, "synthetic": True}
        yield told | {"metadata": {_DESCRIBES: file.uri}}


def _attachment(part: Part, description: str | None) -> FileAttachment:
    source = (part.get("source") or {}).get("text")
    return FileAttachment(
        uri=part["url"],
        mime=part["mime"],
        name=part.get("filename"),
        description=description,
        source=_source(source),
    )


def _agent(part: Part) -> AgentAttachment:
    return AgentAttachment(name=part["name"], source=_source(part.get("source")))


def _source(told: Mapping[str, Any] | None) -> PromptSource | None:
    if not told:
        return None
    return PromptSource(start=int(told["start"]), end=int(told["end"]), text=told["value"])


def _name(uri: str) -> str:
    return "" if uri.startswith("data:") else unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2]


def _mime(uri: str, name: str) -> str:
    if uri.startswith("data:"):
        return uri[5:].partition(",")[0].partition(";")[0] or "text/plain"
    if uri.endswith("/"):
        return "application/x-directory"
    return mimetypes.guess_type(name)[0] or "text/plain"
