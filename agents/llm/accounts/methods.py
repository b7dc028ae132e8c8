"""The ways to sign in, by provider, as both protocols list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.llm.accounts.flows import chatgpt, copilot
from agents.llm.accounts.flows.base import Flow, InvalidInput, Method

FLOWS: Mapping[str, Flow] = {"openai": chatgpt.FLOW, "github-copilot": copilot.FLOW}

_BY_KEY: Mapping[str, Any] = {"type": "api", "label": "Manually enter API Key"}
_KEYS = frozenset({"openai"})
"""Providers with sign-ins that take a key as well."""
_MOST = 2000


def listed() -> dict[str, list[dict[str, Any]]]:
    """What is more than a key, by provider; a client asks for a key where nothing is said."""
    return {provider_id: _methods(provider_id) for provider_id in FLOWS}


def method_at(provider_id: str, place: int) -> Method | None:
    """The sign-in at a place of that list; None where there is none, or a key is asked for."""
    methods = FLOWS[provider_id].methods if provider_id in FLOWS else ()
    return methods[place] if 0 <= place < len(methods) else None


def method_named(provider_id: str, name: str) -> Method | None:
    methods = FLOWS[provider_id].methods if provider_id in FLOWS else ()
    return next((method for method in methods if method.id == name), None)


def check(method: Method, inputs: Mapping[str, str]) -> None:
    """Raises InvalidInput for an answer to nothing that was asked, or one too long to be an answer."""
    asked = {prompt["key"] for prompt in method.prompts}
    for name, value in inputs.items():
        if name not in asked:
            raise InvalidInput(name, "This was not asked for.")
        if len(value) > _MOST:
            raise InvalidInput(name, "This is too long.")


def _methods(provider_id: str) -> list[dict[str, Any]]:
    found = [
        {
            "type": "oauth",
            "label": method.label,
            **({"prompts": [dict(prompt) for prompt in method.prompts]} if method.prompts else {}),
        }
        for method in FLOWS[provider_id].methods
    ]
    return [*found, dict(_BY_KEY)] if provider_id in _KEYS else found
