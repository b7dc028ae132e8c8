"""Providers with their models, and the choice among them: by name, the default, the small one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.llm import prices
from agents.llm.known import KNOWN
from agents.llm.settings.variants import variants_of
from agents.llm.types import Model

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
    raise UnknownModel("There is no model at all.")


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
    text = f"There is no model {ref!r}."
    known = KNOWN.get(provider_id)
    if known and known.env and provider_id not in providers:
        return f"{text} There is no key for {known.name}: add one under Accounts, or set {known.env[0]}."
    near = _near(providers, ref)
    if near:
        return f"{text} Did you mean {' or '.join(near)}?"
    return f"{text} Providers: {', '.join(providers)}."


def _near(providers: Mapping[str, Provider], ref: str) -> list[str]:
    """Up to three refs like this one; a name written without its provider counts as well."""
    models = [model for provider in providers.values() for model in provider.models.values()]
    wanted = ref.lower()
    same = [model.ref for model in models if wanted in (model.model_id.lower(), model.name.lower())]
    by_text = {model.ref.lower(): model.ref for model in models}
    close = [by_text[text] for text in difflib.get_close_matches(wanted, by_text, n=3)]
    return list(dict.fromkeys([*same, *close]))[:3]
