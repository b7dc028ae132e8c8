"""A conversation written through the real store, as the agents write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import Project, Session
from sessions.core.store import messages, projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import AssistantMessage, UserMessage
from sessions.core.wire.parts import PART, Part


class Talk:
    """One session of one project."""

    def __init__(self, project: Project, session: Session) -> None:
        self.project = project
        self.session = session
        self.url = f"/p/{project.id}/s/{session.id}"

    @classmethod
    async def begin(cls, folder: Path, title: str = "a talk") -> Talk:
        folder.mkdir(exist_ok=True)
        project = await in_db(projects.open_project, folder)
        return cls(project, await in_db(session_store.create, project, str(folder), title=title))

    async def prompt(self, text: str = "Hello", **fields: Any) -> str:
        """A user message; returns its id."""
        message = UserMessage.model_validate(self._base() | {"agent": "build", "model": _MODEL} | fields)
        await in_db(messages.put_message, message)
        await self.part(message.id, "text", text=text)
        return message.id

    async def answer(self, prompt: str, **fields: Any) -> str:
        """An assistant message without parts; returns its id."""
        path = {"cwd": self.session.directory, "root": self.session.directory}
        rest = {"parentID": prompt, "mode": "build", "agent": "build", "path": path}
        message = AssistantMessage.model_validate(self._base() | rest | _MODEL | fields)
        await in_db(messages.put_message, message)
        return message.id

    async def part(self, message_id: str, type: str, **fields: Any) -> Part:
        """Put a part; with `id` among the fields it is that part again."""
        base = {"id": ascending("prt"), "sessionID": self.session.id, "messageID": message_id, "type": type}
        part: Part = PART.validate_python(base | fields)
        await in_db(messages.put_part, part)
        return part

    async def text(self, message_id: str, text: str, *, ended: bool = False, **fields: Any) -> Part:
        """A text part that streams, or has ended."""
        span = {"start": 1, "end": 2} if ended else {"start": 1}
        return await self.part(message_id, "text", text=text, time=span, **fields)

    async def fold(self, part: Part, text: str) -> None:
        """Fold streamed text into the row, without an event."""
        await in_db(messages.put_parts, [part.model_copy(update={"text": text})], quiet=True)

    def delta(self, part: Part, text: str, offset: int) -> None:
        messages.publish_delta(self.project.id, part, "text", text, offset)

    def _base(self) -> dict[str, Any]:
        return {"id": ascending("msg"), "sessionID": self.session.id, "time": {"created": now()}}


_MODEL = {"providerID": "demo", "modelID": "scripted"}
