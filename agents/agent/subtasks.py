"""Errands that a prompt consists of: run at once, without asking the model whether to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.agent.calls.calls import Calls
from agents.agent.run import Run
from agents.agent.steps.recorder import Recorder
from agents.agent.steps.sample import choice_now, sample
from agents.llm.providers import UnknownModel
from agents.llm.types import Finish, ToolCall, Usage
from agents.toolkit.definitions import UnknownAgent
from agents.tools.registry import toolset
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.store import children
from sessions.core.wire.messages import UserMessage


async def run_subtasks(run: Run, prompt: UserMessage) -> bool:
    """Run the errands of a prompt that has no answer yet, side by side, as calls of an assistant message.
    Whether the model is asked next: not when the user rejected one."""
    errands = await in_db(children.subtasks, run.session.id, prompt.id)
    return not errands or await carry_out(run, prompt, errands)


async def carry_out(run: Run, prompt: UserMessage, errands: Sequence[Mapping[str, Any]]) -> bool:
    """The same for errands at hand, as subtask parts."""
    try:
        turn = await sample(run, choice_now(run, prompt))
    except (UnknownAgent, UnknownModel):
        return True  # the step fails for the same reason, and says so
    recorder = await Recorder.open(run, prompt, turn)
    await recorder.started()
    async with Calls(run, recorder, turn, await toolset(turn)) as calls:
        for errand in errands:
            if (call := await recorder.take(_call(errand))) is not None:
                calls.begin(call)
    await recorder.finished(Finish("tool-calls", Usage()), turn.model)
    return not run.rejected


def _call(errand: Mapping[str, Any]) -> ToolCall:
    """The call that a model would have made."""
    arguments = {
        "description": errand["description"],
        "prompt": errand["prompt"],
        "subagent_type": errand["agent"],
        "command": errand.get("command", ""),
    }
    return ToolCall(ascending("call"), "task", arguments, "")
