"""The page of accounts: what connects each provider, adding a key, signing in and out.

Every answer is the row of one provider; `project` names the project whose configuration counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.schema import Config
from agents.llm.accounts import attempts, keeping
from agents.llm.accounts.flows.base import InvalidInput, Method, SignInFailed
from agents.llm.accounts.methods import applies
from agents.llm.accounts.state import State, state, states
from agents.llm.trial import Trial, try_key
from agents.plugins.hooks import sign_ins
from sessions.core.models import Project
from sessions.core.sentences import message_of, translate
from sessions.web.access import project_of
from sessions.web.respond import beside, fragment, page

_NOT_INPUTS = frozenset({"provider", "project", "method"})


@dataclass(frozen=True, slots=True)
class Way:
    """A button that begins a sign-in: what it sends besides, and the prompts that are answered before. Its
    fields are named by `place`."""

    words: str
    place: str
    method: str
    sent: Mapping[str, str]
    prompts: Sequence[Mapping[str, Any]] = ()
    takes_key: bool = False


@require_GET
async def accounts(request: HttpRequest) -> HttpResponse:
    """`?provider=` is the one whose key is to be given."""
    project = await _project(request.GET)
    directory = _directory(project)
    found = await states(await _config(directory), await sign_ins(directory))
    rows = [_row(item) for item in found]
    connected = sum(bool(row["state"].by) for row in rows)
    file = settings.AUTH_FILES[0]
    asked = request.GET.get("provider", "")
    return await page(
        request, "accounts/page.html", project=project, rows=rows, connected=connected, file=file, asked=asked
    )


@require_POST
async def key(request: HttpRequest) -> HttpResponse:
    """Keep `key` unless the provider refuses it, or say beside the field why not; with `anyway` the provider
    is not asked."""
    found = await _state(request.POST)
    config = await _config(_directory(await _project(request.POST)))
    trial = None
    try:
        given = keeping.checked("key", request.POST.get("key", ""))
        if "anyway" not in request.POST:
            trial = await try_key(found.id, config.provider.get(found.id) or {}, given)
        if trial and trial.verdict == "refused":
            refused = gettext("%(name)s refused this key, so it was not kept. It says: %(reason)s")
            words = refused % {"name": found.name, "reason": translate(trial.reason)}
            return beside(found.place, words, "accounts/refused.html", state=found)
        await keeping.keep(found.id, {"type": "api", "key": given})
    except (InvalidInput, SignInFailed) as error:
        return beside(found.place, message_of(error))
    return await _changed(request.POST, _told(trial), shown=trial is not None)


@require_POST
async def begin(request: HttpRequest) -> HttpResponse:
    """Begin the sign-in `method`; all other fields are answers to its prompts."""
    found = await _state(request.POST)
    named = request.POST.get("method", "")
    method = next((method for method in found.methods if method.id == named), None)
    if method is None:
        raise Http404(gettext("There is no such sign-in."))
    inputs = {name: str(value) for name, value in request.POST.items() if name not in _NOT_INPUTS}
    try:
        await attempts.begin(found.id, method, inputs)
    except (InvalidInput, SignInFailed) as error:
        return beside(found.place, message_of(error))
    return await _changed(request.POST, gettext("Waiting for you to sign in."))


@require_GET
async def waiting(request: HttpRequest) -> HttpResponse:
    """Nothing as long as the sign-in waits, then the row."""
    attempt = attempts.of_provider(request.GET.get("provider", ""))
    if attempt is not None and attempt.status == "pending":
        return HttpResponse(status=204)
    done = attempt is None or attempt.status == "complete"
    return await _changed(request.GET, gettext("Signed in.") if done and attempt else "")


@require_POST
async def code(request: HttpRequest) -> HttpResponse:
    """Give `code`, which the page of the sign-in shows, to the sign-in that waits for it."""
    attempt = attempts.of_provider(request.POST.get("provider", ""))
    if attempt is None or attempt.begun.take is None:
        raise Http404(gettext("No sign-in waits for a code."))
    attempt.begun.take(request.POST.get("code", ""))
    return await _changed(request.POST, gettext("Trying the code."))


@require_POST
async def cancel(request: HttpRequest) -> HttpResponse:
    await attempts.cancel(request.POST.get("provider", ""))
    return await _changed(request.POST, gettext("Cancelled."))


@require_POST
async def forget(request: HttpRequest) -> HttpResponse:
    """Sign out, or drop a key."""
    found = await _state(request.POST)
    try:
        await keeping.forget(found.id)
    except SignInFailed as error:
        return beside(found.place, message_of(error))
    return await _changed(
        request.POST, gettext("Signed out.") if found.by == "sign-in" else gettext("The key is removed.")
    )


def _told(trial: Trial | None) -> str:
    """What became of a key that is kept; None: of one that was not to be tried."""
    if trial is None:
        return gettext("The key is kept.")
    if trial.verdict == "untried":
        return gettext("The key is kept, but it was not tried: %(reason)s") % {
            "reason": translate(trial.reason)
        }
    if trial.models is None:
        return gettext("The key works.")
    words = ngettext("The key works: %(count)s model.", "The key works: %(count)s models.", trial.models)
    return words % {"count": trial.models}


async def _changed(fields: QueryDict, said: str, *, shown: bool = False) -> HttpResponse:
    """The provider's row as it is now; `said` is read out, and shown where the row does not tell it."""
    return fragment("accounts/changed.html", **_row(await _state(fields)), said=said, shown=shown)


