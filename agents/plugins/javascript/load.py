"""A file of JavaScript or TypeScript as a plugin like any other; its hooks and tools are in a process."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from typing_extensions import TypeIs

from agents.config.javascript import lacking
from agents.config.plugins import PACKAGES, entry_in, package_in
from agents.config.trust.code import CodeFile
from agents.plugins.authors import Output, Refused, ToolContext, ToolDefinition, tool
from agents.plugins.host import TimedOut
from agents.plugins.javascript.packages import API, CannotInstall, dependencies, install
from agents.plugins.javascript.process import Failed, Gone, Message
from agents.plugins.javascript.runner import Runner
from agents.plugins.javascript.sending import send
from agents.plugins.plugin import BEFORE, MESSAGE, Hook, Package, Place, Plugin, Source
from agents.plugins.shapes import HOOKS
from agents.toolkit.base import ToolError
from agents.toolkit.permission.errors import NotPermitted
from sessions.core import paths
from sessions.core.files import replace_file
from sessions.core.ids import now
from sessions.core.sentences import Sentence, sentence_of

_numbers = itertools.count(1)
_LOAD = "export const load = (name) => import(name);\n"
"""By which `host.mjs` imports what is installed there."""
_ENTRY = "import * as module from {};\nexport default module;\n"
"""A file that is a package."""
_PACKAGE = '{"private": true}'
"""One farther up may say that all is CommonJS."""


def is_javascript(source: Source) -> TypeIs[CodeFile | Package]:
    return isinstance(source, Package) or (isinstance(source, CodeFile) and not source.in_python)


def lay_out(directory: Path, sources: Iterable[Source]) -> None:
    """Put the files of a folder, and what they import, where they lie to each other as they do in truth,
    before the first is loaded. What is no longer trusted is taken away; the rest stays as it is, for another
    process may run it. Raises OSError."""
    root = _root(directory)
    files: dict[Path, bytes] = {root / PACKAGES: _PACKAGE.encode()}
    links: dict[Path, Path] = {}
    for source in sources:
        if isinstance(source, CodeFile) and is_javascript(source):
            files |= {_place(root, file.path): file.content for file in (source, *source.modules)}
            links[_place(root, source.home) / "node_modules"] = _packages(source.home) / "node_modules"
    for folder, folders, names in os.walk(root):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path not in files and path not in links and (path.is_symlink() or not path.is_dir()):
                path.unlink(missing_ok=True)
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            replace_file(path, content)
    for path, target in links.items():
        if not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)


async def load_javascript(place: Place, source: CodeFile | Package, runner: Runner) -> Plugin:
    """What is wrong is recorded."""
    file, repository = Path(source.name), False
    if isinstance(source, CodeFile):
        file, repository = source.path, not source.own
    plugin = Plugin(place, source, file, repository, runner, guards=True)
    number = next(_numbers)
    try:
        found = await _found(plugin, number, source, runner)
    except TimedOut:
        plugin.fault(
            "", Sentence("was not loaded within %(seconds)s s", seconds=f"{2 * settings.HOOK_SECONDS:g}")
        )
    except Failed as error:
        words = str(error).replace(str(_root(place.directory)), "")
        plugin.fault(
            "", Sentence("raised %(error)s when it was loaded: %(words)s", error=error.name, words=words)
        )
    except (Gone, CannotInstall, OSError) as error:
        plugin.fault("", Sentence("is not loaded: %(error)s", error=error))
    else:
        _take(plugin, runner, number, found)
    return plugin


async def _found(plugin: Plugin, number: int, source: CodeFile | Package, runner: Runner) -> Message:
    """Hooks and tools. Packages are installed where some are named, or where one is missing. Raises TimedOut,
    Failed, Gone, CannotInstall, OSError."""
    if problem := await asyncio.to_thread(lacking, plugin.file.suffix):
        raise CannotInstall(problem)
    place = plugin.place
    if isinstance(source, Package):
        kind, named = "package", {source.name: source.version}
        folder = _folder(f"{source.name}@{source.version}")
        file = folder / "entry.mjs"
    else:
        kind, named = source.kind, dependencies(source.packages)
        folder = _packages(source.home)
        file = _place(_root(place.directory), source.path)
    await asyncio.to_thread(_prepare, folder)
    if named:
        await install(folder, API | named)
    elif isinstance(source, CodeFile) and _uses_client(source):
        with suppress(CannotInstall):  # it may have no need of it
            await install(folder, API)
    if isinstance(source, Package):
        name = await asyncio.to_thread(_entry, folder, source.name)
        await asyncio.to_thread(file.write_text, _ENTRY.format(json.dumps(name)))
    message = {
        "plugin": number,
        "file": str(file),
        "packages": str(folder),
        "kind": kind,
        "options": source.options,
        "place": {
            "project": {"id": place.project_id, "worktree": str(place.worktree)},
            "directory": str(place.directory),
            "worktree": str(place.worktree),
        },
    }
    try:
        return await _load(runner, message)
    except Failed as error:
        if named or not error.misses_package:
            raise
    await install(folder, API)
    return await _load(runner, message | {"again": 1})


def _uses_client(source: CodeFile) -> bool:
    """Whether OpenCode's SDK has to be there, of which `client` is made."""
    return any(b"client" in file.content for file in (source, *source.modules))


async def _load(runner: Runner, message: Message) -> Message:
    return await runner.call(lambda: runner.load(message), 2 * settings.HOOK_SECONDS)


def _root(directory: Path) -> Path:
    """Below which the files for one folder lie."""
    return _folder(f"files of {directory}")


