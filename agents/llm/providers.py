"""Which providers there are: the configured, those with a key, those found on loopback, and the demo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from agents.config import Config, ModelConfig, ProviderConfig
from agents.llm.connection import build, connection, signed_in
from agents.llm.known import KNOWN, SIGNED_IN, Known
from agents.llm.prices import models_of
from agents.llm.selection import Provider, Source, UnknownModel, find_model, pick_default, pick_small
from agents.llm.types import Account, Model

__all__ = ["Provider", "UnknownModel", "find_model", "pick_default", "pick_small", "resolve"]

DEMO = Provider(
    id="demo",
    name="Demo",
    models={"scripted": Model("demo", "scripted", "Scripted demo", "scripted", "scripted")},
    source="demo",
    default="scripted",
)


def resolve(
    config: Config,
    environ: Mapping[str, str],
    keys: Mapping[str, str],
    found: Mapping[str, Mapping[str, Any]],
    accounts: Mapping[str, Account] | None = None,
) -> dict[str, Provider]:
    """All providers by id, the demo last.

    `keys` are those of `auth.json`; `found` are provider entries of local servers, which an entry of the
    configuration with the same id overrides. `accounts` are sign-ins, by ids of `known.SIGNED_IN`: they come
    before keys, not before a key or an address in the configuration. A known provider that nobody gave a key
    is left out.
    """
    providers: dict[str, Provider] = {}
    accounts = accounts or {}
    for provider_id, entry, source in _entries(config, environ, accounts, keys, found):
        if provider_id not in providers and _enabled(config, provider_id):
            key = _key(provider_id, entry, environ, keys)
            provider = _provider(provider_id, entry, source, key, accounts.get(provider_id))
            if provider is not None and (provider.models or provider.passes):
                providers[provider_id] = provider
    providers.pop(DEMO.id, None)
    return providers | {DEMO.id: DEMO}


def _entries(
    config: Config,
    environ: Mapping[str, str],
    accounts: Iterable[str],
    keys: Iterable[str],
    found: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[str, ProviderConfig, Source]]:
    """Every entry with its source, the preferred source of a provider first."""
    for provider_id, entry in config.provider.items():
        yield provider_id, _merged(found.get(provider_id, {}), entry), "config"
    for provider_id in accounts:
        yield provider_id, {}, "auth"
    for known in KNOWN.values():
        if any(environ.get(name) for name in known.env):
            yield known.id, {}, "env"
    for provider_id in keys:
        if provider_id in KNOWN:
            yield provider_id, {}, "auth"
    for provider_id, local in found.items():
        yield provider_id, cast(ProviderConfig, local), "local"


def _merged(local: Mapping[str, Any], entry: ProviderConfig) -> ProviderConfig:
    """A configured entry over the one that was found, unless it names another server."""
    theirs, ours = local.get("options", {}), entry.get("options") or {}
    if not local or ours.get("baseURL", theirs.get("baseURL")) != theirs.get("baseURL"):
        return entry
    both = {
        **local,
        **entry,
        "options": {**theirs, **ours},
        "models": {**local.get("models", {}), **(entry.get("models") or {})},
    }
    return cast(ProviderConfig, both)


def _enabled(config: Config, provider_id: str) -> bool:
    if provider_id in config.disabled_providers:
        return False
    return config.enabled_providers is None or provider_id in config.enabled_providers


def _key(provider_id: str, entry: ProviderConfig, environ: Mapping[str, str], keys: Mapping[str, str]) -> str:
    """The key from the environment, which is nearer to this run, or else from `auth.json`."""
    known = KNOWN.get(provider_id)
    names = (*(entry.get("env") or ()), *(known.env if known else ()))
    return next((environ[name] for name in names if environ.get(name)), "") or keys.get(provider_id, "")


def _provider(
    provider_id: str, entry: ProviderConfig, source: Source, key: str, account: Account | None
) -> Provider | None:
    if account is None or _own(entry):
        known = KNOWN.get(provider_id)
        if known and not _usable(known, entry, key):
            return None
        shared = connection(provider_id, entry, key)
    else:
        known = SIGNED_IN[provider_id]
        shared = signed_in(provider_id, entry, account)
    models = {
        name: build(provider_id, name, shared, model) for name, model in _models(shared.listed, entry).items()
    }
    gateway = known is not None and known.gateway and not entry.get("whitelist")
    return Provider(
        id=provider_id,
        name=entry.get("name") or (known.name if known else provider_id),
        models=models,
        source=source,
        default=_first(entry.get("models") or (known.defaults if known else ()), models),
        small=_first(known.small if known else (), models),
        passes=build(provider_id, "", shared, {}) if gateway else None,
    )


def _usable(known: Known, entry: ProviderConfig, key: str) -> bool:
    """Whether a known provider may answer: by a key, by an address or headers of the user's own, or because
    it finds its credentials itself."""
    return bool(key or not known.env or _own(entry) or (entry.get("options") or {}).get("headers"))


def _own(entry: ProviderConfig) -> bool:
    """Whether the configuration itself says with which key, or where, the provider is asked."""
    options = entry.get("options") or {}
    return bool(options.get("apiKey") or options.get("baseURL") or entry.get("api"))


def _models(listed: str, entry: ProviderConfig) -> dict[str, ModelConfig]:
    """The entries of the configured models and the known ones, as the lists allow."""
    named = entry.get("models") or {}
    both = {**{name: ModelConfig() for name in models_of(listed)}, **named}
    allowed, denied = entry.get("whitelist"), entry.get("blacklist") or ()
    return {
        name: model for name, model in both.items() if name not in denied and (not allowed or name in allowed)
    }


def _first(wanted: Any, models: Mapping[str, Model]) -> str:
    return next((name for name in wanted if name in models), "")
