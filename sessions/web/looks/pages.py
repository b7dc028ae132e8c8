"""The part of the settings page that says how it looks, and the colours of a theme."""

from __future__ import annotations

import asyncio

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from sessions.web.looks.themes import THEMES, tokens
from sessions.web.respond import fragment

SIZES = (("0.9", "Small"), ("", "Usual"), ("1.12", "Large"), ("1.25", "Larger"), ("1.5", "Very large"))
"""Of text, as factors."""
DENSITIES = (("0.8", "Compact"), ("", "Usual"), ("1.2", "Roomy"))
"""Of the spaces between, likewise."""
WIDTHS = (("640px", "Narrow"), ("", "Usual"), ("960px", "Wide"), ("100%", "All of it"))


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """With the themes of `?project=`, which are files."""
    return fragment(
        "looks/looks.html",
        project=request.GET.get("project", ""),
        themes=THEMES,
        sizes=SIZES,
        densities=DENSITIES,
        widths=WIDTHS,
    )


@require_GET
async def theme(request: HttpRequest) -> HttpResponse:
    """The theme `?name=`: its scheme, and the value of each custom property."""
    name = request.GET.get("name", "")
    scheme = next((theme.scheme for theme in THEMES if theme.name == name), name)
    try:
        return JsonResponse({"scheme": scheme, "properties": dict(await asyncio.to_thread(tokens, name))})
    except KeyError as error:
        raise Http404("There is no such theme.") from error
