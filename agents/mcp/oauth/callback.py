"""`GET /mcp/oauth/callback`: the page that an authorization server sends the person's browser back to.

It comes from another site and therefore without our cookie (SameSite=Strict); the guard lets it pass, and the
secret `state` in its query is what opens it, once.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from agents.mcp.oauth.listener import came_back
from sessions.rendering.html import html


@require_GET
async def callback(request: HttpRequest) -> HttpResponse:
    said = await came_back({name: str(value) for name, value in request.GET.items()})
    response = HttpResponse(html("mcp/oauth/callback.html", said=said), status=int(said.status[:3]))
    response["Cache-Control"] = "no-store"
    return response
