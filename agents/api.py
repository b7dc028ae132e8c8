"""`/config` and `/agent` of OpenCode's API."""

from __future__ import annotations

import asyncio
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.configuration import load
from agents.definitions import Agent, agents
from sessions.api.base import directory_of, wire

router = Router()

SECRET_KEYS = ("apikey", "authorization", "token", "secret", "password", "x-api-key")


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
        "steps": agent.steps,
        "options": dict(agent.options),
        "permission": [
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
            for rule in agent.permission
        ],
    }
    if agent.model:
        provider, _, model = agent.model.partition("/")
        data["model"] = {"providerID": provider, "modelID": model}
    return {key: value for key, value in data.items() if value is not None}


def _redacted(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "…"
            if isinstance(item, str) and key.lower().replace("_", "") in SECRET_KEYS
            else _redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    return value
