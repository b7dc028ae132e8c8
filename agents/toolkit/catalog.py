"""Which models there are for a folder: configured, by key, signed in, found on loopback, or the demo.

Called from the server's event loop and from the turns' loop, so nothing here belongs to a loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings

from agents import llm
from agents.config.configuration import load
from agents.config.schema import Config
from agents.llm.accounts import plugged
from agents.llm.accounts.tokens import accounts_of
from agents.llm.auth import keys_of, known_entries
from agents.llm.known import KNOWN
from agents.llm.local import local
from agents.llm.names import readable
from agents.llm.providers import DEMO, Provider, UnknownModel, find_model, pick_default, pick_small, resolve
from agents.llm.types import Model
from agents.toolkit.definitions import default_name
from sessions.core.bounded import Bounded
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.platform.stamps import Stamp, stamp
from sessions.core.principal import acting, paying
from sessions.core.store import projects, provider_keys
from sessions.core.store.provider_keys import Key

logger = logging.getLogger(__name__)

_CACHED = 64

Found = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Catalog:
    """The providers of a folder, and what they were made of: the same object while none of it changes."""

    config: Config
    found: Found
    variables: Mapping[str, str | None]
    stamps: tuple[Stamp, ...]
    plugged: plugged.Found
    providers: dict[str, Provider]

    def holds(self, directory: Path) -> bool:
        """Whether the environment, and what plugins add, is still what it was."""
        same = self.plugged is plugged.latest(directory)
        return same and all(os.environ.get(name) == value for name, value in self.variables.items())


_catalogs: Bounded[Path, Catalog] = Bounded(_CACHED)


async def catalog_of(directory: Path) -> Catalog:
    """The catalog of a folder; waits for the local servers' answers."""
    await local.wait()
    return await _catalog(directory)


async def providers_of(directory: Path) -> dict[str, Provider]:
    """All providers for a folder, by id, the demo last; waits for the local servers' answers."""
    return (await catalog_of(directory)).providers


async def default_ref(directory: Path, session: Session | None, agent: str = "") -> str:
    """The model the next prompt gets, as `provider/model`: that of an `agent` the session does not have yet,
    the session's (not the demo, which gives way to any real one), its agent's, the configured, or the best
    there is. Never raises: whether the model exists shows when it is asked for."""
    catalog = await _catalog(directory)
    config = catalog.config
    known = (session.agent if session else "") or default_name(config)
    changed = config.agent.get(agent) if agent and agent != known else None
    if changed and changed.model:
        return changed.model
    if session is not None and session.model_id and session.provider_id != DEMO.id:
        return f"{session.provider_id}/{session.model_id}"
    entry = config.agent.get(agent or known)
    if written := (entry.model if entry else None) or config.model:
        return written
    picked = pick_default(catalog.providers, None)
    if picked.protocol == "scripted":
        picked = pick_default(await providers_of(directory), None)
    return picked.ref


async def default_model(directory: Path, session: Session | None) -> Model:
    """The model of `default_ref`. Raises UnknownModel."""
    return await model_for(directory, await default_ref(directory, session))


async def model_for(directory: Path, ref: str) -> Model:
    """The model of `provider/model`. Raises UnknownModel, after the local servers were heard."""
    try:
        return find_model((await _catalog(directory)).providers, ref)
    except UnknownModel:
        return find_model(await providers_of(directory), ref)


async def small_model(directory: Path, ref: str) -> Model | None:
    """The model for titles beside the one of `ref`; None, with a log line, when there is none."""
    try:
        current = await model_for(directory, ref)
        catalog = await _catalog(directory)
        return pick_small(catalog.providers, catalog.config.small_model, current)
    except UnknownModel as error:
        logger.warning("no small model: %s", error)
        return None


async def _catalog(directory: Path) -> Catalog:
    """With the keys of the person and the project before those of the installation."""
    catalog = await asyncio.to_thread(_current, directory, local.latest())
    if not settings.PEOPLE:
        return catalog
    keys = await in_db(_keys, paying.get() or acting.get(), directory)
    return await asyncio.to_thread(_with_keys, catalog, keys) if keys else catalog


def _keys(person: str, directory: Path) -> dict[str, Key]:
    project = projects.at(directory)
    return provider_keys.in_force(person, project.id if project else "")


