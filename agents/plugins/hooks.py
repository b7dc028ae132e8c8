"""Ask the plugins of a session's folder at one place of a turn.

    output = {"context": [], "prompt": None}
    output = await trigger(session, "experimental.session.compacting", {"sessionID": session.id}, output)

Each hook gets what the one before it made of the output. One that raises, takes too long or gives what does
not fit is recorded, and the output stays what it was: a turn never fails by a plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.plugins.loaded import current
from sessions.models import Session


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
