"""The page that an installed one keeps for when the server is away. docs/decisions/0063-offline.md."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """It has nothing of anybody in it: it is kept by `static/js/worker.js`."""
    return render(request, "offline/page.html")
