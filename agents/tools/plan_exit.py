"""`plan_exit`: put the finished plan to the user, and go on with building it."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from agents.toolkit.base import Option, Question, Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.plans import BUILD, has_plan_mode, is_planning
from sessions.core.plans import APPROVE, KEEP_PLANNING, plan_text, shown_path

DESCRIPTION = """\
Say that the plan in the plan file is complete. The user sees it and approves it, or says what is missing. \
Call it in plan mode only, when the plan is written and no question is open. It takes no arguments: it \
reads the plan from the plan file."""

APPROVED = "The plan at {path} has been approved, you can edit files now. Read the plan and carry it out."


class Input(BaseModel):
    pass


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask; raises ToolError outside of plan mode, without a plan and when the user wants more planning."""
    if not is_planning(ctx.turn):
        raise ToolError(
            "plan_exit ends plan mode, and this session is not in plan mode. Go on with the work."
        )
    await ctx.ask("plan_exit", ["*"], always=["*"])
    path = shown_path(ctx.turn.session)
    if not await asyncio.to_thread(plan_text, ctx.turn.session):
        raise ToolError(f"There is no plan yet: {path} is missing or empty. Write the plan there first.")
    question = Question(
        f"Plan at {path} is complete. Start implementing?",
        "Plan",
        [
            Option(APPROVE, "Leave plan mode and carry out the plan"),
            Option(KEEP_PLANNING, "Stay in plan mode and work on the plan"),
        ],
    )
    asked = [{"question": question.question, "header": question.header, "options": []}]
    await ctx.update(metadata={"questions": asked})
    [answer] = await ctx.question([question])
    _check(answer, path)
    await ctx.steer(APPROVED.format(path=path), agent=BUILD)
    told = f"The user approved the plan at {path}. Plan mode ends with this step."
    return ToolResult("Plan approved", told, {"questions": asked, "answers": [answer]})


def _check(answer: list[str], path: str) -> None:
    if answer == [APPROVE]:
        return
    words = "" if answer in ([], [KEEP_PLANNING]) else " They said: " + "\n".join(answer)
    raise ToolError(
        f"The user does not approve the plan yet and wants to go on planning.{words}\n"
        f"Stay in plan mode, work that into {path}, and call plan_exit again when it is done."
    )


TOOL = Tool("plan_exit", DESCRIPTION, Input, execute, "plan_exit", has_plan_mode)
