"""From configuration, keys and discovery to providers with their models. Plain data in, no file is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agents.llm.catalog import Limits, limits, models
from agents.llm.known import BY_NPM, KNOWN, KnownProvider, Protocol
from agents.llm.types import Model, Price

Source = Literal["config", "env", "auth", "local", "demo"]
Block = Mapping[str, Any]

_DAY = 86_400.0
_OWN_OPTIONS = frozenset({"baseURL", "apiKey", "headers", "timeout", "chunkTimeout"})
_LITELLM_OPTIONS = {
    "region": "aws_region_name",
    "profile": "aws_profile_name",
    "project": "vertex_project",
    "location": "vertex_location",
    "apiVersion": "api_version",
}


@dataclass(frozen=True, slots=True)
class Provider:
    id: str
    name: str
    models: dict[str, Model]
    """By model id, in the order of configuration or of the table."""
    source: Source
    """Where it was found; a provider that configuration names is `config`, wherever its key comes from."""


DEMO = Provider(
    "demo",
    "Demo",
    {"scripted": Model("demo", "scripted", "Scripted demo (no real model)", "scripted", "scripted")},
    "demo",
)


def resolve(
    config: Mapping[str, Block],
    *,
    environ: Mapping[str, str],
    keys: Mapping[str, str],
    discovered: Mapping[str, Block] | None = None,
    enabled: Collection[str] | None = None,
    disabled: Collection[str] = (),
) -> dict[str, Provider]:
    """All providers that can be asked, best first: configured, known with a key, local, then the demo.

    `config` is OpenCode's `provider` block, `keys` what `auth.json` holds, `discovered` has the shape of
    `config`. `enabled` names the only ones wanted, `disabled` the ones not wanted. A known hosted provider
    without a key is left out, unless configuration gives it an address of its own.
    """
    local = discovered or {}
    ids = dict.fromkeys((*config, *KNOWN, *local))
    wanted = [id_ for id_ in ids if id_ not in disabled and (enabled is None or id_ in enabled)]
    found = (_provider(id_, config, local, environ, keys) for id_ in wanted)
    return {provider.id: provider for provider in (*found, DEMO) if provider and provider.models}


def _provider(
    id_: str,
    config: Mapping[str, Block],
    local: Mapping[str, Block],
    environ: Mapping[str, str],
    keys: Mapping[str, str],
) -> Provider | None:
    block = _merged(local.get(id_, {}), config.get(id_, {}))
    known = KNOWN.get(id_) or BY_NPM.get(block.get("npm", ""))
    names = known.env if known and known.id == id_ else ()
    from_env = next((environ[name] for name in names if environ.get(name)), "")
    options = block.get("options", {})
    key = options.get("apiKey") or keys.get(id_) or from_env
    needs_key = bool(names) and not options.get("baseURL")
    if needs_key and not key:
        return None
    if id_ not in config and id_ not in local and not key:
        return None
    source: Source = (
        "config" if id_ in config else "local" if id_ in local else "auth" if id_ in keys else "env"
    )
    base = _Base(id_, block, known, key or "")
    return Provider(id_, block.get("name") or (known.name if known else id_), base.models(), source)


def _merged(under: Block, over: Block) -> Block:
    """Configuration over what was discovered; both may name options and models."""
    inner = {name: {**under.get(name, {}), **over.get(name, {})} for name in ("options", "models")}
    return {**under, **over, **inner}


@dataclass(frozen=True, slots=True)
class _Base:
    """What all models of one provider share."""

    id: str
    block: Block
    known: KnownProvider | None
    key: str

    def models(self) -> dict[str, Model]:
        """The table's models for a known provider, and the configured ones over them."""
        listed: dict[str, Block] = {}
        if self.known and self.known.id == self.id:
            listed = {name: {} for name in models(self.known.table) or self.known.models}
        listed |= self.block["models"]
        white, black = self.block.get("whitelist"), self.block.get("blacklist") or ()
        return {
            name: self._model(name, entry)
            for name, entry in listed.items()
            if name not in black and (white is None or name in white)
        }

    def _model(self, model_id: str, entry: Block) -> Model:
        options = self.block["options"]
        api_model = entry.get("id") or model_id
        table = limits(self.known.table if self.known else self.id, api_model)
        protocol = self._protocol()
        prefix = f"{self.known.table if self.known else self.id}/" if protocol == "litellm" else ""
        return Model(
            provider_id=self.id,
            model_id=model_id,
            name=entry.get("name") or model_id,
            protocol=protocol,
            api_model=prefix + api_model,
            base_url=options.get("baseURL") or (self.known.base_url if self.known else ""),
            api_key=self.key,
            headers={**options.get("headers", {}), **entry.get("headers", {})},
            timeout=_seconds(options.get("timeout"), Model.timeout),
            chunk_timeout=_seconds(options.get("chunkTimeout"), Model.chunk_timeout),
            price=_price(entry, table),
            options={**self._litellm_options(protocol), **entry.get("options", {})},
            **_abilities(entry, table),
        )

    def _protocol(self) -> Protocol:
        """A known provider's own, else what `npm` names; an unknown package with an address is most likely
        one more server that speaks like OpenAI."""
        if self.known:
            return self.known.protocol
        return "openai" if self.block["options"].get("baseURL") else "litellm"

    def _litellm_options(self, protocol: Protocol) -> dict[str, Any]:
        if protocol != "litellm":
            return {}
        given = self.block["options"].items()
        return {_LITELLM_OPTIONS.get(name, name): value for name, value in given if name not in _OWN_OPTIONS}


def _abilities(entry: Block, table: Limits | None) -> dict[str, Any]:
    """Limits and flags: configuration first, then the table, then the defaults of Model."""
    limit = entry.get("limit") or {}
    told = {
        "context": limit.get("context") or (table and table.context),
        "output": limit.get("output") or (table and table.output),
        "tool_call": entry.get("tool_call", table.tool_call if table else None),
        "reasoning": entry.get("reasoning", table.reasoning if table else None),
        "attachment": _attachment(entry, table),
    }
    return {name: value for name, value in told.items() if value or value is False}


def _attachment(entry: Block, table: Limits | None) -> bool | None:
    if "attachment" in entry:
        return bool(entry["attachment"])
    if inputs := (entry.get("modalities") or {}).get("input"):
        return "image" in inputs
    return table.attachment if table else None


def _price(entry: Block, table: Limits | None) -> Price:
    cost = entry.get("cost")
    if cost is None:
        return table.price if table else Price()
    return Price(*(float(cost.get(name) or 0) for name in ("input", "output", "cache_read", "cache_write")))


def _seconds(milliseconds: object, default: float) -> float:
    """Configuration has milliseconds; `false` means no limit, which is a day here."""
    if milliseconds is False:
        return _DAY
    is_number = isinstance(milliseconds, int | float) and milliseconds is not True and milliseconds > 0
    return float(milliseconds) / 1000 if is_number else default  # type: ignore[arg-type]
