"""The three domains of what a model is asked with. Terms: docs/glossary.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Controls:
    """Generation Controls: how to sample and how much to say, the same for every provider. None: not said."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_output: int | None = None
    """Tokens of the answer, without what is spent on thinking."""
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    stop: Sequence[str] | None = None

    def said(self) -> dict[str, Any]:
        """The controls that are set, by name."""
        named = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a model is asked with, in the three domains of docs/glossary.md.

    `options` are Model Request Options: what they mean is a provider's, their names are ours (snake case of
    OpenCode's), and each reader encodes those that its protocol knows. `body` are compatibility fields: they
    go into the request's body as they stand. A value of None takes a name away.
    """

    controls: Controls = field(default_factory=Controls)
    options: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)

    def under(self, nearer: Settings) -> Settings:
        """Both, `nearer` winning name by name."""
        return Settings(
            controls=replace(self.controls, **nearer.controls.said()),
            options={**self.options, **nearer.options},
            body={**self.body, **nearer.body},
        )
