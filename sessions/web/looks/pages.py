"""The part of the settings page that says how it looks, and the colours of a theme."""

from __future__ import annotations

import asyncio

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET

from sessions.web.looks.themes import THEMES, tokens
from sessions.web.respond import fragment

SIZES = (
    ("0.9", gettext_noop("Small")),
    ("", gettext_noop("Usual")),
    ("1.12", gettext_noop("Large")),
    ("1.25", gettext_noop("Larger")),
    ("1.5", gettext_noop("Very large")),
)
"""Of text, as factors."""
DENSITIES = (("0.8", gettext_noop("Compact")), ("", gettext_noop("Usual")), ("1.2", gettext_noop("Roomy")))
"""Of the spaces between, likewise."""
WIDTHS = (
    ("640px", gettext_noop("Narrow")),
    ("", gettext_noop("Usual")),
    ("960px", gettext_noop("Wide")),
    ("100%", gettext_noop("All of it")),
)


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """With the themes of `?project=`, which are files; the language is shown as the browser has chosen it."""
    return fragment(
        "looks/looks.html",
        project=request.GET.get("project", ""),
        themes=THEMES,
        sizes=SIZES,
        densities=DENSITIES,
        widths=WIDTHS,
        languages=settings.LANGUAGES,
        language=request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, ""),
    )


@require_GET
async def theme(request: HttpRequest) -> HttpResponse:
    """The theme `?name=`: its scheme, and the value of each custom property."""
    name = request.GET.get("name", "")
    scheme = next((theme.scheme for theme in THEMES if theme.name == name), name)
    try:
        return JsonResponse({"scheme": scheme, "properties": dict(await asyncio.to_thread(tokens, name))})
    except KeyError as error:
        raise Http404(gettext("There is no such theme.")) from error
