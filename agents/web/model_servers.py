"""Adding a server of models of one's own: its address, what it speaks, which models it has."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.problem import Refused, Unreadable
from agents.config.schema import ProviderConfig
from agents.config.writing import change, target
from agents.llm.accounts import keeping
from agents.llm.accounts.flows.base import InvalidInput, SignInFailed
from agents.llm.known import KNOWN
from agents.llm.trial import try_key
from agents.web.accounts import config_of
from sessions.core.sentences import message_of
from sessions.web.respond import beside, fragment, redirect

PLACE = "model-server"
SPOKEN = {
    "@ai-sdk/openai-compatible": "OpenAI's chat completions",
    "@ai-sdk/openai": "OpenAI's responses",
    "@ai-sdk/anthropic": "Anthropic's messages",
}
"""What a server may speak, by the package that OpenCode uses for it."""
MOST = 500
"""Models of one server."""
_LONGEST = 200
_NOT_IN_ID = re.compile(r"[^a-z0-9]+")
_MOST_ID = 64


class Wrong(Exception):
    """What is given makes no server; the text is for people."""


@dataclass(frozen=True, slots=True)
class Given:
    """As it was asked for; `id` is what models are named by before the slash."""

    id: str
    name: str
    address: str
    package: str
    key: str

    @property
    def entry(self) -> ProviderConfig:
        return {"name": self.name, "npm": self.package, "options": {"baseURL": self.address}}


@require_GET
async def form(request: HttpRequest) -> HttpResponse:
    file = target(None, os.environ).file
    project = request.GET.get("project", "")
    return fragment("accounts/server.html", spoken=SPOKEN, file=file, project=project)


@require_POST
async def look(request: HttpRequest) -> HttpResponse:
    """Ask the server which models it has."""
    try:
        given = _given(request.POST)
    except Wrong as problem:
        return beside(PLACE, message_of(problem))
    trial = await try_key(given.id, given.entry, given.key)
    return fragment("accounts/server_models.html", trial=trial, names=trial.names[:MOST])


@require_POST
async def add(request: HttpRequest) -> HttpResponse:
    """Write it into the person's own configuration, with the models that are ticked or written, and keep its
    key."""
    fields = request.POST
    try:
        given = _given(fields)
        models = _models(fields)
        known = (await config_of(fields)).provider
        if given.id in known or given.id in KNOWN:
            raise Wrong(
                gettext("There is a provider %(id)s already. Choose another name.") % {"id": given.id}
            )
        if given.key:
            keeping.checked("key", given.key)
        patch: dict[str, Any] = {**given.entry, "models": {name: {} for name in models}}
        await asyncio.to_thread(change, None, {"provider": {given.id: patch}})
        if given.key:
            await keeping.keep(given.id, {"type": "api", "key": given.key})
    except (Wrong, Refused, Unreadable, InvalidInput, SignInFailed, OSError) as problem:
        return beside(PLACE, message_of(problem))
    asked = {"provider": given.id} | ({"project": fields["project"]} if fields.get("project") else {})
    return redirect(f"{reverse('accounts')}?{urlencode(asked)}")


def _given(fields: QueryDict) -> Given:
    """Raises Wrong."""
    name, address = (fields.get(part, "").strip() for part in ("name", "address"))
    if not name or len(name) > _LONGEST:
        raise Wrong(gettext("Give it a name."))
    made = _NOT_IN_ID.sub("-", name.lower()).strip("-")[:_MOST_ID]
    if not made:
        raise Wrong(gettext("The name needs a letter from a to z, or a digit."))
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise Wrong(gettext("The address begins with http:// or https://, as http://127.0.0.1:8000/v1."))
    if parts.username or parts.password:
        raise Wrong(gettext("The key does not belong into the address: it has a field of its own."))
    package = fields.get("package", "")
    if package not in SPOKEN:
        raise Wrong(gettext("Choose what it speaks."))
    return Given(made, name, address.rstrip("/"), package, fields.get("key", "").strip())


def _models(fields: QueryDict) -> list[str]:
    """Raises Wrong."""
    written = (line.strip() for line in fields.get("models", "").splitlines())
    names = list(dict.fromkeys(filter(None, (*fields.getlist("model"), *written))))
    if not names:
        raise Wrong(gettext("Name at least one model: press Look, or write its name."))
    if len(names) > MOST or any(len(name) > _LONGEST for name in names):
        raise Wrong(
            gettext("These are too many models, or one has too long a name: %(most)s at most.")
            % {"most": MOST}
        )
    return names
