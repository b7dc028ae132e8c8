"""`apply_patch`: add, update, move and delete files by one patch, all or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agents.servers.lsp.uses.feedback import with_diagnostics
from agents.toolkit.base import Approval, FileWrite, Tool, ToolContext, ToolError, ToolResult, by_patch
from agents.toolkit.shared.beside import require_unchanged
from agents.toolkit.shared.beside import told as told_beside
from agents.toolkit.shared.patches import PatchError, Section, parse
from agents.toolkit.shared.patches import applied as placed
from agents.toolkit.shared.paths import Target, authorise, explained, missing
from agents.toolkit.shared.proposals import KEPT_TEXT, Change, allowed, applied, describe, named, told
from agents.tools import change
from sessions.changes.diffs.lines import split_lines
from sessions.core import filetext

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
    """One file of the patch: what changes, for a move where to, and what the model should know of it."""

    kind: str
    target: Target
    change: Change
    moved: Target | None = None
    notes: Sequence[str] = ()

    @property
    def where(self) -> Target:
        """The file that a request shows it by."""
        return self.moved or self.target

    def is_outdated(self, ctx: ToolContext) -> bool:
        """Whether the step can no longer be made as it was planned. Blocks."""
        if self.moved is not None:
            moved = change.current(ctx, self.moved) is not None
            return moved or change.current(ctx, self.target) != self.change.before
        return change.outdated(ctx, self.target, self.change)

    def allowed(self, approval: Approval) -> Step | None:
        """The step as a person allowed it; None when they took it out."""
        made = applied(self.change, approval.contents, named(self.where))
        if made is None or (made.after == made.before and self.moved is None):
            return None
        kind = "update" if self.kind == "delete" and made.after is not None else self.kind
        return replace(self, kind=kind, change=made)

    def told(self, made: Step | None) -> str:
        """What the user made of it, for the model; empty when it was done as proposed."""
        return told(self.change, made.change if made else None, self.where.title)

    def as_made(self, written: Mapping[Path, FileWrite]) -> Step:
        """The step given the writes that were made."""
        if self.moved is not None:
            return self
        return replace(self, change=change.as_made(self.change, written[self.target.path]))

    def writes(self) -> list[FileWrite]:
        if self.moved is None:
            return [FileWrite(self.target.path, self.change.after, self.change.before)]
        return [
            FileWrite(self.moved.path, self.change.after, None, mode_of=self.target.path),
            FileWrite(self.target.path, None, self.change.before),
        ]


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Plan every file, ask once for all, write all or nothing."""
    try:
        sections = parse(change.from_model(args.patch_text))
    except PatchError as error:
        raise ToolError(f"The patch was not applied. {error}") from error
    places = [await _place(section, ctx) for section in sections]
    targets = [target for place in places for target in place if target]
    _refuse_twice(targets)
    patterns = [pattern for target in targets for pattern in target.patterns]
    async with AsyncExitStack() as stack:
        for path in sorted({target.path for target in targets}):
            await stack.enter_async_context(change.lock(ctx, path))
        steps, approval = await allowed(
            ctx,
            patterns,
            lambda: _plan(ctx, sections, places),
            lambda steps: _asked(ctx, steps),
            lambda steps: any(step.is_outdated(ctx) for step in steps),
        )
        made = [step.allowed(approval) for step in steps]
        result, written = await _apply(ctx, steps, made, approval.words)
    return await with_diagnostics(ctx, result, written) if written else result


async def _place(section: Section, ctx: ToolContext) -> tuple[Target, Target | None]:
    moved = await authorise(ctx, section.move_to, "write") if section.move_to else None
    return await authorise(ctx, section.path, "write"), moved


def _refuse_twice(targets: Sequence[Target]) -> None:
    seen: set[Any] = set()
    for target in targets:
        if target.path in seen:
            raise ToolError(f"The patch names {target.title} twice. Put its changes into one section.")
        seen.add(target.path)


def _plan(
    ctx: ToolContext, sections: Sequence[Section], places: Sequence[tuple[Target, Target | None]]
) -> list[Step]:
    return [
        _step(ctx, section, target, moved) for section, (target, moved) in zip(sections, places, strict=True)
    ]


