"""What a provider is asked: two system texts, the history, the tools (seed 004 §9; seed 002)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.definitions import prompt_text
from agents.llm.families import family
from agents.llm.settings.domains import Settings
from agents.llm.types import ChatMessage, ModelRequest, TextContent, ToolSpec
from agents.runtime.steps.history import request_messages
from agents.runtime.steps.transcript import Entry
from agents.tools import structured
from agents.tools.registry import Toolset
from agents.turn import Turn
from sessions.wire.messages import UserMessage

OUT_OF_STEPS = """<system-reminder>
The limit of steps for this request is reached, and no tools are available any more. Answer in words alone: \
what was done, what was found, and what remains to do.
</system-reminder>"""

LAST_CALL = f"""<system-reminder>
The limit of steps for this request is reached, and no tool but {structured.NAME} is available any more. \
Call it now with what is known.
</system-reminder>"""


def build(
    turn: Turn, prompt: UserMessage, entries: Sequence[Entry], baseline: str, tools: Toolset, taken: int
) -> ModelRequest:
    """The request of the step after `taken` others. The base prompt and the epoch's baseline come first and
    stay as they are, so that the provider's cache keeps them."""
    messages = request_messages(entries, turn.model, answered=True)
    exhausted = turn.agent.steps is not None and taken >= turn.agent.steps
    if exhausted:
        messages.append(ChatMessage("user", [TextContent(LAST_CALL if tools.form else OUT_OF_STEPS)]))
    offered = _offered(turn, prompt, tools, exhausted)
    settings = settings_of(turn)
    return ModelRequest(
        model=turn.model,
        system=[base_prompt(turn), _second(baseline, prompt, tools)],
        messages=messages,
        tools=offered,
        tool_choice="required" if tools.form and offered else "auto",
        controls=settings.controls,
        options=settings.options,
        body=settings.body,
        subagent=bool(turn.session.parent_id),
    )


def _second(baseline: str, prompt: UserMessage, tools: Toolset) -> str:
    """What follows the base prompt."""
    form = structured.INSTRUCTION if tools.form else ""
    return "\n\n".join(text for text in (baseline, prompt.system, form) if text)


def _offered(turn: Turn, prompt: UserMessage, tools: Toolset, exhausted: bool) -> Sequence[ToolSpec]:
    """Out of steps, there is only the tool to answer by, if any."""
    if not turn.model.tool_call:
        return []
    specs = tools.specs(turn, prompt.tools or {})
    return [spec for spec in specs if spec.name == structured.NAME] if exhausted else specs


def base_prompt(turn: Turn) -> str:
    """The agent's own prompt, or that of the model's family."""
    return turn.agent.prompt or prompt_text(family(turn.model))


def settings_of(turn: Turn) -> Settings:
    """What the agent asks of its model, under the variant that was chosen."""
    return turn.agent.settings.under(turn.model.variants.get(turn.variant, Settings()))
