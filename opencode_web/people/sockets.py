"""Sockets are for who has the role that they take, as pages are."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, unquote

from django.conf import settings

from opencode_web.people import needs
from opencode_web.people.places import known_project, project_at, project_of_session
from opencode_web.site.security.people import Said
from opencode_web.site.security.request import Request
from sessions.core.db import in_db
from sessions.core.roles import Person, allowed

_PROJECT = re.compile(r"/ws/p/([^/]+)/")


async def may_open(said: Said, request: Request) -> bool:
    person, need = Person.of(said, settings.NODE), needs.of_socket(request.path)
    about = await in_db(_projects, request)
    return all(allowed(person, need, project) for project in about)


def _projects(request: Request) -> set[str | None]:
    """Of the path and the session of a page's; of a terminal's folder; None for what is about all of them."""
    query: dict[str, Any] = parse_qs(request.scope["query_string"].decode("latin-1"))
    if found := _PROJECT.match(request.path):
        session = query.get("session", [""])[0]
        project = known_project(found[1])
        return {project, project_of_session(session)} if session else {project}
    if request.path.endswith("/connect"):
        header = dict(request.scope["headers"]).get(b"x-opencode-directory", b"").decode("latin-1")
        named = query.get("directory") or query.get("location[directory]") or [unquote(header)]
        return {project_at(named[-1])}
    return {None}
