"""Which family a model belongs to: it decides the base prompt and which editing tools are offered."""

from __future__ import annotations

import re
from typing import Literal

from agents.llm.types import Model

Family = Literal["claude", "gpt", "codex", "gemini", "kimi", "glm", "qwen", "default"]

_PATTERNS: tuple[tuple[Family, str], ...] = (
    ("claude", r"claude"),
    ("gemini", r"gemini"),
    ("kimi", r"kimi|moonshot"),
    ("glm", r"\bglm\b"),
    ("qwen", r"qwen|qwq"),
    ("default", r"gpt-oss"),
    ("codex", r"gpt-[5-9]|codex"),
    ("gpt", r"gpt-|chatgpt|\bo[1-9](-|$)"),
)

OPEN: frozenset[Family] = frozenset({"default", "kimi", "glm", "qwen"})
"""Models that many serve, each in a way of their own."""

_REASONING = re.compile(r"(^|[/.])(gpt-([5-9]|\d\d)(?!.*-chat)|o[1-9](-|$)|codex-)")


def family(model: Model) -> Family:
    """By the name the provider knows the model by, or the one it is configured under."""
    names = f"{model.api_model} {model.model_id}".lower()
    return next((name for name, pattern in _PATTERNS if re.search(pattern, names)), "default")


def reasons(name: str) -> bool:
    """Whether a name is that of an OpenAI model that reasons, at whatever address it is asked."""
    return bool(_REASONING.search(name.lower()))


def patches(model: Model) -> bool:
    """Whether the model edits files by `apply_patch` rather than by `edit` and `write`."""
    return family(model) in ("gpt", "codex")
