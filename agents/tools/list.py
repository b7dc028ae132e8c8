"""`list`: a directory as a tree, the upper levels first."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from agents.toolkit.base import Tool, ToolContext, ToolResult, by_request
from agents.toolkit.file_names import printable
from agents.toolkit.shared import ripgrep, staged
from agents.toolkit.shared.paths import authorise
from agents.tools.glob import require_folder

LIMIT = 100
LOOKED_AT = 20_000

DESCRIPTION = """\
Show a directory as a tree of its files, at most 100, the upper levels first; folders that are not shown in \
full say how much is in them. What git ignores is left out. If you know what you look for, `glob` and `grep` \
are better."""


class Input(BaseModel):
    path: str = Field("", description="The directory; the session's folder when left out.")
    ignore: list[str] = Field([], description="Globs of names to leave out.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask `list` and list; raises ToolError for a directory that is not there."""
    target = await authorise(ctx, args.path or ".", "read")
    await ctx.ask("list", target.patterns, always=["*"], metadata={"path": target.title})
    await asyncio.to_thread(require_folder, ctx, target)
    arguments = ["--files", "--null", *ripgrep.excluding(), *ripgrep.excluding(args.ignore)]
    records = await staged.names(ctx, arguments, target.path, LOOKED_AT)
    files = [os.fsdecode(record) for record in records.found]
    output = await asyncio.to_thread(_drawn, printable(str(target.path)), files)
    cut = len(files) > LIMIT
    if cut:
        total = f"more than {LOOKED_AT}" if records.more else str(len(files))
        output += f"\n({LIMIT} of {total} files are shown: list a folder of them, or use glob)"
    return ToolResult(target.title, output, {"count": min(len(files), LIMIT), "truncated": cut})


@dataclass(slots=True)
class _Folder:
    """What is shown of a folder (nothing unless `open`), and how many files below it are not."""

    open: bool = True
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    hidden: int = 0

    def lines(self, margin: str) -> Iterator[str]:
        """First the folders, then the files."""
        for name, folder in sorted(self.folders.items()):
            more = f" ({folder.hidden} more files)" if folder.hidden else ""
            yield f"{margin}{printable(name)}/{more}"
            yield from folder.lines(margin + "  ")
        yield from (f"{margin}{printable(name)}" for name in self.files)


def _drawn(name: str, files: list[str]) -> str:
    """The tree. Files of the upper levels are shown first; a folder without one of them stays closed."""
    root = _Folder()
    for number, path in enumerate(sorted(files, key=lambda path: (path.count("/"), path))):
        *parents, file = path.split("/")
        _add(root, parents, file, shown=number < LIMIT)
    return "\n".join([f"{name}/", *root.lines("  ")])


def _add(folder: _Folder, parents: list[str], file: str, *, shown: bool) -> None:
    """Show a file below its folders, or else count it in them as far down as something is shown."""
    for name in parents:
        folder = folder.folders.setdefault(name, _Folder(shown))
        folder.hidden += not shown
        if not folder.open:
            return
    if shown:
        folder.files.append(file)


TOOL = Tool("list", DESCRIPTION, Input, execute, "list", by_request("list"))
