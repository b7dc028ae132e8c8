"""The one place that reads options as OpenCode's configuration has them: flat, in the names of the AI SDK.

Each name goes into one of the three domains of `Settings`: a Generation Control, a Model Request Option, or,
where it is neither, a field of the request's body, which stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from agents.llm.settings.domains import Controls, Settings

_OTHER_NAMES: Final = {
    "max_tokens": "max_output",
    "max_output_tokens": "max_output",
    "max_completion_tokens": "max_output",
    "stop_sequences": "stop",
    "verbosity": "text_verbosity",
}

_OPTIONS: Final = frozenset(
    "effort include logit_bias logprobs metadata parallel_tool_calls prediction prompt_cache_key"
    " prompt_cache_retention reasoning reasoning_effort reasoning_summary safety_identifier service_tier"
    " store text_verbosity think_tags thinking thinking_config top_logprobs user".split()
)


def settings_of(options: Mapping[str, Any]) -> Settings:
    """The settings that a flat mapping stands for; one whose value a control cannot have is a body field."""
    controls: dict[str, Any] = {}
    known: dict[str, Any] = {}
    body: dict[str, Any] = {}
    for written, value in options.items():
        snake = snake_case(written)
        name = _OTHER_NAMES.get(snake, snake)
        if name in _CONTROLS and (fitting := _CONTROLS[name](value)) is not None:
            controls[name] = fitting
        elif name in _OPTIONS:
            known[name] = _renamed(value)
        else:
            body[snake if name in _CONTROLS else written] = value
    return Settings(Controls(**controls), known, body)


def snake_case(name: str) -> str:
    """`reasoningEffort` to `reasoning_effort`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _renamed(value: Any) -> Any:
    """One level of names below an option; what is deeper is schemas and data of the user's."""
    return {snake_case(key): item for key, item in value.items()} if isinstance(value, Mapping) else value


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(value: Any) -> list[str] | None:
    texts = [value] if isinstance(value, str) else value
    return list(texts) if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else None


_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "top_k": _whole,
    "max_output": _whole,
    "seed": _whole,
    "stop": _texts,
}
_CONTROLS: Final[Mapping[str, Callable[[Any], Any]]] = {
    item.name: _FORMS.get(item.name, _number) for item in fields(Controls)
}
