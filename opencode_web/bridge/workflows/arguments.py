"""Arguments that several workflow tools have, under the names they have at the wire."""

from __future__ import annotations

from pydantic import Field

from opencode_web.bridge.operations.arguments import MessageID, SessionID
from opencode_web.bridge.tool import Arguments

_NEW = "A session to go on with; a new one when left out."


class WithModel(Arguments):
    providerID: str | None = Field(None, description="The model's provider; the default model when left out.")  # noqa: N815
    modelID: str | None = Field(None, description="The model; goes together with providerID.")  # noqa: N815


class OfSession(Arguments):
    sessionID: SessionID = Field(description="The session, ses_…")  # noqa: N815


class MaybeSession(Arguments):
    sessionID: SessionID | None = Field(None, description=_NEW)  # noqa: N815
    title: str | None = Field(None, description="What a new session is called.")


class OfPrompt(OfSession):
    messageID: MessageID | None = Field(  # noqa: N815
        None, description="The user's message that asked; all of the session when left out."
    )


class OfProvider(Arguments):
    providerID: str = Field(description="The provider.")  # noqa: N815


class Prompt(WithModel):
    prompt: str = Field(description="What to say to the agent.", min_length=1)
    agent: str | None = Field(None, description="The agent that answers, such as build or plan.")
    system: str | None = Field(None, description="More for the system prompt.")

    @property
    def given(self) -> dict[str, str]:
        """As the prompt operation takes it."""
        fields = self.model_dump(include={"providerID", "modelID", "agent", "system"}, exclude_none=True)
        return {"text": self.prompt, **fields}
