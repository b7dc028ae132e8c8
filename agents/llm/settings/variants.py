"""Variants: settings of a model to choose from by name, such as levels of thinking.

The built-in ones follow from what the price table says of a model and the protocol it is asked by; OpenCode's
`variants` of a model add to them, change them, or take them away (`disabled: true`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from agents.llm.prices import Limits
from agents.llm.settings.domains import Settings
from agents.llm.settings.ingest import settings_of
from agents.llm.types import Model

logger = logging.getLogger(__name__)

_HIGH, _MAX = 16_000, 31_999
"""Tokens of thinking; more than 32,000 would outlast most connections."""
_DEFAULT_EFFORTS = ("low", "medium", "high")


def variants_of(
    protocol: str, limits: Limits, output: int, written: Mapping[str, Mapping[str, Any]]
) -> dict[str, Settings]:
    """All variants of a model that answers with at most `output` tokens, in the order of their effort."""
    found: dict[str, dict[str, Any]] = _built_in(protocol, limits, output) if limits.reasoning else {}
    for name, change in written.items():
        found[name] = {**found.get(name, {}), **change}
    return {
        name: settings_of({key: value for key, value in options.items() if key != "disabled"})
        for name, options in found.items()
        if not options.get("disabled")
    }


def known_variant(model: Model, name: str) -> str:
    """The name if the model has such a variant, else an empty one: a choice made for another model is no
    reason to answer nothing."""
    if not name or name in model.variants:
        return name
    logger.info("%s has no variant %r; it is asked without one", model.ref, name)
    return ""


def _built_in(protocol: str, limits: Limits, output: int) -> dict[str, dict[str, Any]]:
    efforts = _DEFAULT_EFFORTS if limits.efforts is None else limits.efforts
    if protocol != "anthropic":
        return {effort: {"reasoningEffort": effort} for effort in efforts}
    if limits.thinking == "budget":
        budgets = {"high": min(_HIGH, output // 2 - 1), "max": min(_MAX, output - 1)}
        return {
            name: {"thinking": {"type": "enabled", "budgetTokens": budget}}
            for name, budget in budgets.items()
            if budget > 0
        }
    # Such a model leaves its thoughts out of the answer unless a summary is asked for.
    thinking = {"type": "adaptive"} | ({"display": "summarized"} if limits.thinking == "silent" else {})
    return {effort: {"thinking": thinking, "effort": effort} for effort in efforts if effort != "none"}
