"""A prompt's blocks as the parts of our protocol, and such parts as blocks again."""

from __future__ import annotations

import asyncio
import base64
import binascii
import mimetypes
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from acp.exceptions import RequestError
from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

Block = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)
Part = dict[str, Any]
Read = Callable[[str], Awaitable[str]]
"""Gives a file's text as the editor has it. Raises RequestError where it does not know the file."""

PLAIN = "text/plain"
FOLDER = "application/x-directory"


async def parts_of(blocks: Sequence[Block], read: Read | None) -> list[Part]:
    """The parts of a prompt; `read` where the editor can be asked for its text."""
    return [await _part(block, read) for block in blocks]


async def _part(block: Block, read: Read | None) -> Part:
    if isinstance(block, TextContentBlock):
        audience = block.annotations.audience if block.annotations else None
        for_model = {"synthetic": True} if audience == ["assistant"] else {}
        return {"type": "text", "text": block.text, **for_model}
    if isinstance(block, ImageContentBlock):
        name = Path(urlsplit(block.uri).path).name if block.uri else ""
        return _file(name or "image", block.mime_type, f"data:{block.mime_type};base64,{block.data}")
    if isinstance(block, AudioContentBlock):
        return _file("audio", block.mime_type, f"data:{block.mime_type};base64,{block.data}")
    if isinstance(block, EmbeddedResourceContentBlock):
        return _embedded(block.resource)
    return await _linked(block, read)


def _embedded(resource: TextResourceContents | BlobResourceContents) -> Part:
    if isinstance(resource, TextResourceContents):
        return _text_file(_label(resource.uri), resource.text)
    mime = resource.mime_type or "application/octet-stream"
    return _file(_label(resource.uri), mime, f"data:{mime};base64,{resource.blob}")


async def _linked(link: ResourceContentBlock, read: Read | None) -> Part:
    """A file of this machine is read by the server, unless the editor has another text of it."""
    path = path_of(link.uri)
    if path is None:
        return {"type": "text", "text": f"[{link.title or link.name}]({link.uri})"}
    first, last = lines_of(link.uri)
    mime = link.mime_type or mimetypes.guess_type(path)[0] or PLAIN
    if await asyncio.to_thread(Path(path).is_dir):
        return _file(path, FOLDER, Path(path).as_uri())
    if read is not None and (text := await _unsaved(path, read)) is not None:
        chosen = "".join(text.splitlines(keepends=True)[first - 1 : last]) if first else text
        return _text_file(_label(link.uri), chosen)
    query = f"?{urlencode({'start': first, 'end': last or first})}" if first else ""
    return _file(path, PLAIN if first or mime.startswith("text/") else mime, Path(path).as_uri() + query)


async def _unsaved(path: str, read: Read) -> str | None:
    """What the editor has in place of the file's own text; None where that is the same, or is no text."""
    try:
        text = await read(path)
    except RequestError:
        return None
    try:
        saved = await asyncio.to_thread(Path(path).read_bytes)
    except OSError:
        return text
    same = saved.decode(errors="replace").replace("\r\n", "\n") == text.replace("\r\n", "\n")
    return None if same or b"\0" in saved else text


def path_of(uri: str) -> str | None:
    """The file that a `file:` address names; None for another one. Zed writes `zed:///…?path=…` for some."""
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return unquote(parts.path) or None
    if parts.scheme == "zed":
        return next(iter(parse_qs(parts.query).get("path", [])), None)
    return None


def lines_of(uri: str) -> tuple[int, int | None]:
    """From 1, both included, as editors write them (`#L3`, `#L3:9`, `#L3-L9`); 0 for the whole file."""
    first, _, last = urlsplit(uri).fragment.replace("L", "").replace("-", ":").partition(":")
    if not first.isdecimal() or not int(first):
        return 0, None
    return int(first), max(int(first), int(last)) if last.isdecimal() else int(first)


def _label(uri: str) -> str:
    """A name that tells the model which file, and which lines of it."""
    path = path_of(uri)
    first, last = lines_of(uri)
    if path is None:
        return uri
    return f"{path}, lines {first} to {last}" if first else path


def _text_file(name: str, text: str) -> Part:
    return _file(name, PLAIN, f"data:{PLAIN};base64,{base64.b64encode(text.encode()).decode()}")


def _file(name: str, mime: str, url: str) -> Part:
    return {"type": "file", "filename": name, "mime": mime, "url": url}


def blocks_of(part: Mapping[str, Any]) -> Iterator[Block]:
    """A text or a file as it is shown to the editor; nothing for what people do not see."""
    if part["type"] == "text" and part.get("text") and not part.get("synthetic") and not part.get("ignored"):
        yield TextContentBlock(type="text", text=part["text"])
    elif part["type"] == "file":
        yield _block(part)


def _block(part: Mapping[str, Any]) -> Block:
    name, mime, url = part.get("filename") or "file", part["mime"], part["url"]
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma:
        return ResourceContentBlock(type="resource_link", name=name, uri=url, mime_type=mime)
    if not head.endswith(";base64"):
        data = base64.b64encode(unquote(data).encode()).decode()
    if mime.startswith("image/"):
        return ImageContentBlock(type="image", data=data, mime_type=mime)
    uri = Path(name).as_uri() if Path(name).is_absolute() else f"file:///{name}"
    try:
        text = base64.b64decode(data).decode() if mime.startswith("text/") else None
    except (binascii.Error, UnicodeDecodeError):
        text = None
    resource = (
        BlobResourceContents(uri=uri, blob=data, mime_type=mime)
        if text is None
        else TextResourceContents(uri=uri, text=text, mime_type=mime)
    )
    return EmbeddedResourceContentBlock(type="resource", resource=resource)
