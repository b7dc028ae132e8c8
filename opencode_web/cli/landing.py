"""Where the page opens: the session that the command line goes on with, or a new one with what was chosen."""

from __future__ import annotations

import argparse
import os
from typing import Any
from urllib.parse import urlencode

from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.launcher import wanted
from opencode_web.bridge.remote.link import Link
from opencode_web.cli.commands.run import look_up, model_of, session_of
from opencode_web.cli.terminal import Stop
from sessions.core import variables


async def landing(arguments: argparse.Namespace, url: str, password: str) -> str:
    """The path of the page, at the server at `url`. A prompt is sent, as by OpenCode. Raise Stop for a
    session, a model or an answer that is not to be had."""
    environ = {**os.environ, variables.PASSWORD.name: password}
    directory = variables.DIRECTORY.read()
    try:
        async with Link(wanted(environ, url, directory, start=False)) as link:
            return await _landing(link, arguments)
    except RemoteError as error:
        raise Stop(str(error)) from error


async def _landing(link: Link, arguments: argparse.Namespace) -> str:
    await look_up(link, arguments)
    model, session = model_of(arguments.model), await session_of(link, arguments)
    if session is None and not arguments.prompt:
        project = await link.get("/project/current")
        chosen = {"agent": arguments.agent, "model": arguments.model}
        query = urlencode({name: value for name, value in chosen.items() if value})
        return f"/p/{project['id']}/s/{f'?{query}' if query else ''}"
    if session is None:
        session = await link.post("/session", {})
    if arguments.prompt:
        body: dict[str, Any] = {"parts": [{"type": "text", "text": arguments.prompt}]}
        given = {"agent": arguments.agent, "model": model}
        body |= {name: value for name, value in given.items() if value}
        await link.post(f"/session/{session['id']}/prompt_async", body)
    else:
        await _choose(link, session["id"], arguments.agent, model)
    return f"/p/{session['projectID']}/s/{session['id']}"


async def _choose(link: Link, session: str, agent: str | None, model: dict[str, str] | None) -> None:
    """For the next prompts of the session."""
    if agent:
        await link.post(f"/api/session/{session}/agent", {"agent": agent})
    if model:
        chosen = {"id": model["modelID"], "providerID": model["providerID"]}
        await link.post(f"/api/session/{session}/model", {"model": chosen})
