"""What a provider is asked: two system texts, the history, the tools (seed 004 §9; seed 002)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.definitions import prompt_text
from agents.llm.types import ModelRequest
from agents.runtime.steps.history import request_messages
from agents.runtime.steps.transcript import Entry
from agents.tools.registry import Toolset
from agents.turn import Turn
from sessions.wire.messages import UserMessage

OUT_OF_STEPS = (
    "You have reached the limit of steps for this request; no tools are available now. "
    "Sum up what was done, what was found, and what remains to do."
)


def build(
    turn: Turn, prompt: UserMessage, entries: Sequence[Entry], baseline: str, tools: Toolset, taken: int
) -> ModelRequest:
    """The request of the step after `taken` others. The base prompt and the epoch's baseline come first and
    stay as they are, so that the provider's cache keeps them."""
    exhausted = turn.agent.steps is not None and taken >= turn.agent.steps
    extra = [text for text in (prompt.system, OUT_OF_STEPS if exhausted else "") if text]
    offered = [] if exhausted or not turn.model.tool_call else tools.specs(turn, prompt.tools or {})
    return ModelRequest(
        model=turn.model,
        system=[turn.agent.prompt or prompt_text("default"), "\n\n".join([baseline, *extra])],
        messages=request_messages(entries, turn.model),
        tools=offered,
        temperature=turn.agent.temperature,
        top_p=turn.agent.top_p,
        options=turn.agent.options,
    )
