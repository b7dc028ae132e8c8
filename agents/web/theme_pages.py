"""Themes of OpenCode's files, among those of the settings page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.config import themes
from sessions.web.places import place_of
from sessions.web.respond import fragment


@require_GET
async def listing(request: HttpRequest) -> HttpResponse:
    place = await place_of(request.GET)
    found = await asyncio.to_thread(lambda: list(_found(place.directory)))
    return fragment("looks/files.html", found=found, project=place.id)


def _found(directory: Path) -> Iterator[tuple[str, str]]:
    """Name and scheme of each."""
    for file in themes.files(directory):
        yield from ((file.name, scheme) for scheme in themes.schemes(file))


@require_GET
async def theme(request: HttpRequest) -> HttpResponse:
    """The theme of the file `?name=` for a `scheme`."""
    place, scheme = await place_of(request.GET), request.GET.get("scheme", "")
    named = await asyncio.to_thread(themes.files, place.directory)
    file = next((file for file in named if file.name == request.GET.get("name")), None)
    if file is None or scheme not in ("light", "dark"):
        raise Http404(gettext("There is no such theme."))
    try:
        properties = await asyncio.to_thread(themes.tokens, file, scheme)
    except themes.NoTheme as problem:
        raise Http404(str(problem)) from problem
    return JsonResponse({"scheme": scheme, "properties": properties})
