"""`chat.message`: what plugins make of a prompt, just before it is promoted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.plugins.hooks import trigger
from agents.plugins.loaded import refreshed
from sessions.models import AdmittedPrompt, Session

Parts = list[dict[str, Any]]


async def message_parts(
    session: Session, row: AdmittedPrompt, agent: str, model: str
) -> Callable[[Parts], Parts]:
    """A function to give the promotion: from the prompt's parts to what plugins made of them.

    A prompt that was edited while the plugins were asked stays as it was edited.
    """
    await refreshed(session)
    provider_id, _, model_id = model.partition("/")
    asked = {
        "sessionID": session.id,
        "messageID": row.id,
        "agent": agent,
        "model": {"providerID": provider_id, "modelID": model_id},
    }
    given: Parts = row.parts
    made: Parts = (await trigger(session, "chat.message", asked, {"parts": given}))["parts"]
    return lambda parts: made if parts == given else parts
