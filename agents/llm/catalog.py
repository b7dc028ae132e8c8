"""Limits, abilities and prices of models, out of the table that comes with litellm.

The file is found and read without importing litellm. Of its 3 MB only what is needed is kept.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents.llm.types import Price

logger = logging.getLogger(__name__)

_FILE = "model_prices_and_context_window_backup.json"
_MODES = ("chat", "responses")
_NOT_FOR_CODE = re.compile(
    r"^ft:|audio|realtime|voice|search|computer-use|robotics|tts|image|learnlm|guard|-exp(-|$)"
)
_DATED = re.compile(r"[-@](20\d\d-?\d\d-?\d\d|\d{4})$")


@dataclass(frozen=True, slots=True)
class Limits:
    """What the table says of one model; token limits are 0 where it says nothing."""

    provider: str
    context: int
    output: int
    price: Price
    chat: bool
    tool_call: bool
    reasoning: bool
    attachment: bool


def limits(provider: str, model: str) -> Limits | None:
    """The entry of a model; `provider` is litellm's name (`anthropic`, `gemini`), `model` has no prefix."""
    table = _table()
    if found := table.get(f"{provider}/{model}"):
        return found
    found = table.get(model)
    return found if found and found.provider == provider else None


def models(provider: str) -> dict[str, Limits]:
    """The provider's chat models that call tools; a dated name goes where the same one without date is."""
    prefix = f"{provider}/"
    found = {
        name.removeprefix(prefix): entry
        for name, entry in _table().items()
        if entry.provider == provider and entry.chat and entry.tool_call and not _NOT_FOR_CODE.search(name)
    }
    return {name: entry for name, entry in found.items() if not _is_dated_copy(name, found)}


def _is_dated_copy(name: str, names: Mapping[str, Limits]) -> bool:
    return _DATED.sub("", name) != name and _DATED.sub("", name) in names


@cache
def _table() -> dict[str, Limits]:
    spec = find_spec("litellm")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    try:
        text = Path(folders[0], _FILE).read_text("utf-8")
        # Each entry is cut down while the file is parsed, so the whole of it is never in memory.
        parsed = json.loads(text, object_hook=_pick)
    except (IndexError, OSError, ValueError) as error:
        logger.warning("the table of model limits and prices cannot be read: %s", error)
        return {}
    return {name: entry for name, entry in parsed.items() if isinstance(entry, Limits)}


def _pick(raw: dict[str, Any]) -> Any:
    if "litellm_provider" not in raw:
        return raw if any(isinstance(value, Limits) for value in raw.values()) else None
    if raw.get("mode") not in _MODES:
        return None
    return Limits(
        provider=raw["litellm_provider"],
        context=_tokens(raw.get("max_input_tokens") or raw.get("max_tokens")),
        output=_tokens(raw.get("max_output_tokens") or raw.get("max_tokens")),
        price=_price(raw),
        chat=raw["mode"] == "chat",
        tool_call=bool(raw.get("supports_function_calling")),
        reasoning=bool(raw.get("supports_reasoning")),
        attachment=bool(raw.get("supports_vision")),
    )


def _tokens(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _price(raw: Mapping[str, Any]) -> Price:
    """Per million; the table has it per token."""
    names = ("input_cost_per_token", "output_cost_per_token")
    cached = ("cache_read_input_token_cost", "cache_creation_input_token_cost")
    return Price(*(round(float(raw.get(name) or 0) * 1_000_000, 6) for name in (*names, *cached)))
