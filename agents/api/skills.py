"""`/skill` of OpenCode's API."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.api.listings import skills_of
from agents.api.shapes import SkillInfo
from sessions.api.base import directory_of, wire
from sessions.api.described import answers

router = Router()


@router.get("/skill", operation_id="app.skills")
@answers(list[SkillInfo])
async def list_skills(request: HttpRequest) -> HttpResponse:
    """Every skill with its body; one that can no longer be read is left out."""
    return wire(await asyncio.to_thread(skills_of, directory_of(request)))
