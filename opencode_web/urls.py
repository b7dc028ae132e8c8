"""The pages, the pickers of the agents, and what machines look at. OpenCode's API: `api_urls`."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, URLResolver, include, path

from opencode_web.site import offline, readiness
from opencode_web.site.loading import HEALTH
from opencode_web.site.metrics import page as metrics
from sessions.web.lazy import LazyViews

about = LazyViews("opencode_web.site.about")
devices = LazyViews("opencode_web.site.devices")
previews = LazyViews("opencode_web.site.preview.pages")


async def health(_: HttpRequest) -> JsonResponse:
    """`/global/health` of OpenCode; answered without loading the rest of the API."""
    return JsonResponse(HEALTH)


_pages: list[URLPattern | URLResolver] = [
    path("global/health", health, name="health"),
    path("ready", readiness.show, name="ready"),
    path("metrics", metrics.show, name="metrics"),
    path("offline", offline.show, name="offline"),
    path("settings/about", about.show, name="about"),
    path("settings/about/log", about.log, name="server-log"),
    path("settings/about/examine", about.examine, name="examine"),
    path("settings/devices", devices.show, name="devices"),
    path("settings/devices/add", devices.add, name="add-device"),
    path("settings/devices/remove", devices.remove, name="remove-device"),
    path("settings/devices/reached", devices.reached, name="reached"),
    path("p/<str:project_id>/s/<str:session_id>/preview", previews.show, name="preview"),
    path("p/<str:project_id>/s/<str:session_id>/preview/open", previews.begin, name="open-preview"),
    path("", include("agents.web.urls")),
    path("", include("sessions.web.urls")),
]
if settings.PEOPLE:
    _pages.append(path("", include("opencode_web.people.urls")))
# Here and not in a script prefix, which `reverse` knows in the thread of a request only.
urlpatterns = [path(f"{settings.BASE_PATH[1:]}/", include(_pages))] if settings.BASE_PATH else _pages
