"""`opencode-web acp`: the agent that an editor starts; each method of the protocol is one here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from acp.agent.router import build_agent_router
from acp.exceptions import RequestError
from acp.interfaces import Agent
from acp.meta import PROTOCOL_VERSION
from acp.router import Route
from acp.schema import (
    AcpMcpServer,
    AgentCapabilities,
    AuthenticateResponse,
    AuthMethodAgent,
    ClientCapabilities,
    CloseSessionResponse,
    ForkSessionResponse,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    SseMcpServer,
)

import opencode_web
from opencode_web.bridge import process
from opencode_web.bridge.acp.choices import MODE, MODEL, Choices
from opencode_web.bridge.acp.content import Block
from opencode_web.bridge.acp.editor import Editor, Stdio
from opencode_web.bridge.acp.session import EditorSession
from opencode_web.bridge.call import Call, filled
from opencode_web.bridge.remote.errors import Category, RemoteError
from opencode_web.bridge.remote.launcher import Wanted
from opencode_web.bridge.remote.link import Link

logger = logging.getLogger(__name__)

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
Json = dict[str, Any]
Answer = TypeVar("Answer")

LISTED = 100
"""Sessions in a list."""
CODES: Mapping[Category, int] = {"invalid": -32602, "not_found": -32002}
"""Of JSON-RPC and of the protocol; all others are internal errors."""
SIGN_IN = AuthMethodAgent(
    id="opencode-web-auth-login",
    name="Sign in to a provider",
    description="Run `opencode-web auth login` in a terminal, or open Settings in the page.",
)


def run(wanted: Wanted) -> None:
    """Return when the editor has closed our input, or at SIGTERM or SIGINT."""
    process.run(wanted, _serve)


async def _serve(link: Link) -> None:
    agent = EditorAgent(link)
    router = build_agent_router(cast(Agent, agent), use_unstable_protocol=True)
    router.add_route(Route("session/set_model", agent.set_session_model, "request"))  # an older name

    async def handle(method: str, params: Any, is_notification: bool) -> Any:
        if is_notification and method.startswith("$/"):  # may be ignored
            return None
        try:
            return await router(method, params, is_notification)
        except RemoteError as error:
            code = CODES.get(error.category, -32603)
            raise RequestError(code, f"{error} {error.hint}", {"category": error.category}) from error

    agent.editor = Editor(await Stdio.open(), handle)
    try:
        await agent.editor.listen()
    finally:
        await agent.end()


class EditorAgent:
    """Its methods raise RemoteError for what the server refuses."""

    editor: Editor

    def __init__(self, link: Link) -> None:
        self._link = link
        self._sessions: dict[str, EditorSession] = {}
        self._added: set[tuple[str, str]] = set()
        """The MCP servers that the editor has brought, by folder and name."""

    async def end(self) -> None:
        """Leave the server as it was."""
        for session in self._sessions.values():
            await session.close()
        for directory, name in self._added:
            with suppress(RemoteError):
                await self._at(directory).post(filled("/mcp/{name}/disconnect", {"name": name}))

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        **_: Any,
    ) -> InitializeResponse:
        self.editor.abilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(
                name="opencode-web", title="opencode-web", version=opencode_web.__version__
            ),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    fork=SessionForkCapabilities(),
                    close=SessionCloseCapabilities(),
                    additional_directories=SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
            auth_methods=[SIGN_IN],
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Keys are looked up when they are needed: there is nothing to do."""
        return AuthenticateResponse()

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **_: Any,
    ) -> NewSessionResponse:
        call = self._at(cwd)
        await self._add(call, mcp_servers or [])
        session = await self._open(call, await call.post("/session"), additional_directories)
        return self._begun(
            session,
            NewSessionResponse(
                session_id=session.id, modes=session.choices.modes, config_options=session.choices.options
            ),
        )

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpServer] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> LoadSessionResponse:
        session = await self._found(cwd, session_id, mcp_servers, additional_directories)
        await session.replay()
        choices = session.choices
        return self._begun(session, LoadSessionResponse(modes=choices.modes, config_options=choices.options))

    async def resume_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpServer] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> ResumeSessionResponse:
        session = await self._found(cwd, session_id, mcp_servers, additional_directories)
        await session.skip()
        choices = session.choices
        return self._begun(
            session, ResumeSessionResponse(modes=choices.modes, config_options=choices.options)
        )

    async def fork_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpServer] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> ForkSessionResponse:
        call = self._at(cwd)
        await self._add(call, mcp_servers or [])
        info = await call.post(filled("/session/{id}/fork", {"id": session_id}))
        session = await self._open(call, info, additional_directories)
        await session.skip()
        choices = session.choices
        answer = ForkSessionResponse(
            session_id=session.id, modes=choices.modes, config_options=choices.options
        )
        return self._begun(session, answer)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """The last used first: those of a folder, or of all."""
        call = self._at(cwd)
        path = "/session" if cwd else "/experimental/session"
        found = await call.get(path, roots="true", limit=LISTED)
        return ListSessionsResponse(sessions=[_listed(info) for info in found])

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """Its turn is stopped."""
        session = self._session(session_id)
        del self._sessions[session_id]
        await session.stop()
        await session.close()
        return CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        session = self._session(session_id)
        session.choices.choose(MODE, mode_id)
        return SetSessionModeResponse()

    async def set_session_model(self, params: Json) -> Json:
        self._session(str(params.get("sessionId"))).choices.choose(MODEL, str(params.get("modelId")))
        return {}

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        session = self._session(session_id)
        session.choices.choose(config_id, str(value))
        return SetSessionConfigOptionResponse(config_options=session.choices.options)

    async def prompt(self, session_id: str, prompt: list[Block], **_: Any) -> PromptResponse:
        return await self._session(session_id).prompt(prompt)

    async def cancel(self, session_id: str, **_: Any) -> None:
        await self._session(session_id).stop()

    def _at(self, directory: str | None) -> Call:
        return Call(self._link, _ignore, directory)

    def _session(self, session_id: str) -> EditorSession:
        found = self._sessions.get(session_id)
        if found is None:
            raise RemoteError("not_found", f"The session {session_id} is not open here.")
        return found

    async def _found(
        self,
        cwd: str,
        session_id: str,
        servers: Sequence[McpServer] | None,
        folders: Sequence[str] | None,
    ) -> EditorSession:
        """A session that there is already, in its own folder."""
        info = await self._at(cwd).get(filled("/session/{id}", {"id": session_id}))
        call = self._at(info["directory"])
        await self._add(call, servers or [])
        return await self._open(call, info, folders)

    async def _open(self, call: Call, info: Json, folders: Sequence[str] | None) -> EditorSession:
        if folders:
            await call.request("PATCH", f"/session/{info['id']}", body={"folders": list(folders)})
        before = self._sessions.pop(info["id"], None)
        if before is not None:
            await before.close()
        return EditorSession(self.editor, call, info, await Choices.of(call, info))

    def _begun(self, session: EditorSession, answer: Answer) -> Answer:
        """The answer; what the editor is told of the session comes after it."""
        self._sessions[session.id] = session
        session.follow()
        return answer

    async def _add(self, call: Call, servers: Sequence[McpServer]) -> None:
        """Give the folder the editor's MCP servers, until we end. One that is in use under the same name
        stays; one that cannot be reached is told by the server, as any other."""
        if not servers:
            return
        known, bodies = await call.get("/mcp"), list[Json]()
        for server in servers:
            name, config = server.name, _config(server)
            ours = (str(call.directory), name) in self._added
            used = known.get(name, {"status": "disabled"})["status"] != "disabled"
            if config is None or (used and not ours):
                logger.warning("the editor's MCP server %s is left out", name)
                continue
            self._added.add((str(call.directory), name))
            bodies.append({"name": name, "config": config})
        await asyncio.gather(
            *(call.request("POST", "/mcp", body=body, seconds=MCP_SECONDS) for body in bodies)
        )


MCP_SECONDS = 90.0
"""A server is waited for until its first try has ended."""


def _config(server: McpServer) -> Json | None:
    """As OpenCode's configuration has it; None for a server that is reached through the editor."""
    if isinstance(server, McpServerStdio):
        environment = {variable.name: variable.value for variable in server.env}
        return {"type": "local", "command": [server.command, *server.args], "environment": environment}
    if isinstance(server, AcpMcpServer):
        return None
    return {
        "type": "remote",
        "url": server.url,
        "headers": {header.name: header.value for header in server.headers},
    }


def _listed(info: Json) -> SessionInfo:
    updated = datetime.fromtimestamp(info["time"]["updated"] / 1000, UTC)
    return SessionInfo(
        session_id=info["id"],
        cwd=info["directory"],
        title=info["title"],
        updated_at=updated.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )


async def _ignore(_: str) -> None:
    """Progress is told by updates."""
