"""How it stands with each provider: connected by which means, or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agents.config.schema import Config
from agents.llm.accounts import attempts, keeping
from agents.llm.accounts.attempts import Attempt
from agents.llm.accounts.flows.base import Method
from agents.llm.accounts.methods import FLOWS, methods_of
from agents.llm.accounts.plugged import Found
from agents.llm.accounts.tokens import ended
from agents.llm.auth import Entry
from agents.llm.known import KNOWN

By = Literal["sign-in", "key", "environment", "configuration", ""]
_ORDER: Sequence[By] = ("sign-in", "key", "environment", "configuration", "")
_USUAL = ("anthropic", "openai", "google", "openrouter", "github-copilot")
"""What most people have an account of, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class State:
    """`by` is what connects it, empty where nothing does. `detail` is the end of a key, a variable's name, a
    company's domain, or the configuration's option that has a key. `own`: whether the entry is in our file,
    so that it can be forgotten here. `waiting` is a sign-in that waits for the person, `failed` why the last
    one failed."""

    id: str
    name: str
    by: By
    detail: str
    own: bool
    label: str
    env: Sequence[str]
    methods: Sequence[Method]
    waiting: Attempt | None
    failed: str
    ended: str

    @property
    def takes_key(self) -> bool:
        """A few find their credentials themselves, and Copilot has no keys."""
        known = KNOWN.get(self.id)
        return self.id != "github-copilot" and (known is None or bool(known.env))

    @property
    def wants_key(self) -> bool:
        """Whether a key that is added would be used: the environment's and the configuration's come first."""
        return self.takes_key and not (self.by in ("environment", "configuration") and self.detail)

    @property
    def place(self) -> str:
        """The id of its row in the page."""
        return f"account-{self.id.encode().hex()}"


async def states(config: Config, plugged: Found) -> list[State]:
    """Of all providers that are known, configured, kept or a plugin's: the connected first, then those to
    sign in at."""
    waiting = attempts.pending()  # who ends while the entries are read still waits, and is told next time
    kept, own = await keeping.entries(), await keeping.own()
    ids = dict.fromkeys(
        [*KNOWN, *config.provider, *plugged, *(name for name in kept if _is_model_provider(kept[name]))]
    )
    found = [_state(name, config, plugged, kept, own, waiting.get(name)) for name in ids]
    return sorted(found, key=lambda state: (_ORDER.index(state.by), _usual(state.id), state.name.lower()))


def _usual(provider_id: str) -> int:
    return _USUAL.index(provider_id) if provider_id in _USUAL else len(_USUAL)


async def state(provider_id: str, config: Config, plugged: Found) -> State | None:
    """Of one; None where nobody knows it."""
    return next((item for item in await states(config, plugged) if item.id == provider_id), None)


def _state(
    provider_id: str,
    config: Config,
    plugged: Found,
    kept: Mapping[str, Entry],
    own: Mapping[str, Entry],
    waiting: Attempt | None,
) -> State:
    last = attempts.of_provider(provider_id)
    known, written = KNOWN.get(provider_id), config.provider.get(provider_id) or {}
    env = (*(written.get("env") or ()), *(known.env if known else ()))
    loads = provider_id in plugged and plugged[provider_id].account is not None
    by, detail = _connected(written, kept.get(provider_id), env, signs_in=provider_id in FLOWS or loads)
    return State(
        id=provider_id,
        name=written.get("name") or (known.name if known else provider_id),
        by=by,
        detail=detail,
        own=provider_id in own,
        label=keeping.label_of(kept.get(provider_id, {})),
        env=env,
        methods=methods_of(provider_id, plugged),
        waiting=waiting,
        failed=last.message if last and not waiting else "",
        ended=ended.get(provider_id, ""),
    )


def _connected(
    written: Mapping[str, Any], entry: Entry | None, env: Iterable[str], *, signs_in: bool
) -> tuple[By, str]:
    """In the order in which `agents.llm.providers` takes them."""
    options = written.get("options") or {}
    if options.get("apiKey"):
        return "configuration", "apiKey"
    if entry is not None and entry["type"] == "oauth" and signs_in:
        return "sign-in", str(entry.get("enterpriseUrl") or "")
    if name := next((name for name in env if os.environ.get(name)), ""):
        return "environment", name
    if entry is not None and entry["type"] == "api":
        return "key", keeping.ending(entry)
    return ("configuration", "") if options.get("baseURL") else ("", "")


def _is_model_provider(entry: Entry) -> bool:
    return bool(entry["type"] != "wellknown")
