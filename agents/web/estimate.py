"""How much of the model's window a prompt will take, told before it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.agent.compaction.estimate import FILE_TOKENS, budget, tokens
from agents.config.configuration import load
from agents.llm.providers import UnknownModel
from agents.llm.types import Model
from agents.toolkit.catalog import default_model, model_for
from sessions.core.db import in_db
from sessions.rendering.meter import gauge
from sessions.web.access import Located, located

_MOST = 10**9
"""Bytes and files beyond which nobody counts."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens: of the prompt, of the whole window (0 where nobody knows it), of what of it may be used at all,
    and of what of that is free now. `auto`: what is full is summed up by itself."""

    tokens: int
    window: int = 0
    usable: int = 0
    free: int = 0
    auto: bool = True

    @property
    def too_large(self) -> bool:
        """It would not fit into an empty window."""
        return bool(self.window) and self.tokens > self.usable

    @property
    def tight(self) -> bool:
        """It does not fit beside what was said."""
        return bool(self.window) and not self.too_large and self.tokens > self.free


@require_GET
async def prompt(request: HttpRequest) -> HttpResponse:
    """Of a text of so many `bytes` (UTF-8) with so many `files`, pictures and PDF, in a session or for the
    `model` that is chosen where there is none yet."""
    place = await located(request.GET)
    size, files = (_number(request.GET.get(name, "")) for name in ("bytes", "files"))
    wanted = tokens(size) + files * FILE_TOKENS
    estimate = await _estimate(place, await _model(place, request.GET.get("model", "")), wanted)
    return render(request, "composer/estimate.html", {"estimate": estimate})


async def _estimate(place: Located, model: Model | None, wanted: int) -> Estimate:
    if model is None:
        return Estimate(wanted)
    compaction = (await asyncio.to_thread(load, place.directory)).config.compaction
    room = budget(model, compaction)
    used = (await in_db(gauge, place.session)).used if place.session else 0
    return Estimate(wanted, room.window, room.usable, max(room.usable - used, 0), compaction.auto)


async def _model(place: Located, ref: str) -> Model | None:
    try:
        if place.session is None and ref:
            return await model_for(place.directory, ref)
        return await default_model(place.directory, place.session)
    except UnknownModel:
        return None


def _number(text: str) -> int:
    return min(int(text), _MOST) if text.isdecimal() and len(text) < 12 else 0
