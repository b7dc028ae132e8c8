"""Keys of providers that people bring along: for their own turns, and for all turns of a project. Where a
server has people; a sign-in at a provider is the installation's (`accounts`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.schema import Config
from agents.llm.accounts import keeping
from agents.llm.accounts.flows.base import InvalidInput
from agents.llm.known import KNOWN
from agents.llm.trial import try_key
from sessions.core.db import in_db
from sessions.core.models import Project, ProviderKey
from sessions.core.principal import may, person_of
from sessions.core.sentences import message_of, translate
from sessions.core.store import provider_keys
from sessions.web.access import project_of
from sessions.web.respond import beside, fragment, page


@dataclass(frozen=True, slots=True)
class Choice:
    """A provider that takes a key."""

    id: str
    name: str


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """One's own, and those of `?project=`, which who administers may change."""
    return await page(request, "accounts/own.html", **await _shown(request, request.GET))


@require_POST
async def add(request: HttpRequest) -> HttpResponse:
    """`key` of `provider`, for the turns of whoever asks."""
    return await _added(request, "own", person=_name(request))


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    await in_db(provider_keys.remove, request.POST.get("id", ""), person=_name(request))
    return fragment("accounts/own_list.html", **await _shown(request, request.POST))


@require_POST
async def add_of_project(request: HttpRequest, project_id: str) -> HttpResponse:
    """The same for all turns in a project."""
    project = await project_of(project_id)
    return await _added(request, "shared", project=project.id)


@require_POST
async def remove_of_project(request: HttpRequest, project_id: str) -> HttpResponse:
    project = await project_of(project_id)
    await in_db(provider_keys.remove, request.POST.get("id", ""), project=project.id)
    return fragment("accounts/own_list.html", **await _shown(request, request.POST))


async def _added(request: HttpRequest, place: str, **whose: str) -> HttpResponse:
    """Unless the provider refuses it, or it can be no key; that is said beside the field."""
    shown = await _shown(request, request.POST)
    provider = next((one for one in shown["providers"] if one.id == request.POST.get("provider")), None)
    if provider is None:
        return beside(place, gettext("Choose a provider."))
    config: Config = shown["config"]
    try:
        key = keeping.checked("key", request.POST.get("key", ""))
    except InvalidInput as error:
        return beside(place, message_of(error))
    trial = await try_key(provider.id, config.provider.get(provider.id) or {}, key)
    if trial.verdict == "refused":
        return beside(
            place,
            gettext("%(name)s refused this key, so it was not kept. It says: %(reason)s")
            % {"name": provider.name, "reason": translate(trial.reason)},
        )
    await in_db(provider_keys.put, provider.id, key, **whose)
    return fragment("accounts/own_list.html", **await _shown(request, request.POST))


async def _shown(request: HttpRequest, asked: QueryDict) -> dict[str, Any]:
    project_id = str(asked.get("project", ""))
    project = await project_of(project_id) if project_id else None
    folder = Path(project.worktree if project else settings.OPENED_DIRECTORY or Path.cwd())
    config = (await asyncio.to_thread(load, folder)).config
    name = _name(request)
    own, shared = await in_db(_rows, name, project)
    return {
        "project": project,
        "config": config,
        "providers": _providers(config),
        "own": own,
        "shared": shared,
        "administers": project is not None and may(request, "add-project-key"),
    }


def _rows(name: str, project: Project | None) -> tuple[Sequence[ProviderKey], Sequence[ProviderKey]]:
    return provider_keys.listed(person=name), provider_keys.listed(project=project.id if project else "")


def _providers(config: Config) -> list[Choice]:
    known = {id: one.name for id, one in KNOWN.items() if one.env and id != "github-copilot"}
    written = {id: str(entry.get("name") or known.get(id, id)) for id, entry in config.provider.items()}
    return sorted(
        (Choice(id, name) for id, name in (known | written).items()), key=lambda one: one.name.lower()
    )


def _name(request: HttpRequest) -> str:
    """Raises Http404 for the server's own password, which is nobody."""
    person = person_of(request)
    if person is None:
        raise Http404(gettext("This page is for people."))
    return person.name
