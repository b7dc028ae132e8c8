"""A project on disk with sessions that change it, as the agents' tools do, through the real ledger."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import FileChange, Project, Session
from sessions.core.store import ledger, messages, projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import AssistantMessage, UserMessage


class World:
    """One project; the methods are what the person and the agents do."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = Path(project.worktree)
        self.tracker = tracker(project)

    @classmethod
    async def open(cls, folder: Path) -> World:
        return cls(await in_db(projects.open_project, folder))

    async def session(self, title: str = "a session") -> Session:
        return await in_db(session_store.create, self.project, str(self.root), title=title)

    async def turn(self, session: Session, edits: Mapping[str, str | bytes | None] = {}) -> str:
        """A prompt and an answer that writes files (None: removes); returns the id of the prompt.

        No two turns are of the same millisecond.
        """
        began = now()
        while now() == began:
            pass
        prompt, answer = ascending("msg"), ascending("msg")
        await in_db(messages.put_message, _user(session, prompt))
        await in_db(messages.put_message, _assistant(session, answer, prompt))
        for path, content in edits.items():
            await self.edit(session, answer, path, content)
        return prompt

    async def edit(
        self,
        session: Session,
        message_id: str,
        path: str,
        content: str | bytes | None,
        *,
        mode: int | None = None,
        part_id: str = "",
    ) -> None:
        """One change by a tool: the ledger entry and the file."""
        data = content.encode() if isinstance(content, str) else content
        file = self.root / path
        change = FileChange(message_id=message_id, part_id=part_id or ascending("prt"), path=path)
        change.project = self.project
        objects = self.tracker.objects
        if file.exists():
            change.before = objects.put(file.read_bytes())
            change.mode_before = file.stat().st_mode
        missing = [parent for parent in file.parents if not parent.exists()]
        if data is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            if mode is not None:
                file.chmod(mode)
            change.after, change.mode_after = objects.put(data), file.stat().st_mode
            change.new_folders = len(missing)
        await in_db(ledger.add, session, [change])

    def write(self, path: str, content: str, mode: int = 0o644) -> None:
        """The person writes a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(mode)

    def state(self) -> dict[str, tuple[int, bytes]]:
        """Every file with its mode and content, every folder without."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name.partition("/")[0] != ".git":
                content = path.read_bytes() if path.is_file() else b""
                found[name] = (stat.S_IMODE(path.lstat().st_mode), content)
        return found


async def fresh(session: Session) -> Session:
    """The session as its row is now."""
    row = await in_db(session_store.get, session.id)
    assert row is not None
    return row


def _user(session: Session, message_id: str) -> UserMessage:
    return UserMessage.model_validate(
        {
            "id": message_id,
            "sessionID": session.id,
            "time": {"created": now()},
            "agent": "build",
            "model": {"providerID": "demo", "modelID": "scripted"},
        }
    )


def _assistant(session: Session, message_id: str, prompt: str) -> AssistantMessage:
    return AssistantMessage.model_validate(
        {
            "id": message_id,
            "sessionID": session.id,
            "time": {"created": now(), "completed": now()},
            "parentID": prompt,
            "modelID": "scripted",
            "providerID": "demo",
            "mode": "build",
            "agent": "build",
            "path": {"cwd": session.directory, "root": session.directory},
        }
    )
