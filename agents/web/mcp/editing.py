"""The dialog that adds or changes a server: its form, the command taken apart, a test, saving."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.problem import Unreadable
from agents.config.redaction import HIDDEN, redacted
from agents.config.schema import McpConfig
from agents.config.writing import preview
from agents.config.written import written
from agents.servers.mcp.server import parse
from agents.web.mcp.acts import HELD, config_of, renewed, result_of, write
from agents.web.mcp.listing import Pair, Row, command_line, pairs
from agents.web.mcp.listing import row as find
from agents.web.mcp.views import row_of
from sessions.core.sentences import message_of
from sessions.web.places import Place, place_of
from sessions.web.respond import beside, fragment, refused

_PROBLEMS = (ValueError, Unreadable, OSError)
_SHELL = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1"})


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form asks for: the change `entry` of a server, in the user's `own` file or the project's."""

    place: Place
    name: str
    own: bool
    entry: Mapping[str, Any]

    @property
    def directory(self) -> Path | None:
        return None if self.own else self.place.directory


@require_GET
async def form(request: HttpRequest) -> HttpResponse:
    """The dialog; with `name` for that server, else for a new one."""
    place = await place_of(request.GET)
    row = await row_of(request.GET) if request.GET.get("name") else None
    fields = shown(row.name, row.entry) if row else Fields()
    files = await asyncio.to_thread(_files, place)
    return fragment("mcp/form.html", place=place, row=row, fields=fields, files=files)


@require_GET
async def words(request: HttpRequest) -> HttpResponse:
    """The words of `?command=`, and what a person may have thought a shell would do with them."""
    try:
        found = split(request.GET.get("command", ""))
    except Wrong as error:
        return fragment("mcp/words.html", problem=message_of(error))
    return fragment("mcp/words.html", words=found, hints=_hints(found))


@require_POST
async def test(request: HttpRequest) -> HttpResponse:
    """Connect once with what is filled in; nothing is saved."""
    try:
        draft = await _draft(request.POST)
        config = await asyncio.to_thread(_config, draft)
    except _PROBLEMS as problem:
        return refused(message_of(problem))
    result = await result_of(draft.name, config, draft.place.directory)
    return refused(result) if isinstance(result, str) else fragment("mcp/result.html", result=result)


@require_POST
async def save(request: HttpRequest) -> HttpResponse:
    try:
        draft = await _draft(request.POST)
        await asyncio.to_thread(_config, draft)
        await asyncio.to_thread(write, draft.own, draft.place.directory, draft.name, draft.entry)
    except _PROBLEMS as problem:
        return beside("server-dialog", message_of(problem))
    return renewed(draft.name, "saved")


async def _draft(form: QueryDict) -> Draft:
    """Raises Wrong."""
    place, name = await place_of(form), name_in(form)
    row = await asyncio.to_thread(find, place.directory, name)
    editing = "editing" in form
    if editing and row is None:
        raise Wrong(gettext("This server is not configured any longer."))
    if row is not None:
        _check(row, editing)
    own = row.scope == "user" if row else form.get("saved") != "project"
    entry = row.entry if row else {}
    return Draft(place, name, own, change_of(form, entry))


def _config(draft: Draft) -> McpConfig:
    """The entry as it would count. Raises ValueError for one that makes no server, and as `preview`."""
    config = config_of(preview(draft.directory, {"mcp": {draft.name: draft.entry}}), draft.name)
    parse(draft.name, config)
    return config


def _check(row: Row, editing: bool) -> None:
    """Raise Wrong for a server that the form cannot change."""
    if not editing:
        raise Wrong(gettext("There is a server of this name already."))
    if row.held:
        raise Wrong(HELD)
    if not row.writable:
        raise Wrong(gettext("It is written in a file that is not changed from here."))


def _files(place: Place) -> dict[str, Path]:
    """The files that a new server can be written into, by scope."""
    files = (item for item in written(place.directory) if item.writable)
    return {"user" if item.own else "project": item.file for item in files}


def _hints(words: list[str]) -> list[str]:
    hints = []
    if shell := [word for word in words if word in _SHELL]:
        hints.append(
            gettext("No shell reads this line: %(shell)s is passed on as it stands.") % {"shell": shell[0]}
        )
    if words and "=" in words[0] and not words[0].startswith("/"):
        hints.append(gettext("Variables belong into the environment below."))
    if any(word.startswith("~") or "$" in word for word in words):
        hints.append("~ and $NAME are not replaced; {env:NAME} is.")
    return hints


# The form of a server: what a person filled in, as a change of the configuration, and the way back.

MAX_NAME = 64
_LOCAL = ("command", "cwd", "environment", "sandbox")
_REMOTE = ("url", "headers", "oauth")
_OAUTH = {"client_id": "clientId", "client_secret": "clientSecret", "scope": "scope"}
"""Fields of the form by the key that they become."""


