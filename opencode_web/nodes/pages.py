"""The page of a front: machines, what goes on there, and the way to each."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from opencode_web.nodes.overview import Shows, machines
from sessions.core.principal import person_in, sees
from sessions.web.respond import fragment, page


def _shows(request: HttpRequest) -> Shows:
    """What the person who asks sees."""
    return lambda node, project: sees(person_in(request.scope, node), project)  # type: ignore[attr-defined]


@require_GET
async def overview(request: HttpRequest) -> HttpResponse:
    """Whole, or what is renewed of it while the page is open; for programs as JSON."""
    found = await machines(settings.BASE_PATH, _shows(request))
    if not request.accepts("text/html"):
        return JsonResponse([asdict(machine) for machine in found], safe=False)
    if request.headers.get("HX-Request"):
        return fragment("nodes/list.html", machines=found)
    return await page(request, "nodes/machines.html", machines=found)