def _with_keys(catalog: Catalog, keys: Mapping[str, Key]) -> Catalog:
    """A key or a sign-in of the installation gives way to one of these, but not one that the configuration
    names: that says where else the provider is asked."""
    ours = {id: key for id, key in keys.items() if not _names_key(catalog.config.provider.get(id) or {})}
    names = {name for id in ours for name in variables_of(id, catalog.config)}
    environ = {name: value for name, value in os.environ.items() if name not in names}
    entries = {id: one for id, one in known_entries(settings.AUTH_FILES).items() if id not in ours}
    loading = {id: one.account for id, one in catalog.plugged.items() if one.account and id in entries}
    given = keys_of(entries) | {id: key.key for id, key in ours.items()}
    found = resolve(catalog.config, environ, given, catalog.found, accounts_of(entries), loading)
    for id in ours.keys() & found.keys():
        found[id] = _paid(found[id], ours[id].whose)
    return replace(catalog, providers=found)


def _names_key(entry: Mapping[str, Any]) -> bool:
    return bool((entry.get("options") or {}).get("apiKey"))


def _paid(provider: Provider, whose: str) -> Provider:
    models = {name: replace(model, paid_by=whose) for name, model in provider.models.items()}
    passes = replace(provider.passes, paid_by=whose) if provider.passes else None
    return replace(provider, models=models, passes=passes)


def _current(directory: Path, found: Found) -> Catalog:
    """The catalog as of now, made anew only when something it was made of has changed."""
    config = load(directory).config
    known = _catalogs.get(directory)
    stamps = tuple(stamp(path) for path in settings.AUTH_FILES)
    if (
        known
        and known.config is config
        and known.found is found
        and known.stamps == stamps
        and known.holds(directory)
    ):
        return known
    entries = known_entries(settings.AUTH_FILES)
    added = plugged.latest(directory)
    loading = {name: one.account for name, one in added.items() if one.account and name in entries}
    providers = resolve(config, os.environ, keys_of(entries), found, accounts_of(entries), loading)
    made = Catalog(config, found, _variables(config), stamps, added, providers)
    _catalogs[directory] = made
    return made


def _variables(config: Config) -> dict[str, str | None]:
    """The environment that may hold keys."""
    ids = dict.fromkeys([*KNOWN, *config.provider])
    return {name: os.environ.get(name) for id in ids for name in variables_of(id, config)}


def variables_of(provider_id: str, config: Config) -> list[str]:
    """The names of those that may hold the key of a provider."""
    known, entry = KNOWN.get(provider_id), config.provider.get(provider_id) or {}
    return [*(entry.get("env") or ()), *(known.env if known else ())]


async def warm_up(directory: Path) -> None:
    """Load litellm ahead of the first prompt where the folder's model goes through it (4 s)."""
    with suppress(UnknownModel):
        if (await default_model(directory, None)).protocol == "litellm":
            await llm.warm()


def folders_in_use() -> list[Path]:
    """The folders whose catalog was asked for: by a client that shows models, or by a turn."""
    return list(_catalogs)


def model_name(directory: str, provider_id: str, model_id: str) -> str:
    """What a model is called in a folder; made of its id where that is all there is. Reads the configuration
    of a folder that was not asked about before."""
    folder = Path(directory)
    catalog = _catalogs.get(folder) or _current(folder, local.latest())
    provider = catalog.providers.get(provider_id)
    known = provider.models.get(model_id) if provider else None
    return known.label if known else readable(model_id)


def others(directory: str, agent: str, provider_id: str, model_id: str) -> list[Model]:
    """The models that can take over from one that has failed: those of `fallback`, else the default ones of
    other providers; three at most. Reads as `model_name` does."""
    folder = Path(directory)
    catalog = _catalogs.get(folder) or _current(folder, local.latest())
    named = catalog.config.fallback
    if (own := catalog.config.agent.get(agent)) is not None and own.fallback is not None:
        named = own.fallback
    found: list[Model] = []
    for ref in named:
        with suppress(UnknownModel):
            found.append(find_model(catalog.providers, ref))
    if not found:
        found = [
            provider.models.get(provider.default) or next(iter(provider.models.values()))
            for provider in catalog.providers.values()
            if provider.models and provider.id not in (provider_id, DEMO.id)
        ]
    return [model for model in found if (model.provider_id, model.model_id) != (provider_id, model_id)][:3]


def context_window(provider_id: str, model_id: str) -> int | None:
    """Tokens that a model takes, of any folder whose catalog was read; None for one not seen yet."""
    for catalog in list(_catalogs.values()):
        provider = catalog.providers.get(provider_id)
        if provider is not None and model_id in provider.models:
            return provider.models[model_id].context
    return None
