"""`/api/health`, `/api/location`, `/api/fs`, `/api/reference`."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions.api.base import wire
from sessions.api.described import answers
from sessions.wire.base import Wire

router = Router()


class Health(Wire):
    healthy: Literal[True] = True


@router.get("/health", operation_id="v2.health.get")
@answers(Health)
async def health(request: HttpRequest) -> HttpResponse:
    return wire({"healthy": True})
