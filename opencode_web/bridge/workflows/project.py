"""The server and the project: whether all is set up, and what there is."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine, Iterable
from contextlib import aclosing
from typing import Any

from pydantic import Field

from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.catalogues import agents, commands
from opencode_web.bridge.formatting.messages import counts, turn
from opencode_web.bridge.formatting.plain import one_line, pretty, redacted, statuses
from opencode_web.bridge.operations.shapes import default_model, prompt
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.tool import ACTS, READS, Arguments, Tool
from opencode_web.bridge.watch import abort, pending, raise_failure, run_turn
from opencode_web.bridge.workflows.arguments import OfProvider, WithModel

TEST_SECONDS = 60.0


class ProviderTest(WithModel):
    seconds: float = Field(TEST_SECONDS, gt=0, description="How long to wait for the answer.")


async def setup(call: Call, _: Arguments) -> str:
    """Where we are connected, and what is missing before a prompt can be answered."""
    health = await call.get("/global/health")
    project, providers = await asyncio.gather(
        _or_none(call.get("/project/current")), call.get("/config/providers")
    )
    launcher = call.link.launcher
    started = f" (started by this bridge, process {launcher.child.pid})" if launcher.child else ""
    lines = [
        f"Server: {(await call.link.client()).address.url}, version {health['version']}{started}",
        f"Directory: {call.directory or launcher.wanted.directory or 'where the server was started'}",
        f"Project: {project['id']}, worktree {project['worktree']}" if project else "Project: none",
        f"Providers: {', '.join(one['id'] for one in providers['providers']) or 'none'}",
        f"Default model: {await _model(call)}",
    ]
    if not providers["providers"]:
        lines.append("Next: store a provider's key with opencode_auth_set, then try opencode_provider_test.")
    else:
        lines.append("Next: opencode_provider_test makes sure that a model answers; then use opencode_ask.")
    return "\n".join(lines)


async def context(call: Call, _: Arguments) -> str:
    """The project in one text, for the beginning of a piece of work."""
    project, branch, changes, config, some_agents, some_commands = await asyncio.gather(
        call.get("/project/current"),
        _or_none(call.get("/vcs")),
        _or_none(call.get("/file/status")),
        call.get("/config"),
        call.get("/agent"),
        call.get("/command"),
    )
    return "\n\n".join(
        [
            f"# Project\n{pretty(project)}",
            f"# Branch\n{(branch or {}).get('branch') or 'no version control'}",
            f"# Uncommitted\n{counts(changes or [])}",
            f"# Agents\n{agents(some_agents)}",
            f"# Commands\n{commands(some_commands)}",
            f"# Configuration\n{pretty(redacted(config))}",
        ]
    )


async def status(call: Call, _: Arguments) -> str:
    """What goes on now."""
    health, states, waiting, servers = await asyncio.gather(
        call.get("/global/health"), call.get("/session/status"), pending(call), _or_none(call.get("/mcp"))
    )
    lines = [f"Server: version {health['version']}, healthy"]
    lines.append(f"Sessions at work:\n{statuses(states)}" if states else "Sessions at work: none")
    lines.append(
        "\n".join(["Waiting for an answer:", *waiting]) if waiting else "Waiting for an answer: nothing"
    )
    lines.append(f"MCP servers of the agent:\n{statuses(servers or {})}")
    return "\n".join(lines)


async def provider_test(call: Call, given: ProviderTest) -> str:
    """A prompt in a session that is deleted afterwards."""
    asked = given.model_dump(include={"providerID", "modelID"}, exclude_none=True)
    body = await prompt(call, {"text": "Answer with the one word OK.", **asked})
    session = await call.post("/session", {"title": "Provider test"})
    path = f"/session/{session['id']}"
    try:
        began = time.monotonic()
        outcome = await run_turn(call, session["id"], "POST", f"{path}/message", body, given.seconds)
        took = time.monotonic() - began
    finally:
        await asyncio.shield(_remove(call, session["id"]))
    if not outcome.ended:
        raise RemoteError("timeout", f"No answer came in {given.seconds:g} s.")
    raise_failure(outcome.answer)
    info = outcome.answer["info"]
    name = f"{info['providerID']}/{info['modelID']}"
    return f"{name} answered in {took:.1f} s: {turn([outcome.answer])}"


async def _remove(call: Call, session_id: str) -> None:
    await abort(call, session_id)
    await _or_none(call.request("DELETE", f"/session/{session_id}"))


async def _model(call: Call) -> str:
    try:
        return str(call.default_model or await default_model(call))
    except RemoteError:
        return "none"


async def _or_none(request: Coroutine[Any, Any, Any]) -> Any:
    """What a server may not have; None then."""
    try:
        return await request
    except RemoteError as error:
        if error.category in ("unreachable", "auth"):
            raise
        return None


PROJECT = (
    Tool(
        "opencode_setup",
        "Set up",
        "workflow",
        "Begin here: say which server this is, whether a model can be used, and what to do next.",
        Arguments,
        READS,
        setup,
    ),
    Tool(
        "opencode_context",
        "Project context",
        "workflow",
        "Show the project in one text: branch, changes, agents, commands, configuration.",
        Arguments,
        READS,
        context,
    ),
    Tool(
        "opencode_provider_test",
        "Test a provider",
        "workflow",
        "Find out whether a model answers, with a very short prompt.",
        ProviderTest,
        ACTS,
        provider_test,
    ),
    Tool(
        "opencode_status",
        "Status",
        "workflow",
        "Show the server's state: sessions at work, requests that wait, MCP servers.",
        Arguments,
        READS,
        status,
    ),
)


EVENT_CHARACTERS = 400


class Poll(Arguments):
    seconds: float = Field(5.0, gt=0, le=120, description="How long to listen.")
    limit: int = Field(100, gt=0, le=1000, description="Stop after so many events.")
    types: list[str] | None = Field(None, description="Only events of these types, such as session.idle.")


async def poll(call: Call, given: Poll) -> str:
    """The events from now on, the heartbeat left out."""
    lines: list[str] = []
    try:
        async with asyncio.timeout(given.seconds), aclosing(call.events()) as events:
            async for event in events:
                if event.type == "server.heartbeat" or (given.types and event.type not in given.types):
                    continue
                lines.append(f"- {event.type} {one_line(json.dumps(event.properties), EVENT_CHARACTERS)}")
                if len(lines) >= given.limit:
                    break
    except TimeoutError:
        pass
    return "\n".join([f"{len(lines)} events:", *lines])


async def models(call: Call, given: OfProvider) -> str:
    """With what each can take and costs per million tokens, in dollars."""
    provider = _find(given.providerID, (await call.get("/config/providers"))["providers"])
    # The list of all that are known is long, and slow to come.
    provider = provider or _find(given.providerID, (await call.get("/provider"))["all"])
    if provider is None:
        raise RemoteError("not_found", f"There is no provider {given.providerID!r}.")
    lines = []
    for name, model in sorted(provider["models"].items()):
        limit, cost = model.get("limit") or {}, model.get("cost") or {}
        price = f", {cost['input']:g} in, {cost['output']:g} out" if cost else ""
        lines.append(f"- {name} ({model['name']}): {limit.get('context', '?')} tokens{price}")
    return "\n".join([f"{len(lines)} models:", *lines])


def _find(provider_id: str, providers: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    return next((one for one in providers if one["id"] == provider_id), None)


PIECES = (
    Tool(
        "opencode_events_poll",
        "Listen to events",
        "events",
        "Collect the events of the directory for a few seconds.",
        Poll,
        READS,
        poll,
    ),
    Tool(
        "opencode_provider_models",
        "Models of a provider",
        "provider",
        "List the models of one provider.",
        OfProvider,
        READS,
        models,
    ),
)
