"""What a tool has while it runs: the server, the directory it is about, and a way to say how far it is."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from opencode_web.bridge.remote.client import SECONDS, Event
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.link import Link
from sessions.core import variables


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
    provider, model = (variables.DEFAULT_PROVIDER.read(environ), variables.DEFAULT_MODEL.read(environ))
    return Model(provider, model) if provider and model else None


Json = dict[str, Any]
Report = Callable[[str], Awaitable[None]]

_PLACE = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Call:
    """Its requests raise RemoteError. `report` sends a progress notification, where the client wants them."""

    link: Link
    report: Report
    directory: str | None = None
    default_model: Model | None = None

    def at(self, directory: str | None) -> Call:
        return replace(self, directory=directory or self.directory)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        seconds: float | None = SECONDS,
    ) -> Any:
        return await self.link.request(
            method, path, query=query, body=body, directory=self.directory, seconds=seconds
        )

    async def get(self, path: str, **query: Any) -> Any:
        return await self.request("GET", path, query=query)

    async def post(self, path: str, body: Any = None) -> Any:
        return await self.request("POST", path, body={} if body is None else body)

    def events(self) -> AsyncGenerator[Event]:
        return self.link.events(self.directory)

    def model(self, provider_id: str | None, model_id: str | None) -> Model | None:
        """The model for a turn in three tiers: the arguments, the environment, None for the server's own."""
        if provider_id and model_id:
            return Model(provider_id, model_id)
        if provider_id or model_id:
            raise RemoteError("invalid", "providerID and modelID go together: give both or neither.")
        return self.default_model


def filled(path: str, values: Mapping[str, Any]) -> str:
    """The path with its `{names}` replaced, each value as one segment. Raises RemoteError (invalid)."""

    def segment(match: re.Match[str]) -> str:
        value = str(values[match[1]])
        if value in ("", ".", ".."):
            raise RemoteError("invalid", f"{match[1]} cannot be {value!r}.")
        return quote(value, safe="")

    return _PLACE.sub(segment, path)
