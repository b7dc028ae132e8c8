"""`opencode-web run`: one prompt from the terminal, its turn streamed back."""

from __future__ import annotations

import argparse
import asyncio
import json
import mimetypes
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol
from unicodedata import category

from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.launcher import wanted
from opencode_web.bridge.remote.link import Link
from opencode_web.cli.terminal import Stop, complain
from sessions.core import variables
from sessions.core.paths import access

Properties = Mapping[str, Any]

_RAW = {"step-start": "step_start", "step-finish": "step_finish", "reasoning": "reasoning", "text": "text"}


class Output(Protocol):
    failed: str
    """Why the turn failed; empty when it did not."""

    def show(self, type: str, properties: Properties) -> None:
        """An event of the session."""

    def note(self, text: str) -> None:
        """A line for the person at the terminal, on standard error."""


class Readable:
    """The model's text on standard output; what it does, and its thinking, on standard error."""

    def __init__(self, thinking: bool = False) -> None:
        self.failed = ""
        self._fields = ("text", "reasoning") if thinking else ("text",)
        self._kinds: dict[str, str] = {}
        self._open = False

    def show(self, type: str, properties: Properties) -> None:
        if type == "message.part.updated":
            self._part(properties["part"])
        elif type == "message.part.delta" and properties.get("field") == "text":
            self._delta(properties)
        elif type == "session.error":
            self.failed = message(properties.get("error") or {})

    def note(self, text: str) -> None:
        self._end()
        sys.stderr.write(f"! {shown(text)}\n")
        sys.stderr.flush()

    def _delta(self, properties: Properties) -> None:
        kind = self._kinds.get(properties["partID"], "")
        if kind not in self._fields:
            return
        stream = sys.stdout if kind == "text" else sys.stderr
        stream.write(shown(properties["delta"]))
        stream.flush()
        self._open = True

    def _part(self, part: Properties) -> None:
        kind = part["type"]
        self._kinds[part["id"]] = kind if _answers(part) else ""
        if kind in ("text", "reasoning") and (part.get("time") or {}).get("end"):
            self._end()
        elif kind == "tool" and part["state"]["status"] in ("completed", "error"):
            self._call(part)

    def _call(self, part: Properties) -> None:
        self._end()
        state = part["state"]
        told = state.get("title") or str(next(iter((state.get("input") or {}).values()), ""))
        failed = f" failed: {state.get('error', '')}" if state["status"] == "error" else ""
        sys.stderr.write(
            f"| {part['tool']}  {shown(told).splitlines()[0][:120] if told else ''}{shown(failed)}\n"
        )
        sys.stderr.flush()

    def _end(self) -> None:
        """Whatever comes next begins a line."""
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
        self._open = False


class Raw:
    """`{"type", "timestamp", "sessionID", "part"}` a line, as OpenCode's `run --format json` prints."""

    def __init__(self, session: str) -> None:
        self.failed = ""
        self._session = session

    def show(self, type: str, properties: Properties) -> None:
        if type == "session.error":
            error = properties.get("error") or {}
            self.failed = message(error)
            self._line("error", error=error)
        elif type == "message.part.updated":
            self._part(properties["part"])

    def note(self, text: str) -> None:
        sys.stderr.write(f"! {shown(text)}\n")

    def _part(self, part: Properties) -> None:
        kind = part["type"]
        if kind == "tool" and part["state"]["status"] in ("completed", "error"):
            self._line("tool_use", part=part)
        elif kind in _RAW and (kind.startswith("step") or (_answers(part) and part["time"].get("end"))):
            self._line(_RAW[kind], part=part)

    def _line(self, type: str, **more: Any) -> None:
        line = {"type": type, "timestamp": int(time.time() * 1000), "sessionID": self._session, **more}
        sys.stdout.write(f"{json.dumps(line, ensure_ascii=False)}\n")
        sys.stdout.flush()


def _answers(part: Properties) -> bool:
    """Whether a text is the model's: the parts of a prompt have no time."""
    return bool(part.get("time"))


def message(error: Properties) -> str:
    return str((error.get("data") or {}).get("message") or error.get("name") or "the turn failed")


def shown(text: str) -> str:
    """Without what would steer a terminal: the text is the model's."""
    return "".join(letter for letter in text if letter in "\n\t" or category(letter)[0] != "C")


NOT_FOUND = 404
LIMIT = "limit"
ALONE = "Nobody is there to let you go beyond it. Finish with what you have."
NOBODY_THERE = ("question", "plan_enter", "plan_exit")
"""Tools that wait for a person at a page."""
DENIED = [{"permission": name, "pattern": "*", "action": "deny"} for name in NOBODY_THERE]


