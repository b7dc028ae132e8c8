"""The `provider` of a plugin: which models a provider has, as entries of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired

from django.conf import settings
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from agents.llm.accounts import keeping
from agents.llm.known import KNOWN
from agents.llm.prices import limits, models_of
from agents.llm.types import Model, Price
from agents.plugins.host import Hung, TimedOut
from agents.plugins.plugin import Plugin
from sessions.core.sentences import Sentence
from sessions.core.text import error_text

_OPEN = ConfigDict(extra="ignore")
Values = dict[str, Any]


@with_config(_OPEN)
class Called(TypedDict, total=False):
    id: str
    url: str
    npm: str


@with_config(_OPEN)
class Capabilities(TypedDict, total=False):
    reasoning: bool
    attachment: bool
    temperature: bool
    toolcall: bool


@with_config(_OPEN)
class Cache(TypedDict, total=False):
    read: float
    write: float


@with_config(_OPEN)
class Cost(TypedDict, total=False):
    input: float
    output: float
    cache: Cache


@with_config(_OPEN)
class Listed(TypedDict):
    """A model as OpenCode's second protocol has it."""

    name: NotRequired[str]
    api: NotRequired[Called]
    capabilities: NotRequired[Capabilities]
    cost: NotRequired[Cost]
    limit: NotRequired[dict[str, int]]
    options: NotRequired[dict[str, Any]]
    headers: NotRequired[dict[str, str]]


_LISTED: TypeAdapter[dict[str, Listed]] = TypeAdapter(dict[str, Listed])


async def with_models(plugin: Plugin, values: Values) -> Values:
    """The values of a configuration with the models that a plugin lists: they are all that their provider
    has, but for those that the configuration names. A provider that nobody knows gets none."""
    for provider in plugin.providers:
        name = str(provider.get("id"))
        written = (values.get("provider") or {}).get(name, {})
        if name not in KNOWN and not written:
            continue
        listed = await _listed(plugin, name, provider, written)
        if listed is None:
            continue
        models = {
            **{model: _entry(given) for model, given in listed.items()},
            **(written.get("models") or {}),
        }
        entry = {"whitelist": list(models), **written, "models": models}
        values = {**values, "provider": {**(values.get("provider") or {}), name: entry}}
    return values


async def _listed(plugin: Plugin, name: str, provider: Mapping[str, Any], written: Values) -> Any:
    """None where the plugin failed, which is recorded."""
    auth = (await keeping.entries()).get(name)
    shown = _provider(name, written)
    try:
        asked = plugin.host.call(lambda: provider["models"](shown, {"auth": auth}), settings.HOOK_SECONDS)
        return _LISTED.validate_python(await asked)
    except (TimedOut, Hung):
        plugin.fault(
            "provider",
            Sentence(
                "did not list the models of %(name)s within %(seconds)s s",
                name=name,
                seconds=f"{settings.HOOK_SECONDS:g}",
            ),
        )
    except Exception as error:
        plugin.fault(
            "provider",
            Sentence("did not list the models of %(name)s: %(error)s", name=name, error=error_text(error)),
            error=error,
        )
    return None


def _provider(name: str, written: Values) -> Values:
    known = KNOWN.get(name)
    return {
        "id": name,
        "name": written.get("name") or (known.name if known else name),
        "source": "custom",
        "env": list(known.env) if known else [],
        "options": written.get("options") or {},
        "models": {
            model: _model(name, model) for model in (*models_of(name), *(written.get("models") or {}))
        },
    }


def _model(provider_id: str, name: str) -> Values:
    base = limits(provider_id, name)
    able = {
        "temperature": True,
        "reasoning": base.reasoning,
        "attachment": base.attachment,
        "toolcall": base.tool_call,
    }
    return _shape(provider_id, name, name, able, base.price, {"context": base.context, "output": base.output})


def shape_of(model: Model) -> Values:
    """A model as OpenCode's second protocol has it."""
    able = {
        "temperature": model.temperature,
        "reasoning": model.reasoning,
        "attachment": model.attachment,
        "toolcall": model.tool_call,
    }
    limit = {"context": model.context, "output": model.output}
    shape = _shape(model.provider_id, model.model_id, model.name, able, model.price, limit)
    return {**shape, "api": {"id": model.api_model, "url": model.base_url, "npm": ""}}


def _shape(
    provider_id: str, model_id: str, name: str, able: dict[str, bool], price: Price, limit: dict[str, int]
) -> Values:
    cache = {"read": price.cache_read, "write": price.cache_write}
    image = {
        "text": True,
        "audio": False,
        "image": able["attachment"],
        "video": False,
        "pdf": able["attachment"],
    }
    text = {**image, "image": False, "pdf": False}
    return {
        "id": model_id,
        "providerID": provider_id,
        "name": name,
        "api": {"id": model_id, "url": "", "npm": ""},
        "capabilities": {**able, "input": image, "output": text},
        "cost": {"input": price.input, "output": price.output, "cache": cache},
        "limit": limit,
        "options": {},
        "headers": {},
        "status": "active",
    }


def _entry(given: Listed) -> Values:
    """What it says of a model; the price table knows the rest."""
    api, able, cost = given.get("api", {}), given.get("capabilities", {}), given.get("cost", {})
    cache = cost.get("cache", {})
    said = {
        "name": given.get("name"),
        "id": api.get("id"),
        "provider": _given({"npm": api.get("npm"), "api": api.get("url")}),
        "reasoning": able.get("reasoning"),
        "attachment": able.get("attachment"),
        "temperature": able.get("temperature"),
        "tool_call": able.get("toolcall"),
        "cost": _given(
            {
                "input": cost.get("input"),
                "output": cost.get("output"),
                "cache_read": cache.get("read"),
                "cache_write": cache.get("write"),
            }
        ),
        "limit": given.get("limit"),
        "options": given.get("options"),
        "headers": given.get("headers"),
    }
    return _given(said)


def _given(values: Values) -> Values:
    return {key: value for key, value in values.items() if value not in (None, {}, "")}
