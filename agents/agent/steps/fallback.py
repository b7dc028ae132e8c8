"""Another model for the rest of a turn whose own has failed, as the configuration's `fallback` says."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agents.agent.run import Run
from agents.agent.steps.recorder import Recorder
from agents.llm.providers import UnknownModel
from agents.llm.types import ContextOverflow, Model, ModelError
from agents.toolkit.catalog import model_for
from agents.toolkit.turn import Turn

logger = logging.getLogger(__name__)

_THEIRS = frozenset({401, 402, 403, 404, 408, 409, 429})
"""The statuses below 500 at which another provider may do better with the same request."""


def after(run: Run, turn: Turn) -> list[str]:
    """The models that may still take over, as `provider/model`."""
    named = turn.config.fallback if turn.agent.fallback is None else turn.agent.fallback
    tried = {turn.model.ref, *run.instead}
    return [ref for ref in dict.fromkeys(named) if ref not in tried]


def is_the_providers(error: ModelError) -> bool:
    """Whether it failed by itself, and not for what it was asked."""
    if isinstance(error, ContextOverflow):
        return False
    status = error.status
    return error.retryable or status is None or status in _THEIRS or status >= 500


async def choose(run: Run, turn: Turn, refs: Sequence[str], error: ModelError) -> Model | None:
    """The first of these models that there is, if the error calls for one."""
    for ref in refs if is_the_providers(error) else ():
        try:
            return await model_for(run.directory, ref)
        except UnknownModel as unknown:
            logger.warning("session %s: a fallback is passed over: %s", turn.session.id, unknown)
    return None


async def switch(run: Run, recorder: Recorder, turn: Turn, other: Model, error: ModelError) -> None:
    """Say so in the conversation; the next prompt is answered by the first model again."""
    run.instead[turn.model.ref] = other.ref
    why = error.message.rstrip(". ")
    words = f"{turn.model.label} failed ({why}). {other.label} goes on with this turn."
    await recorder.retrying(0, ModelError(words))
