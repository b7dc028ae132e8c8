"""`/config` and `/agent` of OpenCode's API."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.configuration import load
from agents.definitions import Agent, agents
from sessions.api.base import directory_of, wire

router = Router()

_SECRET = re.compile(r"(api|access|private).?key|auth|token|secret|passw|credential|cookie", re.IGNORECASE)
_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_SECRET_MAPS = frozenset({"headers", "environment", "env"})
"""Every value in these is taken for a secret: their names are anybody's."""


@router.get("/config")
async def config(request: HttpRequest) -> HttpResponse:
    """The merged configuration; secrets are not shown."""
    loaded = await asyncio.to_thread(load, directory_of(request))
    return wire(_redacted(loaded.config.model_dump(mode="json", by_alias=True, exclude_unset=True)))


@router.get("/agent")
async def list_agents(request: HttpRequest) -> HttpResponse:
    loaded = await asyncio.to_thread(load, directory_of(request))
    return wire([_agent(agent) for agent in agents(loaded.config).values()])


def _agent(agent: Agent) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": agent.name,
        "description": agent.description,
        "mode": agent.mode,
        "native": agent.native,
        "hidden": agent.hidden,
        "prompt": agent.prompt or None,
        "temperature": agent.temperature,
        "topP": agent.top_p,
        "color": agent.color or None,
        "variant": agent.variant or None,
        "steps": agent.steps,
        "options": _redacted(dict(agent.options)),
        "permission": [
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
            for rule in agent.permission
        ],
    }
    if agent.model:
        provider, _, model = agent.model.partition("/")
        data["model"] = {"providerID": provider, "modelID": model}
    return {key: value for key, value in data.items() if value is not None}


def _redacted(value: Any, *, within: str = "") -> Any:
    if isinstance(value, dict):
        hides = within in _SECRET_MAPS
        return {
            key: "…"
            if isinstance(item, str) and (hides or _SECRET.search(key))
            else _redacted(item, within=key)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    return _CREDENTIALS.sub("//…@", value) if isinstance(value, str) else value
