"""`/api/agent`, `/api/model`, `/api/provider`, `/api/command`, `/api/skill`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from agents.agent.commands.listing import commands
from agents.api.listings import commands_of, skills_of
from agents.api.models import costs, entry_of, kinds, limit, options_of, package
from agents.api.shapes import Cost, Limit, Stage
from agents.config.configuration import load
from agents.config.redaction import redacted
from agents.config.schema import ModelConfig, ProviderConfig
from agents.llm.known import KNOWN
from agents.llm.providers import Provider
from agents.llm.types import Model
from agents.toolkit.catalog import Catalog, catalog_of
from agents.toolkit.definitions import Agent, agents
from agents.toolkit.permission.rules import in_order
from sessions.api.base import directory_of
from sessions.api.described import answers
from sessions.api.v2.base import Tagged, located
from sessions.core.wire.base import Wire
from sessions.core.wire.session import SessionModel
from sessions.core.wire.v2.base import Located

# Wire shapes of agents, models, providers, commands and skills in OpenCode's second protocol.


class Asking(Wire):
    """What requests to a model hold beside the conversation."""

    headers: dict[str, str]
    body: dict[str, Any]


class Rule(Wire):
    action: str
    resource: str
    effect: Literal["allow", "deny", "ask"]


class AgentV2(Wire):
    id: str
    model: SessionModel | None = None
    request: Asking
    system: str | None = None
    description: str | None = None
    mode: Literal["subagent", "primary", "all"]
    hidden: bool
    color: str | None = None
    steps: int | None = None
    permissions: list[Rule]


class Api(Wire):
    """`aisdk`: by a package of the AI SDK; `native`: by the program itself."""

    type: Literal["aisdk", "native"]
    package: str | None = None
    url: str | None = None
    settings: dict[str, Any] | None = None


class ModelApiV2(Api):
    id: str


class ModelCapabilities(Wire):
    tools: bool
    input: list[str]
    output: list[str]


class Variant(Asking):
    id: str


class Released(Wire):
    """Milliseconds since 1970; 0 where it is not known."""

    released: int


class ModelV2(Wire):
    id: str
    provider_id: str = Field(alias="providerID")
    family: str | None = None
    name: str
    api: ModelApiV2
    capabilities: ModelCapabilities
    request: Asking
    variants: list[Variant]
    time: Released
    cost: list[Cost]
    status: Stage
    enabled: bool
    limit: Limit


class ProviderV2(Wire):
    id: str
    name: str
    api: Api
    request: Asking


class CommandV2(Wire):
    name: str
    template: str
    description: str | None = None
    agent: str | None = None
    model: SessionModel | None = None
    subtask: bool | None = None


class SkillV2(Wire):
    name: str
    description: str | None = None
    slash: bool | None = None
    location: str
    content: str


router = Router()


@router.get("/agent", operation_id="v2.agent.list")
@answers(Located[list[AgentV2]])
async def list_agents(request: HttpRequest) -> HttpResponse:
    return await located(request, await asyncio.to_thread(agents_of, directory_of(request)))


@router.get("/model", operation_id="v2.model.list")
@answers(Located[list[ModelV2]])
async def list_models(request: HttpRequest) -> HttpResponse:
    catalog = await catalog_of(directory_of(request))
    return await located(request, await asyncio.to_thread(models, catalog))


@router.get("/provider", operation_id="v2.provider.list")
@answers(Located[list[ProviderV2]])
async def list_providers(request: HttpRequest) -> HttpResponse:
    found = providers(await catalog_of(directory_of(request)))
    return await located(request, list(found.values()))


@router.get("/provider/{provider_id}", operation_id="v2.provider.get")
@answers(Located[ProviderV2], errors=(404,))
async def get_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    found = provider(await catalog_of(directory_of(request)), provider_id)
    if found is None:
        text = f"Provider not found: {provider_id}"
        raise Tagged(404, "ProviderNotFoundError", text, providerID=provider_id)
    return await located(request, found)


@router.get("/command", operation_id="v2.command.list")
@answers(Located[list[CommandV2]])
async def list_commands(request: HttpRequest) -> HttpResponse:
    found = await asyncio.to_thread(commands_without_skills, directory_of(request))
    return await located(request, found)


@router.get("/skill", operation_id="v2.skill.list")
@answers(Located[list[SkillV2]])
async def list_skills(request: HttpRequest) -> HttpResponse:
    return await located(request, await asyncio.to_thread(skills, directory_of(request)))


# What there is for a folder in the shapes of OpenCode's second protocol. Reads files and blocks.


def agents_of(directory: Path) -> list[dict[str, Any]]:
    return [_agent(agent) for agent in agents(load(directory).config).values()]


def commands_without_skills(directory: Path) -> list[dict[str, Any]]:
    """Skills are a list of their own here."""
    named = {name: command.variant for name, command in commands(directory, load(directory).config).items()}
    return [
        _command(item, named.get(item["name"], ""))
        for item in commands_of(directory)
        if item["source"] == "command"
    ]


def skills(directory: Path) -> list[dict[str, Any]]:
    """`slash`: whether it can be called as `/name`; not where a command has its name."""
    called = {item["name"] for item in commands_of(directory) if item["source"] == "skill"}
    return [{**skill, "slash": skill["name"] in called} for skill in skills_of(directory)]


def providers(catalog: Catalog) -> dict[str, dict[str, Any]]:
    """Those that can answer, by id."""
    return {name: _provider(found, catalog) for name, found in catalog.providers.items()}


def provider(catalog: Catalog, provider_id: str) -> dict[str, Any] | None:
    """One by its id, also a known one that cannot answer yet; None for one that nobody knows."""
    known = KNOWN.get(provider_id)
    if provider_id in catalog.providers or known is None:
        return providers(catalog).get(provider_id)
    return {
        "id": known.id,
        "name": known.name,
        "api": {"type": "aisdk", "package": known.npm},
        "request": {"headers": {}, "body": {}},
    }


def models(catalog: Catalog) -> list[dict[str, Any]]:
    """All models of the providers that can answer."""
    return [
        _model(model, entry_of(catalog, name))
        for name, found in catalog.providers.items()
        for model in found.models.values()
    ]


def _agent(agent: Agent) -> dict[str, Any]:
    body = {"temperature": agent.temperature, "topP": agent.top_p, **agent.options}
    data: dict[str, Any] = {
        "id": agent.name,
        "model": _reference(agent.model, agent.variant),
        "request": {"headers": {}, "body": redacted({k: v for k, v in body.items() if v is not None})},
        "system": agent.prompt or None,
        "description": agent.description or None,
        "mode": agent.mode,
        "hidden": agent.hidden,
        "color": agent.color or None,
        "steps": agent.steps,
        "permissions": [
            {"action": rule.permission, "resource": rule.pattern, "effect": rule.action}
            for rule in in_order(agent.permission)
        ],
    }
    return {key: value for key, value in data.items() if value is not None}


def _command(command: dict[str, Any], variant: str) -> dict[str, Any]:
    kept = ("name", "template", "description", "agent", "subtask")
    model = _reference(command.get("model", ""), variant)
    return {key: command[key] for key in kept if key in command} | ({"model": model} if model else {})


def _reference(written: str, variant: str) -> dict[str, str] | None:
    """`provider/model` as a ModelRef."""
    if not written:
        return None
    provider, _, model = written.partition("/")
    return {"id": model, "providerID": provider} | ({"variant": variant} if variant else {})


def _provider(found: Provider, catalog: Catalog) -> dict[str, Any]:
    model = next(iter(found.models.values()), found.passes)
    return {
        "id": found.id,
        "name": found.name,
        "api": _api(model, entry_of(catalog, found.id)) if model else {"type": "native", "settings": {}},
        "request": {"headers": {}, "body": {}},
    }


def _model(model: Model, written: ProviderConfig) -> dict[str, Any]:
    entry: ModelConfig = (written.get("models") or {}).get(model.model_id) or {}
    extra: Any = entry
    data = {
        "id": model.model_id,
        "providerID": model.provider_id,
        "family": extra.get("family"),
        "name": model.name,
        "api": {"id": extra.get("id") or model.model_id, **_api(model, written)},
        "capabilities": {
            "tools": model.tool_call,
            "input": kinds(model, entry, "input"),
            "output": kinds(model, entry, "output"),
        },
        "request": {"headers": {}, "body": redacted(options_of(model.settings))},
        "variants": [
            {"id": name, "headers": {}, "body": redacted(options_of(settings))}
            for name, settings in model.variants.items()
        ],
        "time": {"released": _released(extra.get("release_date"))},
        "cost": costs(model),
        "status": extra.get("status") or "active",
        "enabled": True,
        "limit": limit(model),
    }
    return {key: value for key, value in data.items() if value is not None}


def _api(model: Model, written: ProviderConfig) -> dict[str, Any]:
    """How the provider is spoken to; the demo is a part of this program."""
    if model.protocol == "scripted":
        return {"type": "native", "settings": {}}
    url = {"url": redacted(model.base_url)} if model.base_url else {}
    return {"type": "aisdk", "package": package(model.provider_id, written, model.protocol), **url}


def _released(written: Any) -> int:
    """Milliseconds since 1970 of a date as `2026-08-27`; 0 where none is known."""
    try:
        return int(datetime.fromisoformat(str(written)).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 0
