"""`apply_patch`: add, update, move and delete files by one patch, all or nothing. Source: seed 004 §6.2."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agents.tools.base import FileWrite, Tool, ToolContext, ToolError, ToolResult, by_patch
from agents.tools.shared import change, filetext
from agents.tools.shared.patches.parse import PatchError, Section, parse
from agents.tools.shared.patches.place import applied
from agents.tools.shared.paths import Target, authorise, explained, missing

DESCRIPTION = """\
Change files by a patch. It is applied whole or not at all. The format:

*** Begin Patch
*** Update File: path/of/file.py
*** Move to: new/path.py            (optional, renames the file)
@@ def name_of_function():          (optional, a line above the place when the context is not unique)
 a line of context
-a line to remove
+a line to put in
*** Add File: path/of/new.py
+every line of the new file
*** Delete File: path/of/old.py
*** End Patch

Lines of context and removed lines must be copied from the file; give about three lines of context on each \
side. Paths are relative to the session's folder."""


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    patch_text: str = Field(alias="patchText", description="The whole patch, with its first and last line.")


@dataclass(frozen=True, slots=True)
class Step:
    """One file of the patch: what changes, and for a move where to."""

    kind: str
    target: Target
    change: change.Change
    moved: Target | None = None

    def writes(self) -> list[FileWrite]:
        if self.moved is None:
            return [FileWrite(self.target.path, self.change.after, self.change.before)]
        return [
            FileWrite(self.moved.path, self.change.after, None),
            FileWrite(self.target.path, None, self.change.before),
        ]


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Plan every file, ask once for all, write all or nothing."""
    try:
        sections = parse(filetext.from_model(args.patch_text))
    except PatchError as error:
        raise ToolError(f"The patch was not applied. {error}") from error
    places = [await _place(section, ctx) for section in sections]
    targets = [target for place in places for target in place if target]
    _refuse_twice(targets)
    async with AsyncExitStack() as stack:
        for path in sorted({target.path for target in targets}):
            await stack.enter_async_context(change.lock(ctx, path))
        steps = await asyncio.to_thread(_plan, sections, places)
        return await _apply(ctx, steps, targets)


async def _place(section: Section, ctx: ToolContext) -> tuple[Target, Target | None]:
    moved = await authorise(ctx, section.move_to, "write") if section.move_to else None
    return await authorise(ctx, section.path, "write"), moved


def _refuse_twice(targets: Sequence[Target]) -> None:
    seen: set[Any] = set()
    for target in targets:
        if target.path in seen:
            raise ToolError(f"The patch names {target.title} twice. Put its changes into one section.")
        seen.add(target.path)


def _plan(sections: Sequence[Section], places: Sequence[tuple[Target, Target | None]]) -> list[Step]:
    return [_step(section, target, moved) for section, (target, moved) in zip(sections, places, strict=True)]


def _step(section: Section, target: Target, moved: Target | None) -> Step:
    before = change.current(target)
    if section.kind == "add":
        if before is not None:
            raise ToolError(f"{target.title} exists already: use *** Update File.")
        text = "".join(f"{line}\n" for line in section.added)
        return Step("add", target, change.Change(None, text.encode(), "", text))
    if before is None:
        raise missing(target)
    if moved is not None and change.current(moved) is not None:
        raise ToolError(f"{target.title} cannot be moved: {moved.title} exists already.")
    if section.kind == "delete":
        text = filetext.detect(before).decode(before)
        return Step("delete", target, change.Change(before, None, text, ""))
    return Step("update", target, _updated(section, target, before), moved)


def _updated(section: Section, target: Target, before: bytes) -> change.Change:
    if filetext.is_binary(before[: filetext.SAMPLE]):
        raise ToolError(f"{target.title} is a binary file; apply_patch works on text.")
    codec = filetext.detect(before)
    raw = codec.decode(before)
    ending = filetext.newline(raw)
    lines = raw.replace("\r\n", "\n").split("\n")
    closed = lines[-1] == ""
    try:
        made = applied(lines[:-1] if closed else lines, section.chunks)
    except PatchError as error:
        raise ToolError(f"The patch was not applied: in {target.title}, {error}. Read the file.") from error
    text = filetext.with_newline("\n".join([*made, ""] if closed and made else made), ending)
    return change.Change(before, codec.encode(text), raw, text)


async def _apply(ctx: ToolContext, steps: Sequence[Step], targets: Sequence[Target]) -> ToolResult:
    files = await asyncio.to_thread(lambda: [_described(step) for step in steps])
    diff = "".join(file["diff"] for file in files)
    patterns = [pattern for target in targets for pattern in target.patterns]
    asked = {"filepath": ", ".join(file["filepath"] for file in files), "diff": diff, "files": files}
    await ctx.ask("edit", patterns, always=["*"], metadata=asked)
    writes = [write for step in steps for write in step.writes()]
    with explained("A file of the patch"):
        await ctx.write_files(writes)
    names = ", ".join(file["relativePath"] for file in files)
    sums = {key: sum(file[key] for file in files) for key in ("additions", "deletions")}
    metadata = {"diff": diff, "files": files, "filediff": {"file": names, **sums}}
    told = "\n".join(f"{file['type']}: {file['relativePath']}" for file in files)
    return ToolResult(names, f"Applied the patch.\n{told}", metadata)


def _described(step: Step) -> dict[str, Any]:
    """As OpenCode's clients read it."""
    where = step.moved or step.target
    shown = change.describe(where, step.change)
    kind = "move" if step.moved else step.kind
    return {
        "filePath": shown["filepath"],
        "filepath": shown["filepath"],
        "relativePath": where.title,
        "type": kind,
        "diff": shown["diff"],
        "additions": shown["filediff"]["additions"],
        "deletions": shown["filediff"]["deletions"],
        **({"movePath": step.target.title} if step.moved else {}),
    }


TOOL = Tool("apply_patch", DESCRIPTION, Input, execute, "edit", offered=by_patch)
