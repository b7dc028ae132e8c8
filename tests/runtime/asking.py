"""A server whose agent asks, seen from a client, its events and its database."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.client import Client, Event
from tests import on_postgres
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Script, ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, until

ASKING: dict[str, Any] = {"*": "allow", "bash": "ask", "edit": "ask"}


def decisions(server_home: Path) -> list[tuple[str, str, str]]:
    """The audit of a server: verdict, who or what, scope; the oldest first."""
    statement = 'SELECT verdict, "by", scope FROM opencode_sessions_decision ORDER BY id'
    return rows(server_home, statement)


def rows(server_home: Path, statement: str) -> list[Any]:
    """Run SQL on a server's database."""
    if postgres := on_postgres.server():
        return postgres.query(statement, on_postgres.database_for(postgres, server_home))
    file = server_home / ".local" / "share" / "opencode-web" / "db.sqlite3"
    with closing(sqlite3.connect(file, timeout=20)) as db, db:
        return db.execute(statement).fetchall()


@dataclass
class Stage:
    """The model, the server's client, and its events from the start."""

    model: OpenAIServer
    home: Path
    client: Client
    events: AsyncIterator[Event]

    async def asked(self, session_id: str = "") -> dict[str, Any]:
        where = {"sessionID": session_id} if session_id else {}
        return dict((await until(self.events, "permission.asked", **where)).properties)

    async def idle(self, session_id: str) -> None:
        await until(self.events, "session.idle", sessionID=session_id)

    async def session(self, text: str = "Go.") -> str:
        """A new session that begins to work."""
        session_id: str = (await self.client.create_session())["id"]
        await self.client.prompt_async(session_id, text)
        return session_id

    async def reply(self, asked: dict[str, Any], **answer: Any) -> None:
        await self.client.post(f"/permission/{asked['id']}/reply", answer)

    async def statuses(self, session_id: str) -> list[str]:
        parts = parts_of(await self.client.messages(session_id), "tool")
        return [part["state"]["status"] for part in parts]

    def rows(self, statement: str) -> list[Any]:
        return rows(self.home, statement)

    def decisions(self) -> list[tuple[str, str, str]]:
        return decisions(self.home)


@asynccontextmanager
async def stage(home: Path, project: Path, script: Script, **config: Any) -> AsyncIterator[Stage]:
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, **{"permission": ASKING, **config}))
        async with running(server) as client, client.events() as events:
            yield Stage(model, home, client, events)


def turns(*calls: ToolUse) -> list[Turn]:
    """A turn of one call each."""
    return [turn for call in calls for turn in (Turn(tools=[call]), Turn(text="Done."))]
