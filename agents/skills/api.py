"""`/skill` of OpenCode's API."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.configuration import load
from agents.skills.discovery import discover
from agents.skills.skill import BadSkill, Skill, body
from sessions.api.base import directory_of, wire

router = Router()


@router.get("/skill")
async def list_skills(request: HttpRequest) -> HttpResponse:
    """Every skill with its body; one that can no longer be read is left out."""
    return wire(await asyncio.to_thread(_listing, directory_of(request)))


def _listing(directory: Path) -> list[dict[str, str]]:
    found = discover(directory, load(directory).config)
    return [item for skill in found.skills.values() if (item := _wire(skill))]


def _wire(skill: Skill) -> dict[str, str] | None:
    try:
        content = body(skill)
    except BadSkill:
        return None
    return {
        "name": skill.name,
        "description": skill.description,
        "location": str(skill.location),
        "content": content,
    }
