"""Providers and their models as OpenCode's API says them. Never loads litellm; no key is in an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from agents.config.redaction import redacted
from agents.config.schema import ModelConfig, ProviderConfig
from agents.llm.connection import build, connection
from agents.llm.known import COMPATIBLE, KNOWN
from agents.llm.prices import models_of
from agents.llm.providers import Provider
from agents.llm.settings.domains import Settings
from agents.llm.types import Model, Price
from agents.toolkit.catalog import Catalog

_SOURCES = {"config": "config", "env": "env", "auth": "api", "local": "custom", "demo": "custom"}
_KINDS = ("text", "audio", "image", "video", "pdf")
_PACKAGES = {"openai": COMPATIBLE, "anthropic": "@ai-sdk/anthropic"}

_all: WeakKeyDictionary[Catalog, bytes] = WeakKeyDictionary()


def provider_list(catalog: Catalog) -> bytes:
    """The answer of `/provider` as JSON: `all` known providers, the `default` model of each, and the ids of
    those that are `connected`. Made once for a catalog; blocks at the first of all (0.2 s)."""
    if catalog not in _all:
        connected = usable(catalog)
        others = {name: _listed(name) for name in KNOWN if _may_connect(catalog, name)}
        default = {name: other.first for name, other in others.items() if other.first}
        every = [_json(provider) for provider in connected["providers"]]
        every += [other.json for other in others.values()]
        told = _json({**default, **connected["default"]})
        names = _json([provider["id"] for provider in connected["providers"]])
        text = f'{{"all":[{",".join(every)}],"default":{told},"connected":{names}}}'
        _all[catalog] = text.encode("utf-8", "replace")
    return _all[catalog]


def usable(catalog: Catalog) -> dict[str, Any]:
    """The answer of `/config/providers`: the providers that can answer, and the default model of each."""
    providers = catalog.providers.values()
    return {
        "providers": [_provider(provider, catalog) for provider in providers],
        "default": {
            provider.id: provider.default or next(iter(provider.models))
            for provider in providers
            if provider.models
        },
    }


def package(provider_id: str, entry: ProviderConfig, protocol: str) -> str:
    """The package of the AI SDK that OpenCode would reach a provider by; empty for the demo."""
    known = KNOWN.get(provider_id)
    return entry.get("npm") or (known.npm if known else "") or _PACKAGES.get(protocol, "")


def entry_of(catalog: Catalog, provider_id: str) -> ProviderConfig:
    """What the configuration says of a provider, empty where it says nothing."""
    return catalog.config.provider.get(provider_id) or {}


def options_of(settings: Settings) -> dict[str, Any]:
    """Settings as OpenCode's configuration writes them: flat, in camel case."""
    named = {**settings.controls.said(), **settings.options}
    return {**{_camel(name): value for name, value in named.items()}, **settings.body}


def kinds(model: Model, entry: ModelConfig, way: str) -> list[str]:
    """What a model takes (`input`) or gives (`output`)."""
    written: Any = entry.get("modalities")
    said = written.get(way) if isinstance(written, dict) else None
    if isinstance(said, list):
        return [kind for kind in _KINDS if kind in said]
    return ["text", "image", "pdf"] if way == "input" and model.attachment else ["text"]


def costs(model: Model) -> list[dict[str, Any]]:
    """The price, and that of long contexts where there is one."""
    return [_cost(price) for price in (model.price, model.price.long) if price]


def _cost(price: Price) -> dict[str, Any]:
    tier = {"tier": {"type": "context", "size": price.above}} if price.above else {}
    cache = {"read": price.cache_read, "write": price.cache_write}
    return {**tier, "input": price.input, "output": price.output, "cache": cache}


def limit(model: Model) -> dict[str, int]:
    own = {"input": model.input} if model.input else {}
    return {"context": model.context, **own, "output": model.output}


def _may_connect(catalog: Catalog, provider_id: str) -> bool:
    config = catalog.config
    if provider_id in catalog.providers or provider_id in config.disabled_providers:
        return False
    return config.enabled_providers is None or provider_id in config.enabled_providers


def _provider(provider: Provider, catalog: Catalog) -> dict[str, Any]:
    entry = entry_of(catalog, provider.id)
    known = KNOWN.get(provider.id)
    models = provider.models.values()
    shown: dict[str, Any] = redacted(
        {
            "id": provider.id,
            "name": provider.name,
            "source": _SOURCES[provider.source],
            "options": dict(entry.get("options") or {}),
            "models": {model.model_id: _model(model, entry) for model in models},
        }
    )
    return {**shown, "env": list(entry.get("env") or (known.env if known else ()))}


class _Listed(NamedTuple):
    """A provider as JSON, and its default model, empty where it has none."""

    json: str
    first: str


@cache
def _listed(provider_id: str) -> _Listed:
    """A known provider that nobody gave a key; the variants of its models are told when it is connected."""
    known = KNOWN[provider_id]
    shared = connection(provider_id, {}, "")
    models = (replace(build(provider_id, name, shared, {}), variants={}) for name in models_of(provider_id))
    found = {model.model_id: _model(model, {}) for model in models}
    data = {
        "id": provider_id,
        "name": known.name,
        "source": "custom",
        "env": list(known.env),
        "options": {},
        "models": found,
    }
    return _Listed(_json(data), next((name for name in (*known.defaults, *found) if name in found), ""))


def _model(model: Model, provider: ProviderConfig) -> dict[str, Any]:
    entry: ModelConfig = (provider.get("models") or {}).get(model.model_id) or {}
    extra: Mapping[str, Any] = entry
    price, *tiers = costs(model)
    data = {
        "id": model.model_id,
        "providerID": model.provider_id,
        "api": {
            "id": entry.get("id") or model.model_id,
            "url": model.base_url,
            "npm": (entry.get("provider") or {}).get("npm")
            or package(model.provider_id, provider, model.protocol),
        },
        "name": model.name,
        "family": extra.get("family"),
        "capabilities": _capabilities(model, entry),
        "cost": {**price, **({"tiers": tiers} if tiers else {})},
        "limit": limit(model),
        "status": extra.get("status") or "active",
        "options": dict(entry.get("options") or {}),
        "headers": dict(model.headers),
        "release_date": extra.get("release_date") or "",
        "variants": {name: options_of(settings) for name, settings in model.variants.items()},
    }
    return {key: value for key, value in data.items() if value is not None}


def _capabilities(model: Model, entry: ModelConfig) -> dict[str, Any]:
    def flags(way: str) -> dict[str, bool]:
        given = kinds(model, entry, way)
        return {kind: kind in given for kind in _KINDS}

    return {
        "temperature": model.temperature,
        "reasoning": model.reasoning,
        "attachment": model.attachment,
        "toolcall": model.tool_call,
        "input": flags("input"),
        "output": flags("output"),
        "interleaved": entry.get("interleaved", False),
    }


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
