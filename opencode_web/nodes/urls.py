"""The pages of a front, and what a node has beside its own. All others are there by their names, for
templates that name them."""

from __future__ import annotations

from django.conf import settings
from django.urls import include, path

from opencode_web import urls
from opencode_web.nodes import pages

_below = f"{settings.BASE_PATH.removeprefix('/')}/".removeprefix("/")
_front = [
    path(_below, pages.overview, name="machines"),
    path(f"{_below}machines/drain", pages.drain, name="drain-machine"),
    path(f"{_below}machines/join", pages.join, name="join-team"),
    path(f"{_below}machines/prefer", pages.prefer, name="prefer-copy"),
]
_node = [path(f"{_below}machines/restore", pages.restore, name="restore-here")]
urlpatterns = [*(_front if settings.FRONT else _node), path("", include(urls.urlpatterns))]
handler404 = "opencode_web.site.document.unknown"
