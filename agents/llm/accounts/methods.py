"""The ways to sign in, by provider, as both protocols list them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.llm.accounts.flows import chatgpt, copilot
from agents.llm.accounts.flows.base import KEY, Flow, InvalidInput, Method
from agents.llm.accounts.plugged import Found
from sessions.core.sentences import Sentence

FLOWS: Mapping[str, Flow] = {"openai": chatgpt.FLOW, "github-copilot": copilot.FLOW}

_BY_KEY: Mapping[str, Any] = {"type": "api", "label": Sentence("Manually enter API Key")}
_KEYS = frozenset({"openai"})
"""Providers with sign-ins that take a key as well."""
_MOST = 2000


def listed(plugged: Found) -> dict[str, list[dict[str, Any]]]:
    """What is more than a key, by provider; a client asks for a key where nothing is said."""
    return {
        provider_id: [
            dict(_BY_KEY) if method is None else _shape(method) for method in _ways(provider_id, plugged)
        ]
        for provider_id in dict.fromkeys([*FLOWS, *plugged])
    }


def method_at(provider_id: str, place: int, plugged: Found) -> Method | None:
    """The sign-in at a place of that list; None where there is none, or a key is asked for."""
    ways = _ways(provider_id, plugged)
    return ways[place] if 0 <= place < len(ways) else None


def methods_of(provider_id: str, plugged: Found) -> Sequence[Method]:
    """The sign-ins at a provider, ours before those of plugins."""
    return [method for method in _ways(provider_id, plugged) if method is not None and method.action]


def _ways(provider_id: str, plugged: Found) -> Sequence[Method | None]:
    """None stands for a key."""
    ways: list[Method | None] = [*(FLOWS[provider_id].methods if provider_id in FLOWS else ())]
    ways += [None] if provider_id in _KEYS else []
    return [*ways, *(plugged[provider_id].methods if provider_id in plugged else ())]


def _shape(method: Method) -> dict[str, Any]:
    prompts = {"prompts": [dict(prompt) for prompt in method.prompts]} if method.prompts else {}
    return {"type": method.kind, "label": method.label, **prompts}


def check(method: Method, inputs: Mapping[str, str]) -> None:
    """Raises InvalidInput for an answer to nothing that was asked, or one too long to be an answer."""
    asked = {prompt["key"] for prompt in method.prompts} | ({KEY} if method.takes_key else set())
    for name, value in inputs.items():
        if name not in asked:
            raise InvalidInput(name, Sentence("This was not asked for."))
        if len(value) > _MOST:
            raise InvalidInput(name, Sentence("This is too long."))


def applies(when: Mapping[str, str] | None, inputs: Mapping[str, str]) -> bool:
    """Whether a prompt is asked, which may depend on the answer to an earlier one."""
    return when is None or (inputs.get(when["key"]) == when["value"]) == (when["op"] == "eq")
