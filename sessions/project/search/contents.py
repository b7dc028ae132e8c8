"""Search in what files hold, with what would be there in the place of it; ripgrep does both.

What is replaced is cut out of a file's bytes at the places that ripgrep told, so that one search decides what
is shown and what is written.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import threading
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sessions.project.search import ripgrep
from sessions.project.search.ripgrep import SearchFailed

MOST_HITS = 5000
"""Lines that are found at once."""
OF_A_FILE = 500
LARGEST = "8M"
"""Of a larger file nothing is searched."""
_WAITING = 64
"""Files that were found and not taken yet."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`replacement` is None where nothing is to be replaced; in it `$1` stands for a group of a `regex`.
    `include` and `exclude` are globs of paths."""

    text: str
    regex: bool = False
    case: bool = False
    word: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    replacement: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a line, and what would be in their place."""

    start: int
    end: int
    replacement: bytes = b""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (from 1), or several that were found as one; `offset` is where it begins in the file, in
    bytes."""

    line: int
    offset: int
    content: bytes
    spans: tuple[Span, ...]


@dataclass(slots=True)
class FileHits:
    """`path` is relative to the folder."""

    path: str
    hits: list[Hit] = field(default_factory=list)


def replaced(content: bytes, hits: Sequence[Hit]) -> bytes:
    """A file's content with these hits replaced, which were found in it. Raises ValueError where it is
    another one by now."""
    pieces: list[bytes] = []
    at = 0
    for hit in sorted(hits, key=lambda one: one.offset):
        if content[hit.offset : hit.offset + len(hit.content)] != hit.content:
            raise ValueError(hit.line)
        for span in hit.spans:
            pieces += (content[at : hit.offset + span.start], span.replacement)
            at = hit.offset + span.end
    return b"".join((*pieces, content[at:]))


def find(directory: Path, asked: Asked, paths: Sequence[str] = ()) -> Generator[FileHits, None, None]:
    """File by file, of those in `paths` or of all, in no order. Blocks; raises SearchFailed."""
    places = [f"./{path}" for path in paths] or ["."]
    found: FileHits | None = None
    left = MOST_HITS
    arguments = [*_options(asked), "--json", f"--max-count={OF_A_FILE}", "-e", asked.text, "--", *places]
    with closing(ripgrep.lines(directory, arguments)) as output:
        for line in output:
            told = json.loads(line)
            kind, data = told["type"], told["data"]
            if kind == "begin":
                found = FileHits(_path(data["path"]))
            elif kind == "match" and found is not None:
                found.hits.append(_hit(data))
                left -= 1
            if (kind == "end" or not left) and found is not None and found.hits:
                yield _with_replacements(directory, asked, found)
                found = None
            if not left:
                return


async def stream(directory: Path, asked: Asked) -> AsyncGenerator[FileHits, None]:
    """As `find`, while it goes on; closing it ends the search. Raises SearchFailed."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[FileHits | SearchFailed | None] = asyncio.Queue()
    room, ended = threading.Semaphore(_WAITING), threading.Event()

    def search() -> None:
        last: SearchFailed | None = None
        try:
            with closing(find(directory, asked)) as found:
                for file in found:
                    while not room.acquire(timeout=1):
                        if ended.is_set():
                            return
                    if ended.is_set():
                        return
                    loop.call_soon_threadsafe(queue.put_nowait, file)
        except SearchFailed as error:
            last = error
        finally:
            loop.call_soon_threadsafe(queue.put_nowait, last)

    working = asyncio.create_task(asyncio.to_thread(search))
    try:
        while (found := await queue.get()) is not None:
            if isinstance(found, SearchFailed):
                raise found
            room.release()
            yield found
    finally:
        ended.set()
        await asyncio.shield(working)


def _options(asked: Asked) -> Iterator[str]:
    yield "--encoding=none"  # else places are those in a text made of the file
    yield from ("--hidden", "--glob=!.git", f"--max-filesize={LARGEST}")
    yield from (f"--glob={glob}" for glob in asked.include)
    yield from (f"--glob=!{glob}" for glob in asked.exclude)
    if not asked.regex:
        yield "--fixed-strings"
    yield "--case-sensitive" if asked.case else "--ignore-case"
    if asked.word:
        yield "--word-regexp"
    if "\n" in asked.text or (asked.regex and "\\n" in asked.text):
        yield "--multiline"


def _hit(data: dict[str, Any]) -> Hit:
    spans = (Span(item["start"], item["end"]) for item in data["submatches"])
    return Hit(data["line_number"], data["absolute_offset"], _bytes(data["lines"]), tuple(spans))


def _with_replacements(directory: Path, asked: Asked, file: FileHits) -> FileHits:
    if asked.replacement is None:
        return file
    same = asked.replacement.encode()
    groups = _expanded(directory, asked, file.path) if asked.regex and "$" in asked.replacement else {}

    def made(hit: Hit) -> Hit:
        spans = (replace(span, replacement=groups.get(hit.offset + span.start, same)) for span in hit.spans)
        return replace(hit, spans=tuple(spans))

    return FileHits(file.path, [made(hit) for hit in file.hits])


_REPLACED = re.compile(rb"(\d+):\x1e(.*?)\x1f", re.DOTALL)


def _expanded(directory: Path, asked: Asked, path: str) -> dict[int, bytes]:
    """What comes of the groups in a replacement, by where a place in the file begins, in bytes."""
    marked = f"--replace=\x1e{asked.replacement}\x1f"
    shown = ("--only-matching", "--byte-offset", "--no-line-number", "--no-filename", "--color=never")
    output = ripgrep.names(directory, [*_options(asked), *shown, marked, "-e", asked.text, "--", f"./{path}"])
    return {int(offset): made for offset, made in _REPLACED.findall(output)}


def _path(data: dict[str, str]) -> str:
    return _bytes(data).decode("utf-8", "surrogateescape").removeprefix("./")


def _bytes(data: dict[str, str]) -> bytes:
    return data["text"].encode() if "text" in data else base64.b64decode(data["bytes"])
