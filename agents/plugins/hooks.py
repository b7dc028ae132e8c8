"""Ask the plugins of a session's folder at one place of a turn.

    output = {"context": [], "prompt": None}
    output = await trigger(session, "experimental.session.compacting", {"sessionID": session.id}, output)

Each hook gets what the one before it made of the output. One that raises, takes too long or gives what does
not fit is recorded, and the output stays what it was: a turn never fails by a plugin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.llm.accounts import plugged
from agents.plugins.javascript.requests import of_plugin
from agents.plugins.loaded import current, load_here, refreshed
from agents.plugins.loops import turns
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import AdmittedPrompt, Session
from sessions.core.store.projects import project_of
from sessions.terminals.shells import set_overlay


async def trigger(
    session: Session, name: str, input: Mapping[str, Any], output: Mapping[str, Any]
) -> dict[str, Any]:
    """The output after every plugin with this hook; the keys are those of `shapes`. Raises Refused for
    `tool.execute.before` only."""
    made = dict(output)
    for plugin in await current(session):
        if name in plugin.hooks:
            made = await plugin.run(name, input, made) or made
    return made


async def listening(session: Session, name: str) -> bool:
    """Whether any plugin has this hook, where what it is asked with would cost something to make."""
    return any(name in plugin.hooks for plugin in await current(session))


Parts = list[dict[str, Any]]


async def message_parts(
    session: Session, row: AdmittedPrompt, agent: str, model: str
) -> Callable[[Parts], Parts]:
    """A function to give the promotion: from the prompt's parts to what plugins made of them.

    A prompt that was edited while the plugins were asked stays as it was edited.
    """
    await refreshed(session)
    given: Parts = row.parts
    if not await listening(session, "chat.message"):
        return lambda parts: parts
    provider_id, _, model_id = model.partition("/")
    asked = {
        "sessionID": session.id,
        "messageID": row.id,
        "agent": agent,
        "model": {"providerID": provider_id, "modelID": model_id},
    }
    where = {"sessionID": session.id, "messageID": row.id}
    shown = [{"id": ascending("prt"), **where, **part} for part in given]
    made: Parts = (await trigger(session, "chat.message", asked, {"parts": shown}))["parts"]
    return lambda parts: made if parts == given else parts


def register(loop: asyncio.AbstractEventLoop) -> None:
    """Ask the plugins from now on, on the loop that they are loaded on; terminals run on another one."""

    async def overlay(project_id: str, directory: Path, cwd: Path) -> Mapping[str, str]:
        return await turns.ask(_variables(project_id, directory, cwd)) if turns else {}

    set_overlay(overlay)
    turns.run(loop)


async def ready(directory: Path) -> None:
    """Until the plugins of a folder are loaded, but for those that take long. Any loop may wait for it; a
    plugin that asks does not."""
    if not turns or of_plugin.get():
        return
    loading = asyncio.ensure_future(turns.ask(_load(directory)))
    done, _ = await asyncio.wait({loading}, timeout=2 * settings.HOOK_SECONDS)
    for one in done:
        one.result()


async def sign_ins(directory: Path) -> plugged.Found:
    """What the plugins of a folder add at providers, by provider."""
    await ready(directory)
    return plugged.latest(directory)


async def _load(directory: Path) -> None:
    await load_here(directory, (await in_db(project_of, directory)).id)


async def _variables(project_id: str, directory: Path, cwd: Path) -> Mapping[str, str]:
    place = Session(id="", project_id=project_id, directory=str(directory))
    made = await trigger(place, "shell.env", {"cwd": str(cwd)}, {"env": {}})
    variables: Mapping[str, str] = made["env"]
    return variables
