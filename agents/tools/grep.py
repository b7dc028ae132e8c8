"""`grep`: lines that fit a regular expression, the newest file first."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from agents.toolkit.base import Tool, ToolContext, ToolResult
from agents.toolkit.file_names import printable
from agents.toolkit.permission.errors import PermissionDenied
from agents.toolkit.shared import ripgrep, staged
from agents.toolkit.shared.globs import fitting, globs_of, is_of_names, options
from agents.toolkit.shared.paths import Target, authorise, missing, read_pattern, relative
from agents.toolkit.shared.ripgrep import Keep, Records
from agents.toolkit.shared.staged import Overlay

LIMIT = 100
MAX_LINE = 2000
RECORDS = 3 * (LIMIT + 1) + 1
"""Ripgrep's records for one line too many: at worst each has a file of its own, which begins and ends."""

DESCRIPTION = """\
Search the content of files with a regular expression (ripgrep's syntax: `def \\w+\\(`, `TODO|FIXME`; \
escape braces to find them). `include` narrows the files: `*.py`, `src/**/*.{ts,tsx}`. Lines come with \
their numbers, the newest file first, at most 100. What git ignores and binary files are left out."""


class Input(BaseModel):
    pattern: str = Field(min_length=1, description="The regular expression.")
    path: str = Field("", description="The folder or file to search; the session's folder when left out.")
    include: str = Field("", description="A glob that the file names must fit.")


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that fits; `number` is 0 for one that was too long to look at."""

    file: str
    number: int
    line: str


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask `grep` and search; raises ToolError with ripgrep's words for a bad expression.

    Lines of a file that the rules do not let be read are left out.
    """
    target = await authorise(ctx, args.path or ".", "read")
    asked = {"pattern": args.pattern, "path": target.title, "include": args.include}
    await ctx.ask("grep", [args.pattern], always=["*"], metadata=asked)
    folder, over = await asyncio.to_thread(_place, ctx, target)
    globs = globs_of(args.include, folder) if args.include and folder == target.path else []
    keep = None if is_of_names(globs) else _among(await fitting(ctx, globs, folder))
    hits, late = await _search(ctx, _arguments(args, target, folder, globs), over, keep)
    shown = hits[:LIMIT]
    files = {hit.file: folder / hit.file for hit in shown}
    hidden = await _unreadable(ctx, files)
    shown = [hit for hit in shown if hit.file not in hidden]
    more = len(hits) > LIMIT
    found = len({hit.file for hit in shown})
    notes = _notes(len(shown), found, len(hidden), more=more, late=late)
    output = "\n".join([*_grouped(shown, files, ctx.directory), *notes])
    return ToolResult(args.pattern, output, {"matches": len(shown), "truncated": more or late})


def _place(ctx: ToolContext, target: Target) -> tuple[Path, Overlay]:
    """The folder to search in, and what is staged in it."""
    waiting = ctx.staged_files()
    if not staged.exists(waiting, target.path):
        raise missing(ctx, target)
    folder = target.path if staged.is_folder(waiting, target.path) else target.path.parent
    return folder, staged.overlay(waiting, folder)


def _among(names: Records) -> Keep:
    """Whether a record belongs to one of these files."""
    known = set(map(os.fsdecode, names.found))
    inside = False

    def keep(record: bytes) -> bool:
        nonlocal inside
        if record.startswith(b'{"type":"begin"'):
            inside = _text(json.loads(record)["data"]["path"]).removeprefix("./") in known
        return inside

    return keep


async def _search(
    ctx: ToolContext, arguments: list[str], over: Overlay, keep: Keep | None
) -> tuple[list[Hit], bool]:
    """The hits in what is staged, then those in the other files of the disk; whether time ran out."""
    found = await staged.search(ctx, arguments, over, separator=b"\n", limit=RECORDS, keep=keep)
    hits = [hit for hit in _hits(found.found) if over.shows(hit.file)]
    if not await asyncio.to_thread(over.folder.is_dir):
        return hits, found.late
    limit = RECORDS + len(over.files) * (LIMIT + 3)  # what is found in files that are staged is left out
    disk = await ripgrep.run(ctx, arguments, cwd=over.folder, separator=b"\n", limit=limit, keep=keep)
    hits += [hit for hit in _hits(disk.found) if not over.covers(hit.file)]
    return hits, found.late or disk.late


def _arguments(args: Input, target: Target, folder: Path, globs: Sequence[str]) -> list[str]:
    where = ["."] if folder == target.path else [f"./{target.path.name}"]
    search = ["--json", "--sortr=modified", f"--max-count={LIMIT + 1}", f"--regexp={args.pattern}"]
    return [*search, *options(globs), *ripgrep.excluding(), "--", *where]


def _hits(records: Iterable[bytes]) -> list[Hit]:
    """The matches among ripgrep's JSON records; one that was cut for its length keeps only its file."""
    hits, file = [], ""
    for record in records:
        try:
            event = json.loads(record)
        except ValueError:
            hits.append(Hit(file, 0, "(a line too long to be shown)"))
            continue
        if event["type"] == "begin":
            file = _text(event["data"]["path"])
        elif event["type"] == "match":
            data = event["data"]
            begins = next((match["start"] for match in data["submatches"]), 0)
            line = _cut(_text(data["lines"]).rstrip("\r\n"), begins)
            hits.append(Hit(_text(data["path"]), data["line_number"], line))
    return hits


def _text(value: dict[str, Any]) -> str:
    """Ripgrep gives what is no UTF-8 as base64."""
    if "text" in value:
        return str(value["text"])
    return base64.b64decode(value["bytes"]).decode("utf-8", "surrogateescape")


async def _unreadable(ctx: ToolContext, files: dict[str, Path]) -> set[str]:
    hidden = set()
    for name, path in files.items():
        try:
            await ctx.ask(
                "read", [read_pattern(ctx, path)], always=["*"], metadata={"filepath": printable(str(path))}
            )
        except PermissionDenied:
            hidden.add(name)
    return hidden


def _grouped(hits: list[Hit], files: dict[str, Path], directory: Path) -> list[str]:
    lines: list[str] = []
    file = ""
    for hit in hits:
        if hit.file != file:
            file = hit.file
            lines += [*([""] if lines else []), f"{relative(files[file], directory)}:"]
        lines.append(f"  {hit.number or '?'}: {hit.line}")
    return lines


def _cut(line: str, begins: int) -> str:
    """Of a long line, the characters around the one at byte `begins`."""
    text = line.encode("utf-8", "replace").decode()
    if len(text) <= MAX_LINE:
        return text
    at = len(line.encode("utf-8", "surrogateescape")[:begins].decode("utf-8", "surrogateescape"))
    start = max(0, min(at - MAX_LINE // 4, len(text) - MAX_LINE))
    before = f"[{start} characters ...] " if start else ""
    after = f" [... line cut at {MAX_LINE} characters]" if start + MAX_LINE < len(text) else ""
    return f"{before}{text[start : start + MAX_LINE]}{after}"


def _notes(count: int, files: int, hidden: int, *, more: bool, late: bool) -> list[str]:
    notes = [f"({count} line{'s' * (count != 1)} in {files} file{'s' * (files != 1)})"]
    if not count:
        notes = ["(no lines fit)"]
    if more:
        notes = [f"(only the first {LIMIT} lines are shown: use a narrower pattern, path or include)"]
    if hidden:
        notes.append(f"({hidden} files left out: the rules do not let them be read)")
    if late:
        notes.append("(the search was ended after 30 s; there may be more)")
    return notes


TOOL = Tool("grep", DESCRIPTION, Input, execute, "grep")
