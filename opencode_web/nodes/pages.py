"""The page of a front: machines, what goes on there, and the way to each. At a node: how a project of another
one comes to it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.nodes import invitations, registry, workspaces
from opencode_web.nodes.overview import Shows, machines
from opencode_web.nodes.parking import restoring
from opencode_web.nodes.parking.restoring import NotRestored
from sessions.core.db import in_db
from sessions.core.principal import person_in, sees
from sessions.web.respond import fragment, page, redirect, refused


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


@require_POST
async def drain(request: HttpRequest) -> HttpResponse:
    """`node` begins no turn more, or with `again` does."""
    if not await in_db(registry.drain, request.POST.get("node", ""), draining="again" not in request.POST):
        raise Http404(gettext("There is no machine of this name."))
    return fragment("nodes/list.html", machines=await machines(settings.BASE_PATH))


@require_POST
async def join(request: HttpRequest) -> HttpResponse:
    """What a machine that has a `token` needs, as JSON; once."""
    told = await in_db(invitations.redeem, request.POST.get("token", ""))
    if told is None:
        return JsonResponse(
            {"message": gettext("This token counts no longer: ask for a new one.")}, status=403
        )
    return JsonResponse(told)


@require_POST
async def prefer(request: HttpRequest) -> HttpResponse:
    """Of two copies of a project the one at `node` goes on."""
    row = await in_db(workspaces.at, request.POST.get("node", ""), request.POST.get("project", ""))
    if row is None or not row.closed:
        raise Http404(gettext("There is no such copy."))
    await in_db(workspaces.prefer, row)
    return fragment("nodes/list.html", machines=await machines(settings.BASE_PATH))


@require_http_methods(["GET", "HEAD", "POST"])
async def restore(request: HttpRequest) -> HttpResponse:
    """GET what would come here of a project of another node, of the moment `at` (ms) where that node is away;
    POST has it come, into the folder `path`."""
    asked = request.POST if request.method == "POST" else request.GET
    at = asked.get("at", "")
    try:
        offered = await restoring.offer(
            asked.get("node", ""), asked.get("project", ""), int(at) if at.isdecimal() else 0
        )
    except NotRestored as refusal:
        if request.method == "POST":
            return refused(str(refusal))
        return await page(request, "nodes/restore.html", problem=str(refusal))
    if request.method != "POST":
        return await page(request, "nodes/restore.html", offer=offered, here=settings.NODE)
    try:
        done = await restoring.restore(offered, Path(request.POST.get("path", "").strip()))
    except NotRestored as refusal:
        return refused(f"{refusal}.")
    if done.without:
        return fragment("nodes/restored.html", project=done.project, without=done.without)
    return redirect(done.project.get_absolute_url())