def _row(found: State) -> dict[str, Any]:
    ways = [way for at, method in enumerate(found.methods) for way in _ways(method, f"{found.place}-{at}")]
    problem = found.failed or found.ended
    return {"state": found, "waiting": found.waiting, "problem": problem, "ways": ways}


def _ways(method: Method, place: str) -> list[Way]:
    """One for each choice that decides what else is asked, with what is asked then; the first that brings up
    no question has the name of the method."""
    deciding = {prompt["when"]["key"] for prompt in method.prompts if prompt.get("when")}
    selects = [one for one in method.prompts if one["key"] in deciding and one.get("options")]
    keys = [one["key"] for one in selects]
    ways: list[Way] = []
    for choice in product(*(one["options"] for one in selects)):
        sent = {key: option["value"] for key, option in zip(keys, choice, strict=True)}
        asked = [one for one in method.prompts if one["key"] not in keys and _is_asked(one, sent)]
        plain = not any(one.get("when") for one in asked) and not any(
            way.words == method.action for way in ways
        )
        words = method.action if plain else ", ".join(translate(option["label"]) for option in choice)
        there = f"{place}-{len(ways)}"
        ways.append(Way(words or method.action, there, method.id, sent, asked, method.takes_key))
    return ways


def _is_asked(prompt: Mapping[str, Any], sent: Mapping[str, str]) -> bool:
    """Also where what decides is only written with it."""
    when = prompt.get("when")
    return when is None or when["key"] not in sent or applies(when, sent)


async def _state(fields: QueryDict) -> State:
    """Raises Http404."""
    directory = _directory(await _project(fields))
    found = await state(fields.get("provider", ""), await _config(directory), await sign_ins(directory))
    if found is None:
        raise Http404(gettext("There is no such provider."))
    return found


async def config_of(fields: QueryDict) -> Config:
    """That which counts for a request. Raises Http404."""
    return await _config(_directory(await _project(fields)))


async def _project(fields: QueryDict) -> Project | None:
    named = fields.get("project", "")
    return await project_of(named) if named else None


def _directory(project: Project | None) -> Path:
    return Path(project.worktree if project else settings.OPENED_DIRECTORY or Path.cwd())


async def _config(directory: Path) -> Config:
    return (await asyncio.to_thread(load, directory)).config
