"""What a server gave, as texts and files of ours (MCP 2025-11-25, "Tool Result" and "Content")."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.servers.mcp.texts import clean, content_of, filename_of, is_for_models, mime_of, text_of
from agents.toolkit.base import Attachment, ToolError, ToolResult
from agents.toolkit.shared.output import bound

if TYPE_CHECKING:
    from mcp.types import CallToolResult

MAX_FILES = 20
MAX_KEPT = 64 * 1024
"""Characters of structured content that are kept beside the output; the model is given all of it."""
MAX_APP = 256 * 1024
"""Characters of a result that is kept for an app."""
FAILED = "The tool failed and did not say why."
NOTHING = "The tool ended without a word."


def adapted(result: CallToolResult, title: str, metadata: dict[str, Any], directory: Path) -> ToolResult:
    """`metadata` is kept with it. The text of a success is bounded by the caller, that of a failure here (the
    whole is put into `directory`). Raises ToolError for `isError`. Blocks."""
    found = Found.of(result.content)
    structured = _json(result.structured_content)
    if structured and not found.has_data(result.structured_content):
        found.texts.append(structured)
    text = "\n\n".join(found.texts)
    if result.is_error:
        raise ToolError(bound(text.strip() or FAILED, directory).text)
    if structured and len(structured) <= MAX_KEPT:
        metadata = {**metadata, "structured": json.loads(structured)}
    return ToolResult(title=title, output=text or NOTHING, metadata=metadata, attachments=found.files)


def whole(result: CallToolResult) -> dict[str, Any]:
    """The `result` for the app of its tool, as the server gave it; nothing where that is too much to keep."""
    data = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    text = clean(json.dumps(data, ensure_ascii=False))
    return {"result": json.loads(text)} if len(text) <= MAX_APP else {}


@dataclass
class Found:
    """What content blocks are for the model: texts, and files beside them."""

    texts: list[str] = field(default_factory=list)
    files: list[Attachment] = field(default_factory=list)

    @classmethod
    def of(cls, blocks: Iterable[Any]) -> Found:
        found = cls()
        for block in blocks:
            found.take(block)
        return found

    def take(self, block: Any) -> None:
        match block.type:
            case "text":
                self.texts.append(clean(block.text))
            case "image" | "audio":
                self._attach(block.type, block.data, block.mime_type)
            case "resource_link":
                self.texts.append(_link(block))
            case "resource":
                self.contents(block.resource)

    def contents(self, contents: Any) -> None:
        """Of a resource: text with its address, or a file."""
        uri, text = clean(str(contents.uri), 1000), text_of(contents)
        if text is not None:
            self.texts.append(f"[Resource {uri}]\n{clean(text)}")
        else:
            self._attach(f"resource {uri}", contents.blob, contents.mime_type, filename_of(uri))

    def has_data(self, structured: Any) -> bool:
        """Whether the texts are the structured content already, as servers send it for older clients."""
        return any(self._has(value) for value in (structured, *_wrapped(structured)))

    def _has(self, value: Any) -> bool:
        """A list may also be a text for each of its items."""
        many = isinstance(value, list) and len(value) == len(self.texts) > 0
        items = zip(self.texts, value, strict=True) if many else ()
        return any(_is(text, value) for text in self.texts) or (many and all(_is(*item) for item in items))

    def _attach(self, what: str, data: str, mime: str | None, filename: str = "") -> None:
        """For people whatever it is; the text tells of a file that models have no place for."""
        try:
            if len(self.files) == MAX_FILES:
                raise ValueError(f"{MAX_FILES} files are there already")
            content = content_of(data, mime)
        except ValueError as error:
            self.texts.append(f"[The {what} ({mime_of(mime)}) is left out: {error}.]")
            return
        self.files.append(Attachment(content.mime, content.url, filename))
        if not is_for_models(content.mime):
            self.texts.append(f"[The {what} ({content.mime}, {content.size:,} bytes) is for the user only.]")


def _link(block: Any) -> str:
    about = "; ".join(clean(text, 500) for text in (block.mime_type, block.description) if text)
    where = f"{clean(block.name, 200)}: {clean(str(block.uri), 1000)}"
    return f"[Resource {where} ({about})]" if about else f"[Resource {where}]"


def _json(value: Any) -> str:
    """Empty for nothing, and for what is no JSON."""
    if value is None:
        return ""
    try:
        return clean(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return ""


def _wrapped(structured: Any) -> list[Any]:
    """What is in an object only because structured content has to be one: `{"result": 42}`, as the SDKs make
    it, and a list alone in one."""
    if not isinstance(structured, dict) or len(structured) != 1:
        return []
    [(name, value)] = structured.items()
    return [value] if name == "result" or isinstance(value, list) else []


def _is(text: str, value: Any) -> bool:
    """Whether a text is a value: a string as it is, or JSON."""
    if text == value:
        return True
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False
