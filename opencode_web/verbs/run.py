"""`opencode-web run`: one prompt from the terminal, its turn streamed back."""

from __future__ import annotations

import argparse
import asyncio
import mimetypes
import os
import sys
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from opencode_web.cli.stop import Stop
from opencode_web.remote.errors import RemoteError
from opencode_web.remote.launcher import wanted
from opencode_web.remote.link import Link
from opencode_web.verbs.output import Output, Raw, Readable

NOBODY_THERE = ("question", "plan_enter", "plan_exit")
"""Tools that wait for a person at a page."""
DENIED = [{"permission": name, "pattern": "*", "action": "deny"} for name in NOBODY_THERE]


def run(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop when the turn fails (1), for a wrong argument (2), and when it is interrupted (130)."""
    text = _text(arguments)
    environ = {
        **os.environ,
        **({"OPENCODE_SERVER_PASSWORD": arguments.password} if arguments.password else {}),
    }
    environ["OPENCODE_SERVER_USERNAME"] = arguments.username
    where = None if arguments.attach and not arguments.dir else str(directory)
    try:
        link = Link(wanted(environ, arguments.attach, where, start=not arguments.attach))
        asyncio.run(_run(link, arguments, text, directory))
    except (ValueError, RemoteError) as error:
        raise Stop(str(error)) from error
    except KeyboardInterrupt as error:
        raise Stop("interrupted; the turn was stopped", 130) from error


def _text(arguments: argparse.Namespace) -> str:
    """The message, and what is piped in below it. Raise Stop when there is neither; and when there is one for
    a turn that goes on, which has its own."""
    if arguments.resume:
        given = (arguments.message, arguments.command, arguments.file, arguments.agent, arguments.model)
        if any(given) or arguments.variant:
            raise Stop("--resume goes on with the last turn: no message, command, file, agent or model", 2)
        return ""
    parts = [" ".join(arguments.message)]
    if not sys.stdin.isatty():
        parts.append(sys.stdin.read())
    text = "\n".join(part for part in parts if part.strip())
    if not text and not arguments.command:
        raise Stop("there is no message; give one, or a --command", 2)
    return text


async def _run(link: Link, arguments: argparse.Namespace, text: str, directory: Path) -> None:
    async with link:
        session = await _session(link, arguments)
        output: Output = Raw(session) if arguments.format == "json" else Readable(arguments.thinking)
        request = _request(arguments, text, directory)
        try:
            await _turn(link, session, request, output, auto=arguments.auto)
        except asyncio.CancelledError:
            await asyncio.shield(link.post(f"/session/{session}/abort"))
            raise
        if arguments.share:
            shared = await link.post(f"/session/{session}/share")
            output.note(f"Shared at {shared['share']['url']}")
    if output.failed:
        raise Stop(output.failed)


async def _session(link: Link, arguments: argparse.Namespace) -> str:
    """The id of the session to go on with, or of a new one. Raise Stop when there is none."""
    found = arguments.session
    if arguments.last and not found:
        roots = await link.get("/session", {"roots": "true", "limit": 1})
        found = roots[0]["id"] if roots else None
    if found is None:
        if arguments.fork or arguments.resume:
            raise Stop(f"--{'fork' if arguments.fork else 'resume'} takes --continue or --session", 2)
        body = {"permission": DENIED, **({"title": arguments.title} if arguments.title else {})}
        return str((await link.post("/session", body))["id"])
    path = f"/session/{found}"
    known = await (link.post(f"{path}/fork", {}) if arguments.fork else link.get(path))
    return str(known["id"])


def _request(arguments: argparse.Namespace, text: str, directory: Path) -> tuple[str, dict[str, Any]]:
    """The last segment of the operation's path, and its body."""
    if arguments.resume:
        return "resume", {}
    files = [_file(name, directory) for name in arguments.file]
    body: dict[str, Any] = {"agent": arguments.agent, "variant": arguments.variant}
    if arguments.command:
        body |= {"command": arguments.command, "arguments": text, "model": arguments.model, "parts": files}
    else:
        body |= {"model": _model(arguments.model), "parts": [*files, {"type": "text", "text": text}]}
    given = {name: value for name, value in body.items() if value not in (None, [])}
    return ("command" if arguments.command else "prompt_async"), given


def _model(ref: str | None) -> dict[str, str] | None:
    if ref is None:
        return None
    provider, slash, model = ref.partition("/")
    if not slash:
        raise Stop(f"{ref!r} is no model; `opencode-web models` lists them", 2)
    return {"providerID": provider, "modelID": model}


def _file(name: str, directory: Path) -> dict[str, str]:
    """Raise Stop for one that is not there."""
    path = (directory / name).resolve()
    if not path.exists():
        raise Stop(f"there is no file {name!r}", 2)
    mime = "application/x-directory" if path.is_dir() else mimetypes.guess_type(path)[0] or "text/plain"
    return {"type": "file", "mime": mime, "filename": path.name, "url": path.as_uri()}


async def _turn(
    link: Link, session: str, request: tuple[str, dict[str, Any]], output: Output, *, auto: bool
) -> None:
    """Send the prompt and follow the session, and those it starts, until it is idle."""
    family = {session}
    operation, body = request
    async with aclosing(link.events()) as events:
        asked: asyncio.Task[Any] | None = None
        async for event in events:
            if event.type == "server.connected":
                asked = asyncio.create_task(link.post(f"/session/{session}/{operation}", body, seconds=None))
            if asked and asked.done():
                asked.result()
            properties = event.properties
            if event.type == "session.created" and properties["info"].get("parentID") in family:
                family.add(properties["info"]["id"])
            if properties.get("sessionID") not in family:
                continue
            if event.type == "permission.asked":
                await _answer(link, properties, output, auto=auto)
            if properties["sessionID"] == session:
                output.show(event.type, properties)
                if event.type == "session.idle":
                    break
    if asked:
        await asked


async def _answer(link: Link, asked: Mapping[str, Any], output: Output, *, auto: bool) -> None:
    """Nobody is there to be asked: what no rule allows is allowed (`--auto`) or rejected."""
    reply = "once" if auto else "reject"
    what = f"{asked['permission']} ({', '.join(asked['patterns'])})"
    output.note(f"permission requested: {what}; {'allowed' if auto else 'rejected'}")
    await link.post(f"/permission/{asked['id']}/reply", {"reply": reply})
