"""What there is for a folder in the shapes of OpenCode's second protocol. Reads files and blocks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.api.listings import commands_of, skills_of
from agents.api.models import cost, entry_of, kinds, limit, options_of, package
from agents.api.redaction import redacted
from agents.catalog import Catalog
from agents.commands.listing import commands
from agents.config import ModelConfig, ProviderConfig
from agents.configuration import load
from agents.definitions import Agent, agents
from agents.llm.known import KNOWN
from agents.llm.providers import Provider
from agents.llm.types import Model


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
            for rule in agent.permission
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
        "cost": [cost(model)],
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
