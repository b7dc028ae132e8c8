"""How a provider is reached, and its models, out of one entry of the configuration's `provider` block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from agents.config.schema import ModelConfig, ModelPrice, ProviderConfig
from agents.llm.known import BY_NPM, COMPATIBLE, KNOWN, SIGNED_IN, Known
from agents.llm.prices import Limits, limits
from agents.llm.settings.domains import Settings
from agents.llm.settings.ingest import settings_of
from agents.llm.settings.sampling import recommended
from agents.llm.settings.variants import variants_of
from agents.llm.types import Account, Model, Price

_TIMEOUT = 300.0
_CHUNK_TIMEOUT = 120.0
_NO_LIMIT = 24 * 3600.0
"""Seconds that stand for "no limit"."""
_FILES = ("image", "pdf")


Protocol = Literal["openai", "responses", "anthropic", "litellm"]


@dataclass(frozen=True, slots=True)
class Connection:
    """What all models of a provider share. Times are seconds; `prefix` goes before the model's name; `maker`
    is whose dialect is spoken, by its id in `known`; `listed` is what the price table is asked with."""

    protocol: Protocol
    prefix: str
    maker: str
    base_url: str
    written: str
    """The address as configured; empty where it is the protocol's own."""
    api_key: str
    headers: Mapping[str, str]
    timeout: float
    chunk_timeout: float
    listed: str
    chat: bool = False
    """Whether the configuration says that chat completions are spoken there, whatever the model."""
    account: Account | None = None


def connection(provider_id: str, entry: ProviderConfig, key: str) -> Connection:
    """The connection a configuration entry describes; a key in the entry wins over `key`."""
    options: Mapping[str, Any] = entry.get("options") or {}
    written = options.get("baseURL") or entry.get("api") or ""
    npm = entry.get("npm", "")
    protocol, prefix, default_url = _protocol(provider_id, npm, bool(written))
    known = known_of(provider_id, npm)
    return Connection(
        protocol=protocol,
        prefix=prefix,
        maker=known.id if known else "",
        base_url=_base_url(written or default_url, protocol),
        written=written,
        api_key=options.get("apiKey") or key,
        headers=dict(options.get("headers") or {}),
        timeout=_seconds(options.get("headerTimeout", options.get("timeout")), _TIMEOUT),
        chunk_timeout=_seconds(options.get("chunkTimeout"), _CHUNK_TIMEOUT),
        listed=provider_id,
        chat=npm == COMPATIBLE,
    )


def signed_in(provider_id: str, entry: ProviderConfig, account: Account) -> Connection:
    """The connection of somebody who has signed in; `provider_id` is one of `known.SIGNED_IN`. The token goes
    to the provider's own address alone, which the account knows."""
    known = SIGNED_IN[provider_id]
    own = replace(connection(provider_id, entry, ""), protocol=known.protocol, prefix=known.prefix)
    return replace(own, base_url=known.base_url, api_key="", listed=known.id, account=account)


def build(provider_id: str, name: str, shared: Connection, entry: ModelConfig) -> Model:
    """A model: what its entry says, else what the price table says of it, else the defaults."""
    api_name = entry.get("id") or name
    shared = _own(shared, provider_id, entry)
    base = limits(shared.listed, api_name)
    protocol = shared.protocol
    if base.only and protocol in ("openai", "responses") and not shared.chat:
        protocol = base.only
    limit = entry.get("limit") or {}
    output = limit.get("output") or base.output
    reasoning = entry.get("reasoning", base.reasoning)
    levels = replace(base, reasoning=reasoning)
    return Model(
        provider_id=provider_id,
        model_id=name,
        name=entry.get("name") or name,
        protocol=protocol,
        maker=shared.maker,
        api_model=shared.prefix + api_name,
        base_url=shared.base_url,
        api_key=shared.api_key,
        headers={**shared.headers, **(entry.get("headers") or {})},
        timeout=shared.timeout,
        chunk_timeout=shared.chunk_timeout,
        context=limit.get("context") or base.context,
        input=limit.get("input") or 0,
        output=output,
        price=_price(entry, base),
        tool_call=entry.get("tool_call", base.tool_call),
        reasoning=reasoning,
        attachment=_attachment(entry, base),
        temperature=entry.get("temperature", True),
        settings=Settings(recommended(api_name)).under(settings_of(entry.get("options") or {})),
        variants=variants_of(protocol, levels, output, entry.get("variants") or {}),
        account=shared.account,
        interleaved=field_of(entry),
    )


def _own(shared: Connection, provider_id: str, entry: ModelConfig) -> Connection:
    """The connection of a model that names a package or an address of its own; the token of a sign-in goes
    nowhere else."""
    said = entry.get("provider") or {}
    npm, written = said.get("npm", ""), said.get("api") or shared.written
    if shared.account is not None or not said:
        return shared
    if not npm:
        return replace(shared, base_url=_base_url(written, shared.protocol) or shared.base_url)
    protocol, prefix, default_url = _protocol(provider_id, npm, bool(written))
    known = known_of(provider_id, npm)
    return replace(
        shared,
        protocol=protocol,
        prefix=prefix,
        maker=known.id if known else "",
        base_url=_base_url(written or default_url, protocol),
        chat=npm == COMPATIBLE,
    )


def field_of(entry: ModelConfig) -> str:
    """The field of chat completions that a model takes its reasoning back in; empty for that which it came
    by."""
    interleaved = entry.get("interleaved")
    return interleaved.get("field", "") if isinstance(interleaved, dict) else ""


def known_of(provider_id: str, npm: str) -> Known | None:
    """Whose protocol a provider speaks: its package's, or that of its id where it names no package."""
    return BY_NPM.get(npm) if npm else KNOWN.get(provider_id)


def _protocol(provider_id: str, npm: str, has_url: bool) -> tuple[Protocol, str, str]:
    """Protocol, litellm's prefix and base URL of a package, or of a provider's id where none is named.

    A package nobody knows is taken for a server that speaks chat completions when it has an address.
    """
    known = known_of(provider_id, npm)
    if known is not None:
        return known.protocol, known.prefix, known.base_url
    if npm in ("", COMPATIBLE) or has_url:
        return "openai", "", ""
    return "litellm", f"{provider_id}/", ""


def _base_url(url: str, protocol: str) -> str:
    """Without a slash at the end; the version is added to an Anthropic address that is only a host."""
    url = url.rstrip("/")
    bare = protocol == "anthropic" and url and not urlsplit(url).path
    return f"{url}/v1" if bare else url


def _seconds(milliseconds: int | None, default: float) -> float:
    """Seconds of a time in the configuration, where `False` switches the limit off."""
    if milliseconds is None:
        return default
    return _NO_LIMIT if milliseconds is False else milliseconds / 1000


def _price(entry: ModelConfig, base: Limits) -> Price:
    cost = entry.get("cost")
    if not cost:
        return base.price
    price = _priced(cost, base.price)
    if long := cost.get("context_over_200k"):
        return replace(price, long=replace(_priced(long, price), above=200_000))
    return price


def _priced(cost: ModelPrice, base: Price) -> Price:
    return Price(
        input=cost.get("input", base.input),
        output=cost.get("output", base.output),
        cache_read=cost.get("cache_read", base.cache_read),
        cache_write=cost.get("cache_write", base.cache_write),
    )


def _attachment(entry: ModelConfig, base: Limits) -> bool:
    if "attachment" in entry:
        return entry["attachment"]
    modalities: Any = entry.get("modalities")
    if isinstance(modalities, dict) and isinstance(modalities.get("input"), list):
        return any(kind in modalities["input"] for kind in _FILES)
    return base.attachment
