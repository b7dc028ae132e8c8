"""Which providers there are: the configured, those with a key, those found on loopback, and the demo."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, cast

from django.utils.translation import gettext

from agents.config.schema import Config, ModelConfig, ProviderConfig
from agents.llm import prices
from agents.llm.connection import build, connection, signed_in
from agents.llm.known import KNOWN, SIGNED_IN, Known
from agents.llm.prices import models_of
from agents.llm.settings.variants import variants_of
from agents.llm.types import Account, Model

# Providers with their models, and the choice among them: by name, the default, the small one.

Source = Literal["config", "env", "auth", "local", "demo"]
_ORDER: tuple[Source, ...] = ("config", "env", "auth", "local", "demo")


class UnknownModel(LookupError):
    """No provider has this model; the text is for people and suggests near names."""


@dataclass(frozen=True, slots=True)
class Provider:
    """`default` and `small` are model names of it, empty where none stands out. `passes` is the pattern for
    the models of a gateway that are not listed; None where an unlisted name is a mistake."""

    id: str
    name: str
    models: dict[str, Model]
    source: Source
    default: str = ""
    small: str = ""
    passes: Model | None = field(default=None, repr=False)

    def model(self, name: str) -> Model | None:
        found = self.models.get(name)
        if found is not None or self.passes is None or not name:
            return found
        limits = prices.limits(self.id, name)
        return replace(
            self.passes,
            model_id=name,
            name=name,
            api_model=self.passes.api_model + name,
            context=limits.context,
            output=limits.output,
            price=limits.price,
            reasoning=limits.reasoning,
            variants=variants_of(self.passes.protocol, limits, limits.output, {}),
            attachment=limits.attachment,
        )


def find_model(providers: Mapping[str, Provider], ref: str) -> Model:
    """The model of `provider/model`. Raises UnknownModel."""
    provider_id, _, name = ref.partition("/")
    provider = providers.get(provider_id)
    found = provider.model(name) if provider else None
    if found is None:
        raise UnknownModel(_unknown(providers, ref, provider_id))
    return found


def pick_default(providers: Mapping[str, Provider], configured: str | None) -> Model:
    """The configured model, or the best source's default one; the demo only when there is nothing else.

    Raises UnknownModel when the configured one is unknown: it is never replaced silently.
    """
    if configured:
        return find_model(providers, configured)
    for source in _ORDER:
        for provider in providers.values():
            if provider.source == source and provider.models:
                return provider.models.get(provider.default) or next(iter(provider.models.values()))
    raise UnknownModel(gettext("There is no model at all."))


def pick_small(
    providers: Mapping[str, Provider], configured_small: str | None, current: Model
) -> Model | None:
    """The model for titles and other small work: the configured one, the small one of the current model's
    provider, or the current one. Raises UnknownModel when the configured one is unknown."""
    if configured_small:
        return find_model(providers, configured_small)
    provider = providers.get(current.provider_id)
    return (provider.models.get(provider.small) if provider else None) or current


def _unknown(providers: Mapping[str, Provider], ref: str, provider_id: str) -> str:
    text = gettext("There is no model %(ref)s.") % {"ref": repr(ref)}
    known = KNOWN.get(provider_id)
    if known and known.env and provider_id not in providers:
        return gettext("%(text)s There is no key for %(name)s: add one under Accounts, or set %(env)s.") % {
            "text": text,
            "name": known.name,
            "env": known.env[0],
        }
    near = _near(providers, ref)
    if near:
        return gettext("%(text)s Did you mean %(near)s?") % {"text": text, "near": reduce(_either, near)}
    return gettext("%(text)s Providers: %(names)s.") % {"text": text, "names": ", ".join(providers)}


def _either(one: str, other: str) -> str:
    return gettext("%(one)s or %(other)s") % {"one": one, "other": other}


def _near(providers: Mapping[str, Provider], ref: str) -> list[str]:
    """Up to three refs like this one; a name written without its provider counts as well."""
    models = [model for provider in providers.values() for model in provider.models.values()]
    wanted = ref.lower()
    same = [model.ref for model in models if wanted in (model.model_id.lower(), model.name.lower())]
    by_text = {model.ref.lower(): model.ref for model in models}
    close = [by_text[text] for text in difflib.get_close_matches(wanted, by_text, n=3)]
    return list(dict.fromkeys([*same, *close]))[:3]


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
    plugged: Mapping[str, Account] | None = None,
) -> dict[str, Provider]:
    """All providers by id, the demo last.

    `keys` are those of `auth.json`; `found` are provider entries of local servers, which an entry of the
    configuration with the same id overrides. `accounts` are sign-ins, by ids of `known.SIGNED_IN`: they come
    before keys, not before a key or an address in the configuration. `plugged` are those that a plugin makes
    requests with, of any provider: they come before all. A known provider that nobody gave a key
    is left out.
    """
    providers: dict[str, Provider] = {}
    accounts, plugged = accounts or {}, plugged or {}
    signed_in_at = [*accounts, *(name for name in plugged if name in KNOWN)]
    for provider_id, entry, source in _entries(config, environ, signed_in_at, keys, found):
        if provider_id not in providers and _enabled(config, provider_id):
            key = _key(provider_id, entry, environ, keys)
            account = accounts.get(provider_id)
            provider = _provider(provider_id, entry, source, key, account, plugged.get(provider_id))
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
    provider_id: str,
    entry: ProviderConfig,
    source: Source,
    key: str,
    account: Account | None,
    plugged: Account | None,
) -> Provider | None:
    if plugged is not None:
        known = KNOWN.get(provider_id)
        shared = replace(connection(provider_id, entry, ""), account=plugged)
    elif account is None or _own(entry):
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
