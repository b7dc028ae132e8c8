"""Files of a project, searches in them, and what git says of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Wire

Kind = Literal["file", "directory"]
Status = Literal["added", "deleted", "modified"]


class FileNode(Wire):
    """`path` is relative to the folder asked about; a folder's ends with a slash."""

    name: str
    path: str
    absolute: str
    type: Kind
    ignored: bool


class FileContent(Wire):
    """`encoding` and `mimeType` are there for `binary` content."""

    type: Literal["text", "binary"]
    content: str
    encoding: Literal["base64"] | None = None
    mime_type: str | None = Field(None, alias="mimeType")


class FileEntry(Wire):
    """A node of the second protocol."""

    path: str
    type: Kind


class FileStatus(Wire):
    path: str
    added: int
    removed: int
    status: Status


class Text(Wire):
    text: str


class Submatch(Wire):
    """Byte offsets in the line."""

    match: Text
    start: int
    end: int


class TextMatch(Wire):
    path: Text
    lines: Text
    line_number: int
    absolute_offset: int
    submatches: list[Submatch]


class Symbol(Wire):
    """As the Language Server Protocol has it."""

    name: str
    kind: int
    location: dict[str, Any]


class VcsInfo(Wire):
    branch: str | None = None
    default_branch: str | None = None


class VcsFileStatus(Wire):
    file: str
    additions: int
    deletions: int
    status: Status


class VcsFileDiff(VcsFileStatus):
    patch: str | None = None


class VcsApplied(Wire):
    applied: bool
