"""The pages of a front. All others are there by their names, for templates that name them."""

from __future__ import annotations

from django.conf import settings
from django.urls import include, path

from opencode_web import urls
from opencode_web.nodes import pages

urlpatterns = [
    path(f"{settings.BASE_PATH.removeprefix('/')}/".removeprefix("/"), pages.overview, name="machines"),
    path("", include(urls.urlpatterns)),
]
handler404 = "opencode_web.site.document.unknown"
