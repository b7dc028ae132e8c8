"""`/experimental/tool`: the tools that a model would be given."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from agents.agent.steps.sample import work
from agents.api.shapes import ToolInfo
from agents.llm.providers import DEMO, UnknownModel
from agents.llm.types import Model
from agents.toolkit.catalog import default_model, model_for
from agents.toolkit.turn import Turn
from agents.tools.registry import toolset
from sessions.api.base import directory_of, project_of, wire
from sessions.api.described import answers
from sessions.core.models import Project, Session

router = Router()


@router.get("/tool/ids", operation_id="tool.ids")
@answers(list[str])
async def tool_ids(request: HttpRequest) -> HttpResponse:
    """Every tool that a call may name, also those that some models are not shown."""
    directory = directory_of(request)
    try:
        model = await default_model(directory, None)
    except UnknownModel:
        model = DEMO.models[DEMO.default]
    turn = await _turn(directory, await project_of(request), model)
    return wire(list((await toolset(turn)).tools))


@router.get("/tool", operation_id="tool.list")
@answers(list[ToolInfo])
async def tools(request: HttpRequest, provider: str, model: str) -> HttpResponse:
    """What the default agent would show this model in a new session."""
    directory = directory_of(request)
    try:
        asked = await model_for(directory, f"{provider}/{model}")
    except UnknownModel as error:
        raise HttpError(400, f"model: {error}") from error
    turn = await _turn(directory, await project_of(request), asked)
    specs = (await toolset(turn)).specs(turn, {})
    return wire(
        [{"id": spec.name, "description": spec.description, "parameters": spec.parameters} for spec in specs]
    )


async def _turn(directory: Path, project: Project, model: Model) -> Turn:
    """The first turn of a session that nobody has begun; the session is no row."""
    session, worktree = Session(project=project, directory=str(directory)), Path(project.worktree)
    working = await asyncio.to_thread(work, session, model, "", directory, worktree)
    return Turn(
        session=session,
        directory=directory,
        worktree=worktree,
        config=working.config,
        agent=working.agent,
        model=model,
        rules=working.rules,
        terms=working.terms,
    )
