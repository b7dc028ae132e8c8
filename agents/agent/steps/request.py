"""What a provider is asked: two system texts, the history, the tools."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.agent.steps.history import request_messages
from agents.config.limits import limits_of
from agents.llm.families import family
from agents.llm.settings.domains import Settings
from agents.llm.types import ChatMessage, ModelRequest, TextContent
from agents.toolkit import scratch
from agents.toolkit.definitions import OURS, family_prompt, prompt_text
from agents.toolkit.mentions import fitting
from agents.toolkit.turn import Turn
from agents.tools import structured
from agents.tools.registry import Toolset
from sessions.core.wire.messages import UserMessage

OUT_OF_STEPS = "The limit of steps for this request"
OUT_OF_CALLS = "A limit of this session"
IN_WORDS = """<system-reminder>
{} is reached, and no tools are available any more. Answer in words alone: \
what was done, what was found, and what remains to do.
</system-reminder>"""

SCRATCH = """\
Scratch files (something to try out, output to look at again) go into {}: nobody is asked \
about that place, and it is removed with the session."""

LAST_CALL = """<system-reminder>
{} is reached, and no tool but {} is available any more. Call it now with what is known.
</system-reminder>"""


def build(
    turn: Turn,
    prompt: UserMessage,
    entries: Sequence[dict[str, Any]],
    baseline: str,
    tools: Toolset,
    taken: int,
    exhausted: bool = False,
) -> ModelRequest:
    """The request of the step after `taken` others; `exhausted`: a limit of calls ends the turn. The base
    prompt and the epoch's baseline come first and stay as they are, so that the provider's cache keeps
    them."""
    messages = request_messages(entries, turn.model, answered=True)
    ended = OUT_OF_CALLS if exhausted else ""
    if turn.agent.steps is not None and taken >= turn.agent.steps:
        ended = OUT_OF_STEPS
    if ended:
        words = (LAST_CALL if tools.form else IN_WORDS).format(ended, structured.NAME)
        messages.append(ChatMessage("user", [TextContent(words)]))
    specs = tools.specs(turn, prompt.tools or {}) if turn.model.tool_call else []
    # At its end, there is only the tool to answer by, if any.
    offered = [spec for spec in specs if spec.name == structured.NAME] if ended else specs
    chosen = settings_of(turn)
    most = limits_of(turn.config).answer_tokens or turn.model.output
    return ModelRequest(
        model=replace(turn.model, output=min(turn.model.output, most)),
        system=[_first(turn, [spec.name for spec in specs]), _second(turn, baseline, prompt, tools)],
        messages=messages,
        tools=offered,
        tool_choice="required" if tools.form and offered else "auto",
        controls=chosen.controls,
        options=chosen.options,
        body=chosen.body,
        subagent=bool(turn.session.parent_id),
        session=turn.session.id,
    )


def _second(turn: Turn, baseline: str, prompt: UserMessage, tools: Toolset) -> str:
    """What follows the base prompt."""
    place = SCRATCH.format(scratch.folder(Path(settings.TOOL_OUTPUT_DIR), turn.session.id))
    form = structured.INSTRUCTION if tools.form else ""
    return "\n\n".join(text for text in (baseline, place, prompt.system, form) if text)


def _first(turn: Turn, offered: Collection[str]) -> str:
    """The base prompt, with what a subagent has to know of whom it works for."""
    text = base_prompt(turn, offered)
    told = not turn.session.parent_id or turn.agent.prompt in OURS
    return text if told else f"{text}\n\n{prompt_text('subagent')}"


def base_prompt(turn: Turn, offered: Collection[str] = ()) -> str:
    """The agent's own prompt, or that of the model's family; one of ours names no tool that is not
    offered."""
    own = turn.agent.prompt
    return own if own and own not in OURS else fitting(own or family_prompt(family(turn.model)), offered)


def settings_of(turn: Turn) -> Settings:
    """What the agent asks of its model, under the variant that was chosen."""
    return turn.agent.settings.under(turn.model.variants.get(turn.variant, Settings()))