class Wrong(ValueError):
    """What was filled in cannot be saved; the text is for people."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What the form shows. `timeout` is in seconds; `secret`: a client secret is there and not shown."""

    name: str = ""
    kind: Literal["local", "remote"] = "local"
    command: str = ""
    cwd: str = ""
    environment: list[Pair] = field(default_factory=list)
    sandbox: bool = False
    url: str = ""
    headers: list[Pair] = field(default_factory=list)
    timeout: str = ""
    sampling: bool = False
    apps: bool = False
    no_oauth: bool = False
    client_id: str = ""
    scope: str = ""
    secret: bool = False


def shown(name: str, entry: Mapping[str, Any]) -> Fields:
    """The form of an entry as it is written in a file."""
    oauth = entry.get("oauth")
    known = oauth if isinstance(oauth, Mapping) else {}
    command = entry.get("command")
    timeout = entry.get("timeout")
    return Fields(
        name=name,
        kind="remote" if entry.get("type") == "remote" or "url" in entry else "local",
        command=command_line(command) if isinstance(command, list) else "",
        cwd=str(entry.get("cwd") or ""),
        environment=pairs(entry.get("environment")),
        sandbox=entry.get("sandbox") is True,
        url=str(redacted(entry.get("url") or "")),
        headers=pairs(entry.get("headers")),
        timeout=f"{timeout / 1000:g}" if isinstance(timeout, int) else "",
        sampling=entry.get("sampling") is True,
        apps=entry.get("apps") is True,
        no_oauth=oauth is False,
        client_id=str(known.get("clientId") or ""),
        scope=str(known.get("scope") or ""),
        secret=bool(known.get("clientSecret")),
    )


def name_in(form: QueryDict) -> str:
    """Raises Wrong."""
    name = form.get("name", "").strip()
    if not name:
        raise Wrong(gettext("Give the server a name."))
    if len(name) > MAX_NAME or not name.isprintable():
        raise Wrong(
            gettext("The name has more than %(max_name)s characters, or one that cannot be shown.")
            % {"max_name": MAX_NAME}
        )
    return name


def change_of(form: QueryDict, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The change that makes an entry as written (empty for a new one) what was filled in. Raises Wrong."""
    remote = form.get("kind") == "remote"
    changed: dict[str, Any] = {"type": "remote" if remote else "local"}
    changed |= _remote(form, entry) if remote else _local(form, entry)
    gone = _LOCAL if remote else _REMOTE
    changed |= dict.fromkeys(gone)
    changed["timeout"] = _milliseconds(form.get("timeout", "").strip())
    changed |= {key: True if key in form else None for key in ("sampling", "apps")}
    return {key: value for key, value in changed.items() if value is not None or key in entry}


def split(line: str) -> list[str]:
    """A command line as its words, by the rules of a shell's quotes. Raises Wrong."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise Wrong(
            gettext("The command cannot be read: %(lower)s.") % {"lower": str(error).lower()}
        ) from error


def _local(form: QueryDict, entry: Mapping[str, Any]) -> dict[str, Any]:
    command = split(form.get("command", ""))
    if not command:
        raise Wrong(gettext("Say which command starts the server."))
    environment = _pairs(form, "environment", entry.get("environment"))
    return {
        "command": command,
        "cwd": form.get("cwd", "").strip() or None,
        "environment": environment,
        "sandbox": True if "sandbox" in form else None,
    }


def _remote(form: QueryDict, entry: Mapping[str, Any]) -> dict[str, Any]:
    url = form.get("url", "").strip()
    if not url:
        raise Wrong(gettext("Say at which address the server is."))
    return {
        "url": url,
        "headers": _pairs(form, "headers", entry.get("headers")),
        "oauth": _oauth(form, entry),
    }


def _oauth(form: QueryDict, entry: Mapping[str, Any]) -> Any:
    """Null takes the block away, where nothing else is in it."""
    if "no_oauth" in form:
        return False
    written = entry.get("oauth")
    known = written if isinstance(written, Mapping) else {}
    given = {key: form.get(name, "").strip() or None for name, key in _OAUTH.items()}
    if given["clientSecret"] is None and "clientSecret" in known and given["clientId"]:
        given["clientSecret"] = HIDDEN
    changed = {key: value for key, value in given.items() if value is not None or key in known}
    left = {**known, **changed}
    return changed if any(value is not None for value in left.values()) else None


def _pairs(form: QueryDict, key: str, written: Any) -> dict[str, Any] | None:
    """A value that was not shown and not written anew stays; a name that is gone is taken away."""
    known = written if isinstance(written, Mapping) else {}
    names, values = form.getlist(f"{key}_name"), form.getlist(f"{key}_value")
    given: dict[str, Any] = {}
    for name, value in zip(map(str.strip, names), values, strict=False):
        if name in given:
            raise Wrong(gettext("%(name)s is there twice.") % {"name": name})
        if value and not name:
            raise Wrong(gettext("A value has no name."))
        if name:
            given[name] = value if value or name not in known else HIDDEN
    return {**dict.fromkeys(known), **given} if given else None


def _milliseconds(seconds: str) -> int | None:
    if not seconds:
        return None
    try:
        found = round(float(seconds) * 1000)
    except (ValueError, OverflowError):
        found = 0
    if found <= 0:
        raise Wrong(gettext("The time limit is a number of seconds above zero."))
    return found