def _step(ctx: ToolContext, section: Section, target: Target, moved: Target | None) -> Step:
    before = change.current(ctx, target)
    if section.kind == "add":
        if before is not None:
            raise ToolError(f"{target.title} exists already: use *** Update File.")
        text = "".join(f"{line}\n" for line in section.added)
        return Step("add", target, Change(None, text.encode(), "", text))
    if before is None:
        raise missing(ctx, target)
    if moved is not None and change.current(ctx, moved) is not None:
        raise ToolError(f"{target.title} cannot be moved: {moved.title} exists already.")
    if section.kind == "delete":
        require_unchanged(ctx.session_id, target.path, target.title, before)
        text = filetext.detect(before).decode(before)
        return Step("delete", target, Change(before, None, text, ""))
    return _updated(section, target, before, moved)


def _updated(section: Section, target: Target, before: bytes, moved: Target | None) -> Step:
    if filetext.is_binary(before[: filetext.SAMPLE]):
        raise ToolError(f"{target.title} is a binary file; apply_patch works on text.")
    codec = filetext.detect(before)
    raw = codec.decode(before)
    open_end = bool(raw) and not raw.endswith("\n")
    try:
        made, notes = placed(split_lines(raw + filetext.newline(raw) * open_end), section.chunks)
    except PatchError as error:
        raise ToolError(f"The patch was not applied: in {target.title}, {error}. Read the file.") from error
    text = "".join(made)
    if open_end:
        text = text.removesuffix("\n").removesuffix("\r")
    return Step("update", target, Change(before, change.encoded(codec, text), raw, text), moved, notes)


async def _apply(
    ctx: ToolContext, steps: Sequence[Step], made: Sequence[Step | None], said: str
) -> tuple[ToolResult, dict[Path, bytes | None]]:
    """Write what was allowed of the steps (None: nothing of it), and tell; with the contents by path."""
    done = [step for step in made if step is not None]
    writes = [write for step in done for write in step.writes()]
    with explained("A file of the patch"):
        written = {write.path: write for write in await ctx.write_files(writes)}
    done = [step.as_made(written) for step in done]
    beside = [
        words
        for step in done
        if (words := told_beside(ctx.session_id, step.where.title, written[step.where.path]))
    ]
    files = await asyncio.to_thread(_described, ctx, done)
    pairs = zip(steps, made, strict=True)
    edits = [words for step, after in pairs if (words := step.told(after))]
    names = ", ".join(file["relativePath"] for file in files)
    sums = {key: sum(file[key] for file in files) for key in ("additions", "deletions")}
    diff = "".join(file["diff"] for file in files)
    metadata: dict[str, Any] = {
        "diff": diff,
        "files": files,
        "filediff": {"file": names, **sums},
        "diagnostics": {},
    }
    if edits:
        metadata["edited"] = True
    heading = "Applied the patch." if not edits else "Applied the patch in part, as the user allowed it."
    listed = [f"{file['type']}: {file['relativePath']}" for file in files]
    listed += [f"{step.where.title}: {note}." for step in done for note in step.notes]
    spoken = [f"The user said: {said}"] if said else []
    told = [heading if done else "Nothing of the patch was applied.", *listed, *edits, *spoken, *beside]
    contents = {path: write.content for path, write in written.items()}
    return ToolResult(names or steps[0].where.title, "\n".join(told), metadata), contents


def _asked(ctx: ToolContext, steps: Sequence[Step]) -> dict[str, Any]:
    files = _described(ctx, steps)
    diff = "".join(file["diff"] for file in files)
    return {"filepath": ", ".join(file["filepath"] for file in files), "diff": diff, "files": files}


def _described(ctx: ToolContext, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """As OpenCode's clients read it, and for each file what the request for a single one has."""
    room = KEPT_TEXT // max(1, len(steps))
    return [_file(step, describe(ctx, step.where, step.change, room)) for step in steps]


def _file(step: Step, shown: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "filePath": shown["filepath"],
        "filepath": shown["filepath"],
        "relativePath": step.where.title,
        "type": "move" if step.moved else step.kind,
        "diff": shown["diff"],
        "additions": shown["filediff"]["additions"],
        "deletions": shown["filediff"]["deletions"],
        "filediff": shown["filediff"],
        **({"movePath": step.target.title} if step.moved else {}),
    }


TOOL = Tool("apply_patch", DESCRIPTION, Input, execute, "edit", offered=by_patch)
