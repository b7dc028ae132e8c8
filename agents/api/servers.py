"""`/lsp` and `/formatter`: what stands beside the agent."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.api.listings import formatters_of, language_servers_of
from agents.api.shapes import FormatterInfo, LanguageServer
from sessions.api.base import directory_of, wire
from sessions.api.described import answers

router = Router()


@router.get("/formatter", operation_id="formatter.status")
@answers(list[FormatterInfo])
async def formatters(request: HttpRequest) -> HttpResponse:
    return wire(await asyncio.to_thread(formatters_of, directory_of(request)))


@router.get("/lsp", operation_id="lsp.status")
@answers(list[LanguageServer])
async def language_servers(request: HttpRequest) -> HttpResponse:
    """Those that run, and those that failed; `root` is relative to the folder that is asked about."""
    return wire(await asyncio.to_thread(language_servers_of, directory_of(request)))
