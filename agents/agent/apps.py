"""An app of an MCP server at work: its document, and what it asks of its server.

An app is neither a person nor the model. A call of its own is asked about like one of the model's, with the
rules and the terms of the session as they are now; it is in the audit, and what it changes is in the ledger.
The model is not told of it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from agents.agent.calls.clock import Clock
from agents.agent.calls.completion import undisturbed
from agents.agent.calls.context import CallContext
from agents.agent.offered.connected import connections_of
from agents.agent.offered.tools import Usable, names_of, tools_of, use
from agents.agent.run import Children, Run
from agents.agent.runtime import runtime
from agents.agent.steps.history import Transcript
from agents.agent.steps.sample import Choice, sample
from agents.llm.providers import UnknownModel
from agents.servers.mcp.apps import MOST_BYTES, Document, document_of
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.errors import ServerFailed
from agents.toolkit.base import Approval, Outcome, ToolError
from agents.toolkit.definitions import UnknownAgent
from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.permission.rules import Ruleset
from agents.toolkit.turn import Turn
from sessions.changes.tracking import tracker
from sessions.core import workers
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Session
from sessions.core.store import messages, permissions
from sessions.core.wire.parts import ToolPart

if TYPE_CHECKING:
    from mcp import Client

MOST_AT_ONCE = 8
"""Calls of the apps of one session."""
READ_SECONDS = 30.0

_at_work: Counter[str] = Counter()
"""Calls of apps, by session; on the loop of the turns."""


class Refused(Exception):
    """What an app asks for is not done; the text is for people and for the app."""


class SwitchedOff(Refused):
    """Apps of `server` are not shown."""

    def __init__(self, server: str) -> None:
        super().__init__(gettext("Apps of the MCP server %(server)s are switched off.") % {"server": server})
        self.server = server


@dataclass(frozen=True, slots=True)
class App:
    """Of one call in a session: `part` is the call as it is on the wire, `tool` the tool that was called."""

    session: Session
    part: Mapping[str, Any]
    connection: Connection
    tool: Usable
    uri: str

    @property
    def said(self) -> dict[str, Any]:
        """What the app is told of the call: its `arguments` and its `result`."""
        state, kept = self.part["state"], _about(self.part)["app"]
        result = kept.get("result") or {"content": [{"type": "text", "text": state.get("output", "")}]}
        return {"arguments": state["input"], "result": result}


def server_of(part: Mapping[str, Any]) -> str:
    """The name of the server whose tool was called; empty for a call without an app."""
    about = _about(part)
    return str(about.get("server", "")) if isinstance(about.get("app"), dict) else ""


async def app_of(session: Session, part: Mapping[str, Any]) -> App:
    """The app of a call that has ended. Raises SwitchedOff and Refused."""
    name = server_of(part)
    if not name:
        raise Refused(gettext("This call has no app."))
    connection = (await connections_of(Path(session.directory))).get(name)
    if connection is None:
        raise Refused(
            gettext("The MCP server %(name)s is not there any longer, so its app is not shown.")
            % {"name": name}
        )
    if not connection.server.apps:
        raise SwitchedOff(name)
    about = _about(part)
    tools = await asyncio.to_thread(tools_of, connection)
    tool = next((tool for tool in tools if tool.name == about.get("tool")), None)
    if tool is None or tool.app != about["app"].get("uri"):
        raise Refused(gettext("The MCP server %(name)s does not offer this app now.") % {"name": name})
    return App(session, part, connection, tool, tool.app)


async def document(app: App) -> Document:
    """As the server gives it now. Raises Refused."""
    answer = await _read(app, app.uri)
    try:
        return await asyncio.to_thread(document_of, answer.contents)
    except ValueError as error:
        raise Refused(
            gettext("The app of %(server)s cannot be shown: %(error)s.")
            % {"server": app.connection.server.name, "error": error}
        ) from error


async def read(app: App, uri: str) -> dict[str, Any]:
    """A resource of the app's server, as the protocol has it. Raises Refused."""
    return await asyncio.to_thread(_wire, await _read(app, uri))


