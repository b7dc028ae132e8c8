"""`plan_enter`: propose to the user to plan before anything is changed."""

from __future__ import annotations

from pydantic import BaseModel

from agents.toolkit.base import Option, Question, Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.plans import PLAN, has_plan_mode, is_planning
from sessions.core.plans import shown_path

DESCRIPTION = """\
Propose plan mode to the user, before you begin on something large: where many files change, where there \
are several ways to do it, or where it is not clear what is wanted. In plan mode you look around and write \
a plan, and nothing is changed until the user has approved it. Do not propose it for small or clear tasks, \
or when the user has said how it is to be done. It takes no arguments."""

YES, NO = "Plan first", "Start now"
ENTERED = "The user agreed to plan first. Make a plan for what they asked, in the file {path}."


class Input(BaseModel):
    pass


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask; raises ToolError in plan mode, and with the user's words when they want no plan."""
    if is_planning(ctx.turn):
        raise ToolError("This session is in plan mode already. Write the plan, then call plan_exit.")
    if not has_plan_mode(ctx.turn):
        raise ToolError("There is no plan mode to enter here. Go on with the work.")
    await ctx.ask("plan_enter", ["*"], always=["*"])
    text = "The agent proposes to make a plan before it changes anything."
    question = Question(text, "Plan first?", [Option(YES, "Nothing is changed yet"), Option(NO)])
    asked = [{"question": text, "header": question.header, "options": []}]
    await ctx.update(metadata={"questions": asked})
    [answer] = await ctx.question([question])
    if answer != [YES]:
        said = "" if answer in ([], [NO]) else " They said: " + "\n".join(answer)
        raise ToolError(f"The user wants no plan first.{said} Go on with the work without one.")
    await ctx.steer(ENTERED.format(path=shown_path(ctx.turn.session)), agent=PLAN)
    told = "The user agreed. Plan mode begins with the next step."
    return ToolResult("Plan mode", told, {"questions": asked, "answers": [answer]})


TOOL = Tool("plan_enter", DESCRIPTION, Input, execute, "plan_enter", has_plan_mode)
