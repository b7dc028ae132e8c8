"""What the search over conversations finds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import SessionID, Wire

Kind = Literal["title", "prompt", "answer", "thought", "input", "output", "error", "file"]


class Piece(Wire):
    """Of a snippet; `marked` is what was looked for."""

    text: str
    marked: bool


class MessageMatch(Wire):
    """A message that was found, or with `kind` `title` a session by its title; then there are no ids of a
    message. `kind` says what the snippet is of; `time` is in milliseconds."""

    session_id: SessionID
    message_id: str | None = Field(None, alias="messageID")
    part_id: str | None = Field(None, alias="partID")
    project_id: str = Field(alias="projectID")
    title: str
    kind: Kind
    time: int
    snippet: list[Piece]


class IndexProgress(Wire):
    """Messages that can be found, of all."""

    done: int
    total: int


class MessageMatches(Wire):
    """`before` is what to ask with for older ones, and is there when there may be some. `problems` are words
    for a person; `progress` is there while messages are put into the index."""

    matches: list[MessageMatch]
    before: int | None = None
    problems: list[str] = Field(default_factory=list)
    progress: IndexProgress | None = None
