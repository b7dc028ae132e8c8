"""The `auth` of a plugin: its ways to sign in at a provider, and what its loader says of a request there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from agents.llm.accounts import keeping
from agents.llm.accounts.flows.base import KEY, Begun, Inputs, InvalidInput, Method, SignInFailed
from agents.llm.accounts.plugged import Found, Plugged
from agents.llm.accounts.shapes import Auth, Prompt
from agents.llm.auth import Entry
from agents.llm.types import AuthFailed, Model, ModelError, ModelRequest
from agents.plugins.authors import FIELD_PROBLEM
from agents.plugins.host import Hung, TimedOut
from agents.plugins.models import shape_of
from agents.plugins.plugin import Plugin
from sessions.core.sentences import Sentence
from sessions.core.text import error_text

SIGN_IN_SECONDS = 900.0
_AUTH: TypeAdapter[Any] = TypeAdapter(Auth)
_PROMPTS: TypeAdapter[list[Any]] = TypeAdapter(list[Prompt])
_PROMPT_KEYS = ("type", "key", "message", "placeholder", "options", "when")


@with_config(ConfigDict(extra="ignore", strict=True))
class Access(TypedDict, total=False):
    """What a loader may say of the requests to its provider; `fetch`, an `agents.llm.types.Fetch`, sends
    them."""

    apiKey: str
    baseURL: str
    headers: dict[str, str]
    fetch: Callable[..., Any]


_ACCESS: TypeAdapter[Access] = TypeAdapter(Access)


def plugged(plugins: Iterable[Plugin]) -> Found:
    """What plugins add at providers; of two at one provider the last counts, as with OpenCode."""
    found: dict[str, Plugged] = {}
    for plugin in plugins:
        for auth in plugin.auths:
            try:
                found[_text(auth, "provider")] = _plugged(plugin, auth)
            except (TypeError, ValueError) as error:
                plugin.fault("auth", Sentence("cannot be used: %(error)s", error=error_text(error)))
    return found


def _plugged(plugin: Plugin, auth: Mapping[str, Any]) -> Plugged:
    provider_id, loader = _text(auth, "provider"), auth.get("loader")
    methods = [
        _method(plugin, f"{provider_id}-plugin-{number}", method)
        for number, method in enumerate(auth.get("methods") or ())
    ]
    return Plugged(methods, _Account(plugin, provider_id, loader) if loader else None)


def _text(data: Mapping[str, Any], name: str) -> str:
    if not (isinstance(data.get(name), str) and data[name].strip()):
        raise ValueError(f"it has no {name}")
    return str(data[name])


def _method(plugin: Plugin, name: str, given: Mapping[str, Any]) -> Method:
    kind: Literal["oauth", "api"] = "oauth" if given.get("type") == "oauth" else "api"
    label, authorize = _text(given, "label"), given.get("authorize")
    if authorize is None and kind == "oauth":
        raise ValueError(f"{label!r} has no authorize")
    asked = [
        {key: prompt[key] for key in _PROMPT_KEYS if prompt.get(key) is not None}
        for prompt in given.get("prompts") or ()
    ]
    _PROMPTS.validate_python(asked)
    begin = partial(_begin, plugin, kind, authorize) if authorize else _with_key
    takes_key = authorize is None and bool(asked)
    return Method(name, label, label if authorize or takes_key else "", begin, asked, kind, takes_key)


async def _with_key(inputs: Inputs) -> Begun:
    """A key that a person gives, and beside it what else was asked."""
    if not inputs.get(KEY):
        raise SignInFailed(Sentence("This takes a key."))
    more = {key: value for key, value in inputs.items() if key != KEY}
    given = {"type": "success", KEY: inputs[KEY], "metadata": more}
    return Begun("", "", partial(_entry, given), SIGN_IN_SECONDS)


async def _begin(plugin: Plugin, kind: str, authorize: Any, inputs: Inputs) -> Begun:
    given = await _asked(plugin, partial(authorize, dict(inputs)), 2 * settings.HOOK_SECONDS)
    if not isinstance(given, Mapping):
        raise SignInFailed(Sentence("The plugin gave no sign-in."))
    if problem := given.get(FIELD_PROBLEM):
        raise InvalidInput(str(problem), str(given.get("message")))
    if kind == "api":
        return Begun("", "", partial(_entry, given), SIGN_IN_SECONDS)
    url, callback = str(given.get("url") or ""), given.get("callback")
    if not url.startswith(("https://", "http://")) or callback is None:
        raise SignInFailed(Sentence("The plugin names no page to sign in at."))
    code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with_code = given.get("method") == "code"

    async def finish() -> Entry:
        arguments = (await code,) if with_code else ()
        return await _entry(await _asked(plugin, partial(callback, *arguments), None))

    def take(text: str) -> None:
        if not code.done():
            code.set_result(text.strip())

    words = str(given.get("instructions") or "")
    return Begun(url, words, finish, SIGN_IN_SECONDS, take=take if with_code else None)


async def _asked(plugin: Plugin, function: Callable[[], Awaitable[Any]], seconds: float | None) -> Any:
    """What a function of the plugin gives. Raises SignInFailed."""
    try:
        return await plugin.host.call(function, seconds)
    except (TimedOut, Hung) as error:
        raise SignInFailed(Sentence("The plugin %(file)s did not answer.", file=plugin.file.name)) from error
    except Exception as error:
        raise SignInFailed(
            Sentence("The plugin %(file)s failed: %(error)s", file=plugin.file.name, error=error_text(error))
        ) from error


async def _entry(given: Any) -> Entry:
    """What is kept of a sign-in that succeeded. Raises SignInFailed."""
    if not isinstance(given, Mapping) or given.get("type") != "success":
        raise SignInFailed(Sentence("The sign-in failed, as its plugin says."))
    entry = {key: value for key, value in given.items() if value is not None}
    entry["type"] = "api" if "key" in entry else "oauth"
    try:
        made: Entry = _AUTH.validate_python(entry).wire()
    except ValidationError as error:
        raise SignInFailed(Sentence("The plugin gave neither a key nor a token.")) from error
    return {**made, **({"provider": str(entry["provider"])} if entry.get("provider") else {})}


@dataclass(frozen=True, slots=True, eq=False)
class _Account:
    """An `agents.llm.types.Account`. What the loader gives is asked for with each request: it may renew what
    is kept."""

    plugin: Plugin
    provider_id: str
    loader: Callable[[Callable[[], Awaitable[Entry | None]], Mapping[str, Any]], Awaitable[Any]]

    async def authorized(self, request: ModelRequest, refused: str = "") -> ModelRequest:
        if await self._entry() is None:
            raise AuthFailed(f"You are signed out of {self.provider_id}. Sign in again under Accounts.")
        asked = partial(self.loader, self._entry, _shown(request.model))
        try:
            given = _ACCESS.validate_python(
                await self.plugin.host.call(asked, 2 * settings.HOOK_SECONDS) or {}
            )
        except (TimedOut, Hung) as error:
            raise self._failure("it did not answer") from error
        except ValidationError as error:
            raise self._failure(error_text(error), retryable=False) from error
        except Exception as error:
            raise self._failure(error_text(error)) from error
        return replace(request, model=_with(request.model, given))

    async def _entry(self) -> Entry | None:
        return (await keeping.entries()).get(self.provider_id)

    def _failure(self, why: str, *, retryable: bool = True) -> ModelError:
        name = Path(self.plugin.file).name
        words = f"The plugin {name} gave no access to {self.provider_id}: {why}"
        return ModelError(words, retryable=retryable)


def _shown(model: Model) -> dict[str, Any]:
    """A provider with the one model that is asked."""
    return {
        "id": model.provider_id,
        "name": model.provider_id,
        "options": {},
        "models": {model.model_id: shape_of(model)},
    }


def _with(model: Model, given: Access) -> Model:
    """The configuration's key and headers come first."""
    return replace(
        model,
        api_key=model.api_key or given.get("apiKey", ""),
        base_url=given.get("baseURL", "").rstrip("/") or model.base_url,
        headers={**given.get("headers", {}), **model.headers},
        fetch=given.get("fetch"),
    )