async def call(app: App, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool of the app's server gives, as the protocol has it; one that is for apps. Raises Refused.
    Cancelling this withdraws what is asked."""
    return await runtime.ask(_called(app, name, dict(arguments)))


async def _read(app: App, uri: str) -> Any:
    async def use_client(client: Client) -> Any:
        return await client.read_resource(uri)

    try:
        return await app.connection.call(use_client, READ_SECONDS)
    except ServerFailed as failure:
        raise Refused(str(failure)) from failure


async def _called(app: App, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    connection, session = app.connection, app.session
    tools = await asyncio.to_thread(tools_of, connection)
    tool = next((tool for tool in tools if tool.name == name and tool.for_app), None)
    if tool is None:
        raise Refused(gettext("The app's server has no such tool for apps."))
    known = await connections_of(Path(session.directory))
    called = (await asyncio.to_thread(names_of, known.values())).get((connection.server.name, name))
    if called is None:
        raise Refused(gettext("The app's server has changed; ask again."))
    with _counted(session.id):
        context = await _context(app, called)
        try:
            result = await use(called, connection, tool, arguments, context)
        except (ToolError, NotPermitted) as error:
            raise Refused(str(error)) from error
        except asyncio.CancelledError:
            await undisturbed(in_db(permissions.cancel_call, session.id, context.call_id))
            raise
    return await asyncio.to_thread(_wire, result)


async def _context(app: App, called: str) -> _AppContext:
    """As a call of the session has it whose turn begins now. Raises Refused."""
    session = app.session
    answer = await in_db(messages.message, session.id, app.part["messageID"])
    if answer is None or answer["info"]["role"] != "assistant":
        raise Refused(gettext("The call of this app is gone."))
    info = answer["info"]
    run = Run(
        session, await asyncio.to_thread(tracker, session.project), _NO_CHILDREN, Transcript(session.id)
    )
    try:
        turn = await sample(
            run, Choice(session.agent or info["agent"], f"{info['providerID']}/{info['modelID']}")
        )
    except (UnknownAgent, UnknownModel) as error:
        raise Refused(str(error)) from error
    part = ToolPart.model_validate({**app.part, "callID": ascending("call"), "tool": called})
    return _AppContext(run, turn, part)


class _AppContext(CallContext):
    """`part` stands for a call that has no place in the conversation: nothing of it is written there."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart) -> None:
        super().__init__(run, turn, part, Clock(part), _nothing_within)

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
        rules: Ruleset | None = None,
    ) -> Approval:
        """Who is asked reads who asks; what was allowed is in the audit, whoever allowed it.

        With `outdated` the row is looked at each second: in a process that runs no turns nobody tells of an
        answer.
        """
        asked = {**(metadata or {}), permissions.APP: workers.this_process().name}
        approval = await super().ask(
            permission,
            patterns,
            always=always,
            metadata=asked,
            outdated=outdated or _never,
            rules=rules,
        )
        call = permissions.Call(self.turn.session, self.call_id, permission, patterns, "")
        await in_db(permissions.note, call, "allow", "app")
        return approval


def _never() -> bool:
    return False


async def _nothing_within(part: ToolPart, clock: Clock, name: str, arguments: Mapping[str, Any]) -> Outcome:
    return Outcome(None, "An app's call makes no other.")


async def _no_child(session_id: str) -> None:
    raise ToolError("An app sends no subagents.")


def _no_stop(session_id: str) -> None:
    return None


_NO_CHILDREN = Children(_no_child, _no_stop)


@contextmanager
def _counted(session_id: str) -> Iterator[None]:
    """Raises Refused when as many are at work as may be."""
    if _at_work[session_id] >= MOST_AT_ONCE:
        raise Refused(
            gettext("%(most)s calls of apps are at work in this session already.") % {"most": MOST_AT_ONCE}
        )
    _at_work[session_id] += 1
    try:
        yield
    finally:
        _at_work[session_id] -= 1
        if not _at_work[session_id]:
            del _at_work[session_id]


def _wire(result: Any) -> dict[str, Any]:
    data: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    if len(json.dumps(data)) > MOST_BYTES:
        raise Refused(gettext("The answer has more than %(most)s MB.") % {"most": MOST_BYTES >> 20})
    return data


def _about(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found = part["state"].get("metadata") if part["type"] == "tool" else None
    return found if isinstance(found, dict) else {}
