"""`task`: give a subagent something to do in a session of its own."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from agents.config.schema import Config
from agents.toolkit.base import Errand, Tool, ToolContext, ToolResult
from agents.toolkit.definitions import Agent, known_agents
from agents.toolkit.permission.rules import evaluate
from agents.toolkit.turn import Turn

DESCRIPTION = """\
Give a subagent something to do. It works in a session of its own, sees nothing of this conversation, and \
comes back with one text, which the user does not see: tell them what matters of it. Put all it has to \
know into the prompt: what to do, where to look, whether it may change files, and what to report. Several \
calls at once run side by side, so make independent errands in one step. Do not use it to read a file that \
you can name, to find one definition, or for what one or two calls of your own would do, and do not do \
again what you have handed over. Say how it is to verify its work, and check what it claims before you \
build on it. To go on with an earlier errand give its `task_id`: the subagent then remembers what it did."""


class Input(BaseModel):
    description: str = Field(min_length=1, description="What it is about, in three to six words.")
    prompt: str = Field(min_length=1, description="The errand, complete in itself.")
    subagent_type: str = Field(min_length=1, description="The name of the subagent.")
    task_id: str = Field("", description="The task_id of an earlier errand, to go on with it.")
    command: str = Field("", description="The command that led to this errand, if there was one.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Wait for the subagent; its last text is the output."""
    errand = Errand(args.subagent_type, args.description, args.prompt, args.task_id, args.command)
    report = await ctx.delegate(errand)
    output = f"task_id: {report.task_id}\n\n<task_result>\n{report.text}\n</task_result>"
    return ToolResult(args.description, output, report.metadata)


def subagents(config: Config) -> dict[str, Agent]:
    """The agents that can be sent, by name; without the rules that configuration gives them."""
    return {name: agent for name, agent in known_agents(config).items() if agent.mentionable}


def sendable(turn: Turn) -> Sequence[Agent]:
    """Those that the rules of a turn do not deny."""
    found = subagents(turn.config)
    return [agent for name, agent in found.items() if evaluate("task", name, turn.rules).action != "deny"]


def describe(turn: Turn) -> str:
    """With the subagents that this turn's agent may send."""
    lines = (f"- {agent.name}: {agent.description or 'no description'}" for agent in sendable(turn))
    return "\n".join([DESCRIPTION, "", "Subagents:", *lines])


def offered(turn: Turn) -> bool:
    """Not where nobody could be sent."""
    return turn.config.subagent_depth > 0 and bool(sendable(turn))


TOOL = Tool("task", DESCRIPTION, Input, execute, "task", offered, describe)
