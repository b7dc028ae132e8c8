"""Trying a key: one small request that the provider answers only to who has a good one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agents.config.schema import ProviderConfig
from agents.llm.connection import connection, known_of
from agents.llm.readers.anthropic_messages import VERSION
from agents.llm.readers.transport import get_json
from agents.llm.types import AuthFailed, Model, ModelError
from sessions.core.sentences import Sentence

SECONDS = 10.0
_BAD_KEY = re.compile(
    r"\bapi.?key\b.{0,40}\b(?:invalid|not valid|incorrect)|(?:invalid|incorrect)\W+api.?key", re.I
)
"""Some answer 400 to a key that they do not know, and say it in words alone."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it. `models` are how many the key opens, None where the provider does not say, and
    `names` are theirs; `reason` is for people, of a key that was refused or could not be tried. It never
    holds the key."""

    verdict: Literal["works", "refused", "untried"]
    models: int | None = None
    reason: str = ""
    names: Sequence[str] = ()


async def try_key(provider_id: str, entry: ProviderConfig, key: str) -> Trial:
    """Ask the provider, where and how the configuration's `entry` says, with `key`, or
    without one for an empty text; 10 s at most."""
    known, shared = known_of(provider_id, entry.get("npm", "")), connection(provider_id, entry, key)
    ours = known is not None and shared.base_url == known.base_url
    url = known.key_url if known and ours and known.key_url else f"{shared.base_url}/models"
    if not url.startswith("http"):
        return Trial("untried", reason=Sentence("This provider has nothing to try a key with."))
    model = Model(
        provider_id=provider_id,
        model_id="",
        name="",
        protocol=shared.protocol,
        api_model="",
        api_key=key,
        headers=shared.headers,
        timeout=SECONDS,
    )
    name = (known.key_header if known else "") or "authorization"
    shown = f"Bearer {key}" if name == "authorization" else key
    headers = {name: shown} if key else {}
    if shared.protocol == "anthropic":
        headers["anthropic-version"] = VERSION
    try:
        async with asyncio.timeout(SECONDS):
            answer = await get_json(
                model, url, headers | {name.lower(): value for name, value in shared.headers.items()}
            )
    except TimeoutError:
        return Trial(
            "untried", reason=Sentence("There was no answer within %(seconds)s s.", seconds=f"{SECONDS:g}")
        )
    except ModelError as error:
        refused = isinstance(error, AuthFailed) or (error.status == 400 and _BAD_KEY.search(error.message))
        return Trial("refused" if refused else "untried", reason=error.message)
    rows = _listed(answer)
    return Trial("works", models=None if rows is None else len(rows), names=_names(rows or ()))


def _listed(answer: Any) -> Sequence[Any] | None:
    """The models that an answer lists."""
    listed = answer
    if isinstance(answer, dict):
        listed = next((answer[name] for name in ("data", "models") if name in answer), None)
    return listed if isinstance(listed, list) else None


def _names(rows: Sequence[Any]) -> Sequence[str]:
    """As a request names them."""
    said = ((row.get("id") or row.get("name")) if isinstance(row, dict) else row for row in rows)
    return tuple(sorted({name for name in said if isinstance(name, str) and name}))
