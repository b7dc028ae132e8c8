"""`read`: a part of a text file with line numbers, a directory's names, a picture or a PDF."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from agents.lsp.uses.feedback import begin_reading
from agents.tools.base import Attachment, Tool, ToolContext, ToolError, ToolResult
from agents.tools.shared import beside, filekind, filetext, staged
from agents.tools.shared.names import printable
from agents.tools.shared.paths import Target, authorise, explained, missing

MAX_LINE = 2000
MAX_BYTES = 50 * 1024
MAX_ATTACHMENT = 10 * 1024 * 1024
PREVIEW_LINES = 20

DESCRIPTION = """\
Read a file. Text comes with line numbers (`00012| text`; they are not part of the file), at most 2000 lines \
and 50 KB at a time: go on with `offset`. Lines over 2000 characters are cut. A directory gives its names. \
Pictures (PNG, JPEG, GIF, WebP) and PDFs are shown to you if you can take them. Read several files at once \
when you need several; use `grep` to find a place in a large file."""


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
    return result


def _read(ctx: ToolContext, target: Target, offset: int, limit: int) -> ToolResult:
    with explained(target.title):
        if not staged.exists(ctx, target.path):
            raise missing(target)
        if staged.is_folder(ctx, target.path):
            return _directory(ctx, target, offset, limit)
        with _opened(ctx, target) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            head = file.read(filetext.SAMPLE)
            file.seek(0)
            if mime := filekind.attachable(head):
                return _attachment(target, file, mime, size, ctx.model_takes_files)
            if filetext.is_binary(head):
                kind = filekind.called(head, target.path.name)
                raise ToolError(f"{target.title} is a binary file ({kind}, {size} bytes).")
            if size <= beside.LARGEST:
                beside.learn(ctx.session_id, target.path, file.read())
                file.seek(0)
            return _text(target, file, head, offset, limit)


def _opened(ctx: ToolContext, target: Target) -> BinaryIO:
    """The file as the session sees it; what is not staged is read from the disk as far as it is shown."""
    if target.path in ctx.staged_files():
        return io.BytesIO(ctx.read_file(target.path) or b"")
    if not stat.S_ISREG(target.path.stat().st_mode):
        raise ToolError(f"{target.title} is no regular file (a device, pipe or socket).")
    return target.path.open("rb")


def _directory(ctx: ToolContext, target: Target, offset: int, limit: int) -> ToolResult:
    names = sorted(_names(ctx, target.path))
    shown, cut = _within(names[offset - 1 : offset - 1 + limit])
    rest = len(names) - (offset - 1) - len(shown)
    note = f"\n(more names follow: go on with offset {offset + len(shown)})" if cut or rest > 0 else ""
    output = "\n".join(shown) or "(the directory is empty)"
    return ToolResult(
        target.title, output + note, {"preview": output[:500], "truncated": bool(note)}, bounded=True
    )


def _names(ctx: ToolContext, folder: Path) -> set[str]:
    """What is in a folder as the session sees it; folders end in `/`."""
    names: set[str] = set()
    waiting = ctx.staged_files()
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


def _text(target: Target, file: BinaryIO, head: bytes, offset: int, limit: int) -> ToolResult:
    if not head:
        return ToolResult(
            target.title, "(the file is empty)", {"preview": "", "truncated": False}, bounded=True
        )
    shown: list[str] = []
    room, more, number = MAX_BYTES, False, 0
    with _decoded(file, head) as text:
        for number, line in enumerate(_lines(text), 1):
            if number < offset:
                continue
            numbered = f"{number:05d}| {line}"
            room -= len(numbered.encode()) + 1
            if len(shown) == limit or room < 0:
                more = True
                break
            shown.append(numbered)
    if not shown:
        raise ToolError(f"{target.title} has {number} lines; there is no line {offset}.")
    note = f"(more lines follow: go on with offset {offset + len(shown)})" if more else "(end of the file)"
    preview = "\n".join(line.partition("| ")[2] for line in shown[:PREVIEW_LINES])
    output = "\n".join([*shown, "", note])
    return ToolResult(target.title, output, {"preview": preview, "truncated": more}, bounded=True)


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
