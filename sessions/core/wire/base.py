"""The base of every wire shape: Python names inside, OpenCode's names at the wire."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Wire(BaseModel):
    """Unknown keys are kept, so that a newer client's data survives a round trip."""

    model_config = ConfigDict(populate_by_name=True, extra="allow", validate_assignment=False)

    def wire(self) -> dict[str, Any]:
        """The JSON object OpenCode's clients expect: aliases, no nulls."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def tight(data: Any) -> str:
    """JSON without white space. Raises ValueError for numbers that JSON has not."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


LARGEST = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly (RFC 8259 §6)."""
Amount = Annotated[int, Field(ge=0, le=LARGEST)]
Moment = Annotated[float, Field(ge=-8.64e15, le=8.64e15)]
"""Milliseconds since 1970, as far as JavaScript's `Date` reaches (ECMA-262 §21.4.1.1)."""

SessionID = Annotated[str, Field(alias="sessionID")]
MessageID = Annotated[str, Field(alias="messageID")]


class Tokens(Wire):
    class Cache(Wire):
        read: int = 0
        write: int = 0

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: Cache = Field(default_factory=Cache)
    total: int | None = None


class ModelRef(Wire):
    provider_id: str = Field(alias="providerID")
    model_id: str = Field(alias="modelID")
    variant: str | None = None


class NamedError(Wire):
    """`{"name": "APIError", "data": {"message": …}}`, the shape of every error on the wire."""

    name: str
    data: dict[str, Any] = Field(default_factory=dict)

    @property
    def message(self) -> str:
        return str(self.data.get("message", self.name))


class FileDiff(Wire):
    file: str | None = None
    patch: str | None = None
    additions: int = 0
    deletions: int = 0
    status: str | None = None
