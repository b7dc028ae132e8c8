"""Two low-level tools that are no single request: events for a while, and the models of one provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import aclosing
from typing import Any

from pydantic import Field

from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.plain import one_line
from opencode_web.bridge.tool import READS, Arguments, Tool
from opencode_web.bridge.workflows.arguments import OfProvider
from opencode_web.remote.errors import RemoteError

EVENT_CHARACTERS = 400


class Poll(Arguments):
    seconds: float = Field(5.0, gt=0, le=120, description="How long to listen.")
    limit: int = Field(100, gt=0, le=1000, description="Stop after so many events.")
    types: list[str] | None = Field(None, description="Only events of these types, such as session.idle.")


async def poll(call: Call, given: Poll) -> str:
    """The events from now on, the heartbeat left out."""
    lines: list[str] = []
    try:
        async with asyncio.timeout(given.seconds), aclosing(call.events()) as events:
            async for event in events:
                if event.type == "server.heartbeat" or (given.types and event.type not in given.types):
                    continue
                lines.append(f"- {event.type} {one_line(json.dumps(event.properties), EVENT_CHARACTERS)}")
                if len(lines) >= given.limit:
                    break
    except TimeoutError:
        pass
    return "\n".join([f"{len(lines)} events:", *lines])


async def models(call: Call, given: OfProvider) -> str:
    """With what each can take and costs per million tokens, in dollars."""
    provider = _named(given.providerID, (await call.get("/config/providers"))["providers"])
    # The list of all that are known is long, and slow to come.
    provider = provider or _named(given.providerID, (await call.get("/provider"))["all"])
    if provider is None:
        raise RemoteError("not_found", f"There is no provider {given.providerID!r}.")
    lines = []
    for name, model in sorted(provider["models"].items()):
        limit, cost = model.get("limit") or {}, model.get("cost") or {}
        price = f", {cost['input']:g} in, {cost['output']:g} out" if cost else ""
        lines.append(f"- {name} ({model['name']}): {limit.get('context', '?')} tokens{price}")
    return "\n".join([f"{len(lines)} models:", *lines])


def _named(provider_id: str, providers: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    return next((one for one in providers if one["id"] == provider_id), None)


PIECES = (
    Tool(
        "opencode_events_poll",
        "Listen to events",
        "events",
        "Collect the events of the directory for a few seconds.",
        Poll,
        READS,
        poll,
    ),
    Tool(
        "opencode_provider_models",
        "Models of a provider",
        "provider",
        "List the models of one provider.",
        OfProvider,
        READS,
        models,
    ),
)
