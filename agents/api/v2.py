"""`/api/agent`, `/api/model`, `/api/provider`, `/api/command`, `/api/skill`."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.api import listings_v2 as listings
from agents.api.shapes_v2 import AgentV2, CommandV2, ModelV2, ProviderV2, SkillV2
from agents.catalog import catalog_of
from sessions.api.base import directory_of
from sessions.api.described import answers
from sessions.api.v2.base import Tagged, located
from sessions.wire.v2.base import Located

router = Router()


@router.get("/agent", operation_id="v2.agent.list")
@answers(Located[list[AgentV2]])
async def list_agents(request: HttpRequest) -> HttpResponse:
    return await located(request, await asyncio.to_thread(listings.agents_of, directory_of(request)))


@router.get("/model", operation_id="v2.model.list")
@answers(Located[list[ModelV2]])
async def list_models(request: HttpRequest) -> HttpResponse:
    catalog = await catalog_of(directory_of(request))
    return await located(request, await asyncio.to_thread(listings.models, catalog))


@router.get("/provider", operation_id="v2.provider.list")
@answers(Located[list[ProviderV2]])
async def list_providers(request: HttpRequest) -> HttpResponse:
    found = listings.providers(await catalog_of(directory_of(request)))
    return await located(request, list(found.values()))


@router.get("/provider/{provider_id}", operation_id="v2.provider.get")
@answers(Located[ProviderV2], errors=(404,))
async def get_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    found = listings.provider(await catalog_of(directory_of(request)), provider_id)
    if found is None:
        text = f"Provider not found: {provider_id}"
        raise Tagged(404, "ProviderNotFoundError", text, providerID=provider_id)
    return await located(request, found)


@router.get("/command", operation_id="v2.command.list")
@answers(Located[list[CommandV2]])
async def list_commands(request: HttpRequest) -> HttpResponse:
    found = await asyncio.to_thread(listings.commands_without_skills, directory_of(request))
    return await located(request, found)


@router.get("/skill", operation_id="v2.skill.list")
@answers(Located[list[SkillV2]])
async def list_skills(request: HttpRequest) -> HttpResponse:
    return await located(request, await asyncio.to_thread(listings.skills, directory_of(request)))