def _place(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _packages(home: Path) -> Path:
    """Where what the files of a folder import is installed, whoever uses them."""
    return _folder(str(home))


def _folder(whose: str) -> Path:
    return paths.javascript() / hashlib.sha256(whose.encode()).hexdigest()[:16]


def _prepare(folder: Path) -> None:
    """Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "load.mjs").write_text(_LOAD)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text(_PACKAGE)


def _entry(folder: Path, name: str) -> str:
    """What is imported of a package: what it says is for the server, else what it is by itself. Raises
    CannotInstall."""
    said = package_in(folder / "node_modules" / name)
    if problem := lacking(Path(entry_in(said)).suffix, packaged=True):
        raise CannotInstall(problem)
    exports = said.get("exports")
    return f"{name}/server" if isinstance(exports, dict) and "./server" in exports else name


def _take(plugin: Plugin, runner: Runner, number: int, found: Message) -> None:
    for name in found["hooks"]:
        if name in HOOKS:
            plugin.hooks[name] = _hook(runner, number, name)
        else:
            plugin.fault(name, Sentence("there is no hook of this name here"))
    plugin.auths = [_auth(runner, number, at, one) for at, one in enumerate(found["auths"])]
    plugin.providers = [_provider(runner, number, at, one) for at, one in enumerate(found["providers"])]
    for one in found["tools"]:
        try:
            plugin.tools.append(_tool(runner, number, one))
        except (TypeError, ValueError) as error:
            place = f"tool {one['name']}"
            plugin.fault(place, sentence_of(error))


def _hook(runner: Runner, number: int, name: str) -> Hook:
    async def ask(input: dict[str, Any], output: dict[str, Any] | None = None) -> None:
        given = output if name != MESSAGE else {"message": _message(input), **(output or {})}
        message = {"plugin": number, "name": name, "input": input, "output": given}
        try:
            made = await runner.ask("hook", message)
        except Failed as error:
            if name == BEFORE:
                raise Refused(str(error)) from error
            raise
        if name == "config":
            input.clear()
            input.update(made)
        elif output is not None:  # what else it has put there is of no use
            output.update({key: made[key] for key in output if key in made})

    return ask


def _message(input: Mapping[str, Any]) -> dict[str, Any]:
    """What a prompt is about to become: to be read, for nothing of it can be changed but the parts."""
    said = {name: input[name] for name in ("sessionID", "agent", "model")}
    return {"id": input["messageID"], "role": "user", "time": {"created": now()}, **said}


def _auth(runner: Runner, number: int, at: int, one: Message) -> dict[str, Any]:
    """With functions in the places of those that it has there."""
    place = {"plugin": number, "auth": at}

    async def load(entry: Any, provider: Mapping[str, Any]) -> Any:
        given = await runner.ask("access", {**place, "provider": provider})
        own = given.pop("fetch")
        return {**given, "fetch": partial(send, runner, place)} if own else given

    def authorize(method: int) -> Any:
        async def begin(inputs: Mapping[str, str]) -> Any:
            given = await runner.ask("authorize", {**place, "method": method, "inputs": inputs})
            return {**given, "callback": partial(finish, given["signIn"])} if given.get("signIn") else given

        return begin

    async def finish(sign_in: int, code: str | None = None) -> Any:
        return await runner.ask("finish", {"signIn": sign_in, "code": code})

    methods = [
        {**method, "authorize": authorize(where) if method["authorize"] else None}
        for where, method in enumerate(one["methods"])
    ]
    return {"provider": one["provider"], "methods": methods, "loader": load if one["loader"] else None}


def _provider(runner: Runner, number: int, at: int, one: Message) -> dict[str, Any]:
    async def models(provider: Mapping[str, Any], context: Mapping[str, Any]) -> Any:
        message = {"plugin": number, "at": at, "provider": provider, "context": context}
        return await runner.ask("models", message)

    return {"id": one["id"], "models": models}


def _tool(runner: Runner, number: int, one: Message) -> ToolDefinition:
    name = one["name"]

    async def run(args: dict[str, Any], context: ToolContext) -> Output:
        call = _Call(runner, context)
        message = {"plugin": number, "tool": name, "args": args, "context": _told(context)}
        try:
            return _output(name, await runner.ask("call", message, call.hear))
        except (Failed, Gone) as error:
            raise (call.refusal or ToolError(f"The tool failed: {error}")) from error

    return tool(name, one["description"], one["parameters"])(run)


def _told(context: ToolContext) -> dict[str, str]:
    return {
        "sessionID": context.session_id,
        "messageID": context.message_id,
        "callID": context.call_id,
        "agent": context.agent,
        "directory": str(context.directory),
        "worktree": str(context.worktree),
    }


def _output(name: str, given: Any) -> Output:
    if isinstance(given, Mapping):
        title, text = str(given.get("title") or name), str(given.get("output", ""))
        return title, text, given.get("metadata") or {}, given.get("attachments") or ()
    return str(given)


class _Call:
    """What a call of a tool asks and shows while it runs."""

    def __init__(self, runner: Runner, context: ToolContext) -> None:
        self._runner = runner
        self._context = context
        self.refusal: Exception | None = None

    async def hear(self, message: Message) -> None:
        if shown := message.get("shown"):
            await self._context.update(title=shown.get("title"), metadata=shown.get("metadata"))
            return
        asked, refused = message["ask"], ""
        try:
            await self._context.ask(asked["permission"], asked["patterns"], asked.get("always", ()))
        except (NotPermitted, ToolError) as error:
            self.refusal, refused = error, str(error)
        await self._runner.answer(call=message["call"], question=message["question"], refused=refused)
