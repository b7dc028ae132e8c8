"""`read`: a part of a text file with line numbers, a directory's names, a picture or a PDF."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from agents.servers.lsp.uses.feedback import begin_reading
from agents.toolkit.base import Attachment, Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.file_names import printable
from agents.toolkit.shared import beside, filekind, staged
from agents.toolkit.shared import numbered as numbering
from agents.toolkit.shared.paths import Target, authorise, explained, missing
from sessions.core import filetext

MAX_LINE = 2000
MAX_BYTES = 50 * 1024
MAX_ATTACHMENT = 10 * 1024 * 1024
PREVIEW_LINES = 20
LARGEST_KNOWN = 16 * 1024 * 1024
"""Bytes of a file whose lines are counted, and that is known again when it is to be replaced."""

DESCRIPTION = """\
Read a file. Text comes with line numbers (`12: text`; they are not part of the file), at most 2000 lines \
and 50 KB at a time; the last line says how many there are, go on with `offset`. Take large windows rather \
than many small ones. Lines over 2000 characters are cut. A directory gives its names. Pictures (PNG, JPEG, \
GIF, WebP) and PDFs are shown to you if you can take them. Read several files at once."""


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    file_path: str = Field(alias="filePath", description="The file, absolute or from the session's folder.")
    offset: int = Field(1, ge=0, description="The line to begin with, counted from 1.")
    limit: int = Field(2000, ge=1, description="How many lines to read.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask `read` and read; raises ToolError for what is missing, binary or no file."""
    target = await authorise(ctx, args.file_path, "read")
    await ctx.ask("read", target.patterns, always=["*"], metadata={"filepath": printable(str(target.path))})
    result = await asyncio.to_thread(_read, ctx, target, max(args.offset, 1), args.limit)
    begin_reading(ctx, target.path)
    await ctx.visited(target.path)
    return result


def _read(ctx: ToolContext, target: Target, offset: int, limit: int) -> ToolResult:
    with explained(target.title):
        waiting = ctx.staged_files()
        if not staged.exists(waiting, target.path):
            raise missing(ctx, target)
        if staged.is_folder(waiting, target.path):
            return _directory(waiting, target, offset, limit)
        with _opened(ctx, waiting, target) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            head = file.read(filetext.SAMPLE)
            file.seek(0)
            if mime := filekind.attachable(head):
                return _attachment(target, file, mime, size, ctx.model_takes_files)
            if filetext.is_binary(head):
                kind = filekind.called(head, target.path.name)
                raise ToolError(f"{target.title} is a binary file ({kind}, {size} bytes).")
            if size <= LARGEST_KNOWN:
                beside.learn(ctx.session_id, target.path, file.read())
                file.seek(0)
            return _text(target, file, head, size, offset, limit)


def _opened(ctx: ToolContext, waiting: Mapping[Path, bool], target: Target) -> BinaryIO:
    """The file as the session sees it; what is not staged is read from the disk as far as it is shown."""
    if target.path in waiting:
        return io.BytesIO(ctx.read_file(target.path) or b"")
    if not stat.S_ISREG(target.path.stat().st_mode):
        raise ToolError(f"{target.title} is no regular file (a device, pipe or socket).")
    return target.path.open("rb")


def _directory(waiting: Mapping[Path, bool], target: Target, offset: int, limit: int) -> ToolResult:
    names = sorted(_names(waiting, target.path))
    shown, _ = _within(names[offset - 1 : offset - 1 + limit])
    last = offset - 1 + len(shown)
    more = len(names) > last
    note = f"(names {offset}-{last} of {len(names)}; go on with offset {last + 1})" if more else ""
    output = "\n".join(shown) or "(the directory is empty)"
    whole = "\n".join([f"{target.title.rstrip('/')}/", output, *filter(None, [note])])
    return ToolResult(target.title, whole, {"preview": output[:500], "truncated": more}, bounded=True)


def _names(waiting: Mapping[Path, bool], folder: Path) -> set[str]:
    """What is in a folder as the session sees it; folders end in `/`."""
    names: set[str] = set()
    if folder.is_dir():
        with os.scandir(folder) as entries:
            names = {
                printable(entry.name) + ("/" if entry.is_dir() else "")
                for entry in entries
                if waiting.get(folder / entry.name, True)
            }
    for path in (path for path, there in waiting.items() if there and folder in path.parents):
        first, *rest = path.relative_to(folder).parts
        names.add(printable(first) + ("/" if rest else ""))
    return names


def _attachment(target: Target, file: BinaryIO, mime: str, size: int, takes_files: bool) -> ToolResult:
    about = f"{target.title} ({mime}, {size} bytes)"
    metadata = {"preview": about, "truncated": False}
    if not takes_files:
        return ToolResult(target.title, f"{about} cannot be shown: this model takes text only.", metadata)
    if size > MAX_ATTACHMENT:
        raise ToolError(f"{about} is too large to be shown (limit {MAX_ATTACHMENT} bytes).")
    data = base64.b64encode(file.read()).decode()
    attachment = Attachment(mime, f"data:{mime};base64,{data}", printable(target.path.name))
    return ToolResult(target.title, f"{about} is attached.", metadata, [attachment], bounded=True)


def _text(target: Target, file: BinaryIO, head: bytes, size: int, offset: int, limit: int) -> ToolResult:
    shown: list[str] = []
    room, full, number = MAX_BYTES, False, 0
    with _decoded(file, head) as text:
        for number, line in enumerate(_lines(text), 1):
            if number < offset or full:
                continue
            numbered = numbering.line(number, line)
            room -= len(numbered.encode()) + 1
            if len(shown) == limit or room < 0:
                full = True
                if size > LARGEST_KNOWN:
                    break
                continue
            shown.append(numbered)
    if not number:
        output = f"{target.title}\n(the file is empty)"
        return ToolResult(target.title, output, {"preview": "", "truncated": False}, bounded=True)
    last = offset - 1 + len(shown)
    if not shown:
        raise ToolError(f"{target.title} has {number} lines; there is no line {offset}.")
    of = f" of {number}" if size <= LARGEST_KNOWN or not full else ""
    note = f"(lines {offset}-{last}{of}; {f'go on with offset {last + 1}' if full else 'end of the file'})"
    preview = "\n".join(line.partition(": ")[2] for line in shown[:PREVIEW_LINES])
    output = "\n".join([target.title, *shown, "", note])
    return ToolResult(target.title, output, {"preview": preview, "truncated": full}, bounded=True)


def _decoded(file: BinaryIO, head: bytes) -> IO[str]:
    codec = filetext.detect(head)
    text = io.TextIOWrapper(file, encoding=codec.name, errors="replace", newline="\n")
    text.read(1 if codec.bom else 0)
    return text


def _lines(file: IO[str]) -> Iterator[str]:
    """The lines without their ends, the long ones cut, never holding more than a piece of one."""
    while piece := file.readline(MAX_LINE + 2):
        if piece.endswith("\n") or len(piece) <= MAX_LINE:
            yield piece.removesuffix("\n").removesuffix("\r")
            continue
        rest = piece
        while rest and not rest.endswith("\n"):
            rest = file.readline(64 * 1024)
        yield f"{piece[:MAX_LINE]} [... line cut at {MAX_LINE} characters]"


def _within(lines: Iterable[str]) -> tuple[list[str], bool]:
    """The first lines that fit the limit of bytes, and whether there were more."""
    kept: list[str] = []
    room = MAX_BYTES
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            return kept, True
        kept.append(line)
    return kept, False


TOOL = Tool("read", DESCRIPTION, Input, execute, "read")
