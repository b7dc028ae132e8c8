"""Which family a model belongs to: it decides the base prompt and which editing tools are offered.

Source: seed 004 §9.2 and §6.2.
"""

from __future__ import annotations

import re
from typing import Literal

from agents.llm.types import Model

Family = Literal["claude", "gpt", "codex", "gemini", "default"]

_PATTERNS: tuple[tuple[Family, str], ...] = (
    ("claude", r"claude"),
    ("gemini", r"gemini"),
    ("default", r"gpt-oss"),
    ("codex", r"gpt-[5-9]|codex"),
    ("gpt", r"gpt-|chatgpt|\bo[1-9](-|$)"),
)


def family(model: Model) -> Family:
    """By the name the provider knows the model by, or the one it is configured under."""
    names = f"{model.api_model} {model.model_id}".lower()
    return next((name for name, pattern in _PATTERNS if re.search(pattern, names)), "default")


def patches(model: Model) -> bool:
    """Whether the model edits files by `apply_patch` rather than by `edit` and `write`."""
    return family(model) in ("gpt", "codex")
