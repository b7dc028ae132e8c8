"""How a family of models is best sampled, where its makers say so and its server does not do it by itself."""

from __future__ import annotations

import re

from agents.llm.settings.domains import Controls

_FAMILIES = (
    (re.compile(r"gemini"), Controls(temperature=1.0, top_p=0.95, top_k=64)),
    (re.compile(r"qwen3?-?coder"), Controls(temperature=0.7, top_p=0.8, top_k=20)),
    (re.compile(r"kimi-k2(?!.*thinking)"), Controls(temperature=0.6)),
    (re.compile(r"glm-4\.[67]"), Controls(temperature=1.0, top_p=0.95)),
    (re.compile(r"minimax-m2"), Controls(temperature=1.0, top_p=0.95, top_k=40)),
)


def recommended(name: str) -> Controls:
    """The controls for a model's name; none are said of a family without a recommendation."""
    lowered = name.lower()
    return next((controls for pattern, controls in _FAMILIES if pattern.search(lowered)), Controls())