def run(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop when the turn fails, or something was refused because nobody was there to allow it (1), for
    a wrong argument (2), and when it is interrupted (130)."""
    text = _text(arguments)
    try:
        asyncio.run(_run(link_of(arguments, directory), arguments, text, directory))
    except (ValueError, RemoteError) as error:
        raise Stop(str(error)) from error
    except KeyboardInterrupt as error:
        raise Stop("interrupted; the turn was stopped", 130) from error


def link_of(arguments: argparse.Namespace, directory: Path) -> Link:
    """To the server that is asked for. Raises ValueError."""
    environ = {
        **os.environ,
        **({variables.PASSWORD.name: arguments.password} if arguments.password else {}),
    }
    environ[variables.USERNAME.name] = arguments.username
    where = None if arguments.attach and not arguments.dir else str(directory)
    return Link(wanted(environ, arguments.attach, where, start=not arguments.attach))


def _text(arguments: argparse.Namespace) -> str:
    """The message, and what is piped in below it. Raise Stop when there is neither; and when there is one for
    a turn that goes on, which has its own."""
    if (arguments.check or arguments.turns) and not arguments.goal:
        raise Stop("--check and --turns take --goal", 2)
    if arguments.resume:
        given = (arguments.message, arguments.command, arguments.file, arguments.agent, arguments.model)
        if any(given) or arguments.variant or arguments.goal:
            raise Stop("--resume goes on with the last turn: no message, command, file, agent or model", 2)
        return ""
    if arguments.goal and (arguments.command or arguments.file):
        raise Stop("--goal takes a message: no command and no file", 2)
    text = message_of(arguments)
    if not text and not arguments.command:
        raise Stop("there is no message; give one, or a --command", 2)
    return text


def message_of(arguments: argparse.Namespace) -> str:
    """The message, and what is piped in below it."""
    parts = [" ".join(arguments.message)]
    if not sys.stdin.isatty():
        parts.append(sys.stdin.read())
    return "\n".join(part for part in parts if part.strip())


async def _run(link: Link, arguments: argparse.Namespace, text: str, directory: Path) -> None:
    async with link:
        await look_up(link, arguments)
        if arguments.command:
            names = [entry["name"] for entry in await link.get("/command")]
            _find("command", arguments.command, names, f"there are {', '.join(names)}")
        request = _request(arguments, text, directory)
        session = await _session(link, arguments)
        if arguments.mode:
            await link.patch(f"/session/{session}", {"preset": arguments.mode})
        if arguments.add_dir:
            await link.patch(f"/session/{session}", {"folders": _folders(arguments.add_dir, directory)})
        output: Output = Raw(session) if arguments.format == "json" else Readable(arguments.thinking)
        try:
            refused = await _turn(link, session, request, output, auto=arguments.auto)
        except asyncio.CancelledError:
            await asyncio.shield(link.post(f"/session/{session}/abort"))
            raise
        unreached = await _unreached(link, session) if arguments.goal else ""
        if arguments.share:
            shared = await link.post(f"/session/{session}/share")
            output.note(f"Shared at {shared['share']['url']}")
    if output.failed:
        raise Stop(output.failed)
    if unreached:
        raise Stop(unreached)
    if refused:
        raise Stop(
            f"nobody was there to allow {shown('; '.join(refused))} (--auto allows what no rule denies)"
        )


async def _unreached(link: Link, session: str) -> str:
    """How its goal ended where it is not reached, in words."""
    goal = await link.get(f"/session/{session}/goal")
    return "" if goal["state"] == "done" else shown(f"the goal is {goal['state']}: {goal['reason']}")


async def look_up(link: Link, arguments: argparse.Namespace) -> None:
    """Raise Stop for a model that the server has not, before a session is made for it. An agent that cannot
    answer leaves the turn to the default one, as in OpenCode."""
    if arguments.model:
        providers = (await link.get("/config/providers"))["providers"]
        models = [f"{provider['id']}/{model}" for provider in providers for model in provider["models"]]
        _find("model", arguments.model, models, "`opencode-web models` lists them")
    if arguments.agent:
        found = [entry for entry in await link.get("/agent") if not entry.get("hidden")]
        modes = {entry["name"]: entry["mode"] for entry in found}
        if modes.get(arguments.agent, "subagent") == "subagent":
            reason = "is a subagent" if arguments.agent in modes else "does not exist"
            complain(f"the agent {arguments.agent!r} {reason}; the default one answers")
            arguments.agent = None


def _find(kind: str, name: str, known: Sequence[str], others: str) -> None:
    if name not in known:
        raise Stop(f"there is no {kind} {name!r}; {shown(others)}", 2)


async def _session(link: Link, arguments: argparse.Namespace) -> str:
    """The id of the session to go on with, or of a new one. Raise Stop when there is none."""
    session = await session_of(link, arguments)
    if session is None:
        if arguments.resume:
            raise Stop("--resume takes --continue or --session", 2)
        body = {"permission": DENIED, **({"title": arguments.title} if arguments.title else {})}
        session = await link.post("/session", body)
    return str(session["id"])


async def session_of(link: Link, arguments: argparse.Namespace) -> Mapping[str, Any] | None:
    """The session to go on with, or a copy of it, as the server has it; None for a new one. Raise Stop where
    none can be copied."""
    found = arguments.session
    if arguments.last and not found:
        roots = await link.get("/session", {"roots": "true", "limit": 1})
        found = roots[0]["id"] if roots else None
    if found is None:
        if arguments.fork:
            raise Stop("--fork takes --continue or --session", 2)
        return None
    path = f"/session/{found}"
    session: Mapping[str, Any] = await (link.post(f"{path}/fork", {}) if arguments.fork else link.get(path))
    return session


def _request(arguments: argparse.Namespace, text: str, directory: Path) -> tuple[str, dict[str, Any]]:
    """The last segment of the operation's path, and its body."""
    if arguments.resume:
        return "resume", {}
    if arguments.goal:
        return "goal", _goal(arguments, text)
    files = [_file(name, directory) for name in arguments.file]
    body: dict[str, Any] = {"agent": arguments.agent, "variant": arguments.variant}
    if arguments.command:
        body |= {"command": arguments.command, "arguments": text, "model": arguments.model, "parts": files}
    else:
        body |= {"model": model_of(arguments.model), "parts": [*files, {"type": "text", "text": text}]}
    given = {name: value for name, value in body.items() if value not in (None, [])}
    return ("command" if arguments.command else "prompt_async"), given


def _goal(arguments: argparse.Namespace, text: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "objective": text,
        "checks": arguments.check,
        "budget": {"turns": arguments.turns},
    }
    if arguments.agent:
        body["agent"] = arguments.agent
    if model := model_of(arguments.model):
        body["model"] = {**model, **({"variant": arguments.variant} if arguments.variant else {})}
    return body


def _folders(given: Sequence[str], directory: Path) -> list[dict[str, Any]]:
    """Whole paths: the session may be in another folder than the command."""
    found = map(access, given)
    return [{"path": str(directory / Path(path).expanduser()), "write": write} for path, write in found]


def model_of(ref: str | None) -> dict[str, str] | None:
    """As the body of a prompt names it. Raise Stop for what is no `provider/model`."""
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
) -> list[str]:
    """Send the prompt and follow the session until it is idle; gives what was refused. Raises what either
    raises, at once."""
    operation, body = request
    heard = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            followed = group.create_task(_follow(link, session, output, heard, auto=auto))
            await heard.wait()
            await link.post(f"/session/{session}/{operation}", body, seconds=None)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return followed.result()


