"""What the sandbox's probe showed on this machine."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.toolkit.sandbox import probe


@require_GET
async def found(request: HttpRequest) -> HttpResponse:
    return render(request, "settings/sandbox.html", {"found": await asyncio.to_thread(probe.found)})
