"""Which model a turn is asked of when the caller names none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    provider_id: str
    model_id: str

    def __str__(self) -> str:
        return f"{self.provider_id}/{self.model_id}"

    @property
    def wire(self) -> dict[str, str]:
        return {"providerID": self.provider_id, "modelID": self.model_id}


def default_model(environ: Mapping[str, str]) -> Model | None:
    """The second tier, between a call's own arguments and the server's default: both variables or neither."""
    provider, model = (environ.get(f"OPENCODE_DEFAULT_{name}", "") for name in ("PROVIDER", "MODEL"))
    return Model(provider, model) if provider and model else None
