"""`skill`: read how a kind of work is done in this project."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, Field

from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.skills import BadSkill, Skill, body, discover, files_beside, permitted
from agents.toolkit.turn import Turn

DESCRIPTION = """\
Read a skill: instructions for one kind of work, written down beforehand. The system context lists the \
skills there are, by name and description. Read the one that fits before you begin such work (once is \
enough) and follow it. You get its text, the folder it lies in and the names of the files beside it. Paths \
in the text start in that folder; read or run those files with the other tools when the text says so."""


class Input(BaseModel):
    name: str = Field(description="The name of the skill, as it is listed.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask `skill` with the name and give the body. Raises ToolError with the names there are."""
    found = await asyncio.to_thread(discover, ctx.turn.directory, ctx.turn.config)
    skill = found.skills.get(args.name.strip())
    if skill is None:
        names = ", ".join(known.name for known in permitted(found, ctx.turn.rules)) or "none"
        broken = [problem for problem in found.problems if problem.file.parent.name == args.name.strip()]
        why = "".join(f" {problem.message[0].upper()}{problem.message[1:]}." for problem in broken[:1])
        raise ToolError(f"There is no skill of this name.{why} There are: {names}.")
    await ctx.ask("skill", [skill.name], always=[skill.name], metadata={"name": skill.name})
    try:
        return await asyncio.to_thread(_read, skill)
    except BadSkill as error:
        raise ToolError(f"The skill {skill.name} cannot be read: {error}.") from error


def _read(skill: Skill) -> ToolResult:
    names, more = files_beside(skill)
    listed = "\n".join(f"  {name}" for name in names) + ("\n  (and more)" if more else "")
    beside = f"Files beside it:\n{listed}" if names else "There are no files beside it."
    output = f'<skill name="{skill.name}">\n{body(skill)}\n</skill>\n\nIts folder: {skill.folder}\n{beside}'
    return ToolResult(f"Skill {skill.name}", output, {"name": skill.name, "dir": str(skill.folder)})


def _offered(turn: Turn) -> bool:
    return bool(permitted(discover(turn.directory, turn.config), turn.rules))


TOOL = Tool("skill", DESCRIPTION, Input, execute, "skill", offered=_offered)