async def _follow(link: Link, session: str, output: Output, heard: asyncio.Event, *, auto: bool) -> list[str]:
    """Show a session, and those it starts, until it is idle, and give what was refused in them; `heard` is
    set once nothing is missed."""
    family, refused = {session}, dict[str, None]()
    async with aclosing(link.events()) as events:
        async for event in events:
            if event.type == "server.connected":
                heard.set()
            properties = event.properties
            if event.type == "session.created" and properties["info"].get("parentID") in family:
                family.add(properties["info"]["id"])
            if properties.get("sessionID") not in family:
                continue
            if event.type == "permission.asked" and (
                no := await _answer(link, properties, output, auto=auto)
            ):
                refused[no] = None
            if properties["sessionID"] == session:
                output.show(event.type, properties)
                if event.type == "session.idle":
                    return list(refused)
    raise RemoteError("unreachable", "The server ended before the turn did.")


async def _answer(link: Link, asked: Mapping[str, Any], output: Output, *, auto: bool) -> str:
    """Nobody is there to be asked: what no rule allows is allowed (`--auto`), or rejected and given. A limit
    is for when nobody looks, and so is not lifted; the agent is told, and ends in its own words, as it may.
    """
    of_limit = asked["permission"] == LIMIT
    auto = auto and not of_limit
    reply = {"reply": "once" if auto else "reject", **({"message": ALONE} if of_limit else {})}
    what = f"{asked['permission']} ({', '.join(asked['patterns'])})"
    output.note(f"permission requested: {what}; {'allowed' if auto else 'rejected'}")
    try:
        await link.post(f"/permission/{asked['id']}/reply", reply)
    except RemoteError as error:
        if error.status != NOT_FOUND:
            raise
        return ""  # answered by somebody at a page, or with another of the session, which is named
    return "" if auto or of_limit else what
