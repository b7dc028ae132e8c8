"""`/provider`, `/config/providers`: models and where they come from."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.api.models import provider_list, usable
from agents.api.shapes import ProviderList, Providers
from agents.toolkit.catalog import catalog_of
from sessions.api.base import directory_of, wire
from sessions.api.described import answers

router = Router()


@router.get("/provider", operation_id="provider.list")
@answers(ProviderList)
async def list_providers(request: HttpRequest) -> HttpResponse:
    """Every provider known by name or configured, whether or not it can answer."""
    catalog = await catalog_of(directory_of(request))
    body = await asyncio.to_thread(provider_list, catalog)
    return HttpResponse(body, content_type="application/json")


@router.get("/config/providers", operation_id="config.providers")
@answers(Providers)
async def usable_providers(request: HttpRequest) -> HttpResponse:
    """The providers that can answer, the preferred one first, the demo last."""
    return wire(await asyncio.to_thread(usable, await catalog_of(directory_of(request))))
