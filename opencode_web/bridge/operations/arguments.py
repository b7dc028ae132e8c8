"""Arguments that many operations have, and how others are written."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import StringConstraints

from opencode_web.bridge.tool import Argument

SessionID = Annotated[str, StringConstraints(pattern="^ses")]
MessageID = Annotated[str, StringConstraints(pattern="^msg")]


def path(name: str, description: str, type: Any = str) -> Argument:
    return Argument(name, type, description, "path")


def query(name: str, description: str, type: Any = str, *, required: bool = False) -> Argument:
    return Argument(name, type, description, "query", required)


def body(
    name: str, description: str, type: Any = str, *, required: bool = False, secret: bool = False
) -> Argument:
    return Argument(name, type, description, "body", required, secret)


def aside(
    name: str, description: str, type: Any = str, *, required: bool = False, secret: bool = False
) -> Argument:
    """One that the request's body is shaped from."""
    return Argument(name, type, description, "aside", required, secret)


SESSION = path("sessionID", "The session, ses_…", SessionID)
MESSAGE = path("messageID", "The message, msg_…", MessageID)
PROVIDER = path("providerID", "The provider, such as anthropic.")
MODEL = (
    aside("providerID", "The model's provider; the default model when left out."),
    aside("modelID", "The model; goes together with providerID."),
)
