"""Limits and prices of known models, out of litellm's own table, without importing litellm.

The table is a JSON file of some 3 MB. It is read at the first question, each entry is reduced as soon as it
is parsed, and only chat models that call tools, of providers we know, are kept.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

from agents.llm.known import KNOWN, LISTED
from agents.llm.types import Price

logger = logging.getLogger(__name__)

_FILE = "model_prices_and_context_window_backup.json"
_MILLION = 1_000_000
_FREE = Price()
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_ALWAYS_EFFORTS = ("low", "medium", "high")
_ELSEWHERE = ("/v1/responses", "/v1/batch")
"""Endpoints at which a key alone reaches no model of ours, save those of OpenAI."""
_RESPONSES = frozenset({"chatgpt", "github_copilot", "openai"})
"""Vendors that are asked by OpenAI's responses where a model has nothing else."""
_CHAT_ONLY = re.compile(r"-(audio|search)(-|$)|^gpt-audio")
"""OpenAI's models that are asked by chat completions and not by responses."""
_ABOVE = re.compile(r"input_cost_per_token(_above_(\d+)k_tokens)")


@dataclass(frozen=True, slots=True)
class Limits:
    """Token limits, price and abilities of a model; the defaults stand for a model nobody knows."""

    context: int = 128_000
    output: int = 8_192
    price: Price = _FREE
    reasoning: bool = False
    attachment: bool = False
    tool_call: bool = True
    efforts: tuple[str, ...] | None = None
    """How hard it can be told to think, least first; None where the table says nothing."""
    thinking: Literal["budget", "adaptive", "silent"] = "budget"
    """How a Claude is told to think: by a number of tokens or by itself; `silent` ones hide it."""
    retired: bool = False
    only: Literal["", "openai", "responses"] = ""
    """The one of OpenAI's two protocols that it is asked by, where it has one only."""


UNKNOWN = Limits()


def limits(provider: str, model: str) -> Limits:
    """What the table says of a model; `provider` is one of `known.LISTED`. UNKNOWN where it says nothing.

    A gateway's `vendor/model` is looked up as the vendor's own, whose names have dashes for dots.
    """
    known = LISTED.get(provider)
    if known is None:
        return UNKNOWN
    if known.gateway:
        vendor, _, name = model.partition("/")
        return UNKNOWN if vendor not in KNOWN or KNOWN[vendor].gateway else _of_vendor(vendor, name)
    return _table().get(known.vendor, {}).get(model, UNKNOWN)


def models_of(provider: str) -> list[str]:
    """The names of a known provider's models that are still served, in the table's order."""
    known = LISTED.get(provider)
    if known is None:
        return []
    listed = [name for name, row in _table().get(known.vendor, {}).items() if not row.retired]
    return [*known.models, *listed]


def _of_vendor(vendor: str, name: str) -> Limits:
    found = limits(vendor, name)
    return found if found is not UNKNOWN else limits(vendor, name.replace(".", "-"))


@cache
def _table() -> Mapping[str, Mapping[str, Limits]]:
    """Rows by vendor and model name. Empty, with a log line, when the file is missing or broken."""
    spec = importlib.util.find_spec("litellm")
    folders = spec.submodule_search_locations if spec else None
    today = date.today().isoformat()
    try:
        text = (Path((folders or [""])[0]) / _FILE).read_text(encoding="utf-8")
        entries = json.loads(text, object_hook=lambda entry: _reduced(entry, today))
    except (OSError, ValueError) as error:
        logger.warning("no price table, limits are guessed: %s", error)
        return {}
    table: dict[str, dict[str, Limits]] = {known.vendor: {} for known in LISTED.values()}
    for key, entry in entries.items():
        if isinstance(entry, tuple):
            vendor, row = entry
            name = key.removeprefix(f"{vendor}/")
            if vendor == "openai" and _CHAT_ONLY.search(name):
                row = replace(row, only="openai")
            table[vendor].setdefault(name, row)
    return table


def _reduced(entry: dict[str, Any], today: str) -> tuple[str, Limits] | dict[str, Any] | None:
    """An entry as (vendor, row), None for what we have no use for; the whole table passes as it is."""
    provider = entry.get("litellm_provider")
    if provider is None:
        return entry if "sample_spec" in entry else None
    vendor = _vendor(str(provider))
    if vendor not in _vendors() or not entry.get("supports_function_calling"):
        return None
    if vendor in _RESPONSES and entry.get("mode") == "responses":
        return vendor, replace(_row(entry, today), only="responses")
    endpoints = entry.get("supported_endpoints")
    if entry.get("mode") != "chat" or (endpoints and all(place in _ELSEWHERE for place in endpoints)):
        return None
    return vendor, _row(entry, today)


@cache
def _vendors() -> frozenset[str]:
    return frozenset(known.vendor for known in LISTED.values())


def _vendor(provider: str) -> str:
    """Families of one vendor have names of their own: `vertex_ai-language-models`, `bedrock_converse`."""
    return "bedrock" if provider == "bedrock_converse" else provider.partition("-")[0]


def _row(entry: Mapping[str, Any], today: str) -> Limits:
    most = entry.get("max_tokens")
    return Limits(
        context=_count(entry.get("max_input_tokens") or most, UNKNOWN.context),
        output=_count(entry.get("max_output_tokens") or most, UNKNOWN.output),
        price=_price(entry),
        reasoning=bool(entry.get("supports_reasoning")),
        attachment=bool(entry.get("supports_vision") or entry.get("supports_pdf_input")),
        efforts=_efforts(entry),
        thinking=_thinking(entry),
        retired=str(entry.get("deprecation_date") or "9999") < today,
    )


def _efforts(entry: Mapping[str, Any]) -> tuple[str, ...] | None:
    if not entry.get("supports_reasoning"):
        return None
    if isinstance(levels := entry.get("reasoning_effort_levels"), list):
        return tuple(map(str, levels))
    return tuple(
        effort
        for effort in _EFFORTS
        if entry.get(f"supports_{effort}_reasoning_effort", effort in _ALWAYS_EFFORTS)
    )


def _thinking(entry: Mapping[str, Any]) -> Literal["budget", "adaptive", "silent"]:
    if not entry.get("supports_adaptive_thinking"):
        return "budget"
    return "adaptive" if entry.get("supports_legacy_thinking") else "silent"


def _price(entry: Mapping[str, Any]) -> Price:
    """With that of long contexts, of which an entry has one at most."""
    price = _tier(entry, "", _FREE)
    found = next(filter(None, map(_ABOVE.fullmatch, entry)), None)
    if found is None:
        return price
    return replace(price, long=replace(_tier(entry, found[1], price), above=int(found[2]) * 1000))


def _tier(entry: Mapping[str, Any], suffix: str, base: Price) -> Price:
    fresh = _dollars(entry, f"input_cost_per_token{suffix}", base.input)
    return Price(
        input=fresh,
        output=_dollars(entry, f"output_cost_per_token{suffix}", base.output),
        # Where no price of its own is named, the cache costs what fresh input does.
        cache_read=_dollars(entry, f"cache_read_input_token_cost{suffix}", base.cache_read or fresh),
        cache_write=_dollars(entry, f"cache_creation_input_token_cost{suffix}", base.cache_write or fresh),
    )


def _dollars(entry: Mapping[str, Any], name: str, default: float) -> float:
    """Per million tokens."""
    dollars = entry.get(name)
    return round(dollars * _MILLION, 6) if isinstance(dollars, int | float) else default


def _count(value: Any, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default
