"""The resources that `@` in the composer offers, and what servers suggest for what is written."""

from __future__ import annotations

import asyncio
import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.mcp.offered.prompts import prompts_of
from agents.mcp.offered.resources import Resource, matching
from agents.mcp.offered.suggested import for_prompt, writing
from agents.mcp.offered.templates import Offer, offers
from sessions.pages.access import located

MOST_SHOWN = 12


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The resources of the MCP servers of `?session=` or `?project=` that `?q=` names, as options."""
    directory = (await located(request.GET)).directory
    query = request.GET.get("q", "")
    found = await asyncio.to_thread(matching, directory, query, MOST_SHOWN)
    begun = await offers(directory, query, MOST_SHOWN)
    shown = [_option(one) for one in found] + [_begun(one) for one in begun]
    return render(request, "pickers/resources.html", {"resources": shown})


@require_GET
async def arguments(request: HttpRequest) -> HttpResponse:
    """What its server suggests for the argument at the end of `?written=` of the prompt `?name=`."""
    directory = (await located(request.GET)).directory
    prompt = (await asyncio.to_thread(prompts_of, directory)).get(request.GET.get("name", ""))
    at = writing(prompt, request.GET.get("written", "")) if prompt else None
    if prompt is None or at is None:
        return render(request, "pickers/arguments.html", {"options": []})
    options = [{"value": value, "words": at.put(value)} for value in await for_prompt(prompt, at)]
    return render(request, "pickers/arguments.html", {"options": options, "argument": at.argument})


def _option(resource: Resource) -> dict[str, str]:
    """`words` stand for the resource in the prompt, `part` is what they become."""
    return {
        "name": resource.name,
        "server": resource.server,
        "about": resource.description or resource.uri,
        "words": resource.words,
        "part": json.dumps(resource.part()),
    }


def _begun(offer: Offer) -> dict[str, str]:
    if offer.resource is not None:
        return {**_option(offer.resource), "about": offer.template.name}
    return {
        "name": f"{offer.template.name} …",
        "server": offer.template.server,
        "about": offer.template.uri,
        "words": offer.words,
    }
