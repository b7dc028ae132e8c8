"""What a provider is asked: two system texts, the history, the tools (seed 004 §9; seed 002)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.definitions import prompt_text
from agents.llm.families import family
from agents.llm.settings.domains import Settings
from agents.llm.types import ChatMessage, ModelRequest, TextContent
from agents.runtime.steps.history import request_messages
from agents.runtime.steps.transcript import Entry
from agents.tools.registry import Toolset
from agents.turn import Turn
from sessions.wire.messages import UserMessage

OUT_OF_STEPS = """<system-reminder>
The limit of steps for this request is reached, and no tools are available any more. Answer in words alone: \
what was done, what was found, and what remains to do.
</system-reminder>"""


def build(
    turn: Turn, prompt: UserMessage, entries: Sequence[Entry], baseline: str, tools: Toolset, taken: int
) -> ModelRequest:
    """The request of the step after `taken` others. The base prompt and the epoch's baseline come first and
    stay as they are, so that the provider's cache keeps them."""
    messages = request_messages(entries, turn.model)
    exhausted = turn.agent.steps is not None and taken >= turn.agent.steps
    if exhausted:
        messages.append(ChatMessage("user", [TextContent(OUT_OF_STEPS)]))
    settings = settings_of(turn)
    return ModelRequest(
        model=turn.model,
        system=[base_prompt(turn), "\n\n".join(text for text in (baseline, prompt.system) if text)],
        messages=messages,
        tools=[] if exhausted or not turn.model.tool_call else tools.specs(turn, prompt.tools or {}),
        controls=settings.controls,
        options=settings.options,
        body=settings.body,
        subagent=bool(turn.session.parent_id),
    )


def base_prompt(turn: Turn) -> str:
    """The agent's own prompt, or that of the model's family."""
    return turn.agent.prompt or prompt_text(family(turn.model))


def settings_of(turn: Turn) -> Settings:
    """What the agent asks of its model, under the variant that was chosen."""
    return turn.agent.settings.under(turn.model.variants.get(turn.variant, Settings()))
