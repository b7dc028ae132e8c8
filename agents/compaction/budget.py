"""How much of a model's window a conversation may fill (seed 004 §4.1)."""

from __future__ import annotations

from dataclasses import dataclass

from agents.config import CompactionConfig
from agents.llm.readers.openai_body import output_limit
from agents.llm.settings.domains import Controls
from agents.llm.types import Model

BUFFER = 20_000
"""Tokens kept free in a window that is counted for the input alone."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens: the whole window, and what of it is kept free for the answer."""

    window: int
    reserved: int

    @property
    def usable(self) -> int:
        return self.window - self.reserved

    def limits(self) -> dict[str, int]:
        """As they are kept with the session."""
        return {"window": self.window, "reserved": self.reserved}

    def words(self) -> str:
        return (
            f"{self.usable:,} tokens are usable, the window's {self.window:,} less {self.reserved:,} "
            "that are kept free for the answer"
        )


def budget(model: Model, config: CompactionConfig) -> Budget:
    """The reserve is the configured one, else what the model may answer. A small window keeps three quarters
    of itself, whatever the answer may be, and half of itself whatever was configured."""
    window = model.input or model.context
    answer = output_limit(model, Controls())
    if config.reserved is not None:
        return Budget(window, min(config.reserved, window // 2))
    return Budget(window, min(BUFFER if model.input else answer, answer, window // 4))
