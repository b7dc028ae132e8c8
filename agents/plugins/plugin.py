"""One loaded plugin or file of tools: its module, its hooks, its tools, and the thread they run in."""

from __future__ import annotations

import asyncio
import copy
import inspect
import itertools
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from importlib.util import decode_source, module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Protocol, TypeVar

from django.conf import settings

from agents.config.trust.code import CodeFile
from agents.plugins import faults
from agents.plugins.authors import PluginContext, Refused, ToolDefinition
from agents.plugins.host import Host, Hung, TimedOut
from agents.plugins.shapes import HOOKS, TELLING, checked
from sessions.core.sentences import Sentence
from sessions.core.store.inbox import check as check_parts

MAX_TIMEOUTS = 3
"""A plugin that takes too long this often in a row is switched off, for each time costs the turn seconds."""

Hook = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Package:
    """One from npm, as `plugin` of the configuration names it; `version` may be a range or a tag."""

    name: str
    version: str
    options: Mapping[str, Any]


Source = CodeFile | EntryPoint | Package
Result = TypeVar("Result")
BEFORE = "tool.execute.before"
MESSAGE = "chat.message"


class Home(Protocol):
    """Where the code of a plugin runs, as `host.Host`."""

    async def call(self, function: Callable[[], Awaitable[Result]], seconds: float | None) -> Result: ...

    def close(self) -> None: ...


_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Place:
    """The folder a plugin works for, and its project. `session_id` is the session that made it load."""

    directory: Path
    worktree: Path
    project_id: str
    session_id: str = ""


@dataclass(slots=True)
class Plugin:
    """`file` names it for people, `told` is what was said of it once. One that could not be loaded has
    neither hooks nor tools. Where one `guards`, a call that it cannot be asked about is not made."""

    place: Place
    source: Source
    file: Path
    repository: bool
    host: Home
    module: str = ""
    guards: bool = False
    hooks: dict[str, Hook] = field(default_factory=dict)
    tools: list[ToolDefinition] = field(default_factory=list)
    auths: list[Mapping[str, Any]] = field(default_factory=list)
    """Each `auth` that it gave, whose functions are called as hooks are."""
    providers: list[Mapping[str, Any]] = field(default_factory=list)
    """Each `provider` that it gave, with its function `models`."""
    told: set[str] = field(default_factory=set)
    _timeouts: int = 0

    async def run(self, name: str, input: Mapping[str, Any], output: Mapping[str, Any] | None) -> Any:
        """What the hook made of a copy of `output`, or of `input` for `config`; None when it failed, which is
        then recorded.

        Raises Refused for `tool.execute.before` only.
        """
        session_id = str(input.get("sessionID") or "")
        given, made = copy.deepcopy(dict(input)), copy.deepcopy(output)
        arguments = (given,) if name in TELLING else (given, made)
        try:
            await self.host.call(lambda: self.hooks[name](*arguments), settings.HOOK_SECONDS)
            self._timeouts = 0
            if name in TELLING:
                return given if name == "config" else None
            return _checked(name, made)
        except Refused as refusal:
            if name == BEFORE:
                raise
            self.fault(name, Sentence("raised Refused: %(refusal)s", refusal=refusal), session_id=session_id)
        except TimedOut:
            self._late(name, session_id)
        except Hung:
            if self.hooks:
                self.switch_off(
                    name,
                    Sentence(
                        "blocked its thread for more than %(seconds)s s",
                        seconds=f"{settings.HOOK_SECONDS:g}",
                    ),
                    session_id,
                )
        except Exception as error:
            self.fault(
                name,
                Sentence("raised %(kind)s: %(error)s", kind=type(error).__name__, error=error),
                session_id=session_id,
                error=error,
            )
        if self.guards and name == BEFORE:
            raise Refused(f"The plugin {self.file.name} could not be asked whether this may be done.")
        return None

    def _late(self, name: str, session_id: str) -> None:
        self._timeouts += 1
        message = Sentence("did not return within %(seconds)s s", seconds=f"{settings.HOOK_SECONDS:g}")
        if self._timeouts < MAX_TIMEOUTS:
            self.fault(name, message, session_id=session_id)
        else:
            self.switch_off(
                name,
                Sentence("%(message)s, %(most)s times in a row", message=message, most=MAX_TIMEOUTS),
                session_id,
            )

    def switch_off(self, name: str, message: str, session_id: str) -> None:
        self.hooks = {name: hook for name, hook in self.hooks.items() if self.guards and name == BEFORE}
        self.host.close()
        self.fault(
            name,
            Sentence("%(message)s; the plugin is switched off until its file changes", message=message),
            session_id=session_id,
        )

    def fault(
        self,
        key: str,
        message: str,
        *,
        session_id: str = "",
        error: BaseException | None = None,
        line: int | None = None,
    ) -> None:
        faults.record(
            self.place.directory,
            self.place.project_id,
            self.file,
            key,
            message,
            session_id=session_id or self.place.session_id,
            error=error,
            line=line,
        )

    def close(self) -> None:
        self.host.close()
        if self.module:
            forget_module(self.module)
        faults.forget(self.place.directory, self.file)


def _checked(name: str, output: Any) -> dict[str, Any]:
    """Raises ValueError for what does not fit."""
    found = checked(name, output)
    if name in (MESSAGE, "command.execute.before"):
        check_parts(found["parts"])
    return found


async def load_plugin(place: Place, source: CodeFile | EntryPoint) -> Plugin:
    """Run the module, and its `plugin(ctx)` if it is no file of tools. What is wrong is recorded."""
    file = source.path if isinstance(source, CodeFile) else Path(source.value)
    name = f"opencode_web_plugin_{next(_numbers)}"
    repository = isinstance(source, CodeFile) and not source.own
    plugin = Plugin(place, source, file, repository, Host(file.stem), name)
    patience = 2 * settings.HOOK_SECONDS
    try:
        await plugin.host.call(lambda: _loaded(plugin), patience)
    except (TimedOut, Hung):
        plugin.switch_off("", Sentence("was not loaded within %(seconds)s s", seconds=f"{patience:g}"), "")
    except SyntaxError as error:
        plugin.fault("", Sentence("no Python: %(msg)s", msg=error.msg), line=error.lineno)
    except Exception as error:
        plugin.fault(
            "",
            Sentence("raised %(kind)s when it was loaded: %(error)s", kind=type(error).__name__, error=error),
            error=error,
        )
    if not (plugin.hooks or plugin.auths or plugin.providers):
        plugin.host.close()
    return plugin


async def _loaded(plugin: Plugin) -> None:
    """In the plugin's thread."""
    source = plugin.source
    assert not isinstance(source, Package), "that is no Python"
    module: Any = (
        make_module(plugin.module, str(plugin.file), source.content)
        if isinstance(source, CodeFile)
        else source.load()
    )
    if isinstance(source, CodeFile) and source.kind == "tool":
        plugin.tools = _defined(module)
        return
    begin = getattr(module, "plugin", module)
    if not inspect.iscoroutinefunction(begin):
        raise TypeError(Sentence("there is no `async def plugin(ctx)`"))
    place = plugin.place
    logger = logging.getLogger(f"{__name__}.{plugin.file.stem}")
    hooks = await begin(PluginContext(place.project_id, place.directory, place.worktree, logger))
    _take(plugin, dict(hooks or {}))


def _defined(module: ModuleType) -> list[ToolDefinition]:
    found = [value for value in vars(module).values() if isinstance(value, ToolDefinition)]
    if not found:
        raise TypeError(Sentence("there is no function with the decorator `tool(…)`"))
    return found


def _take(plugin: Plugin, hooks: dict[str, Any]) -> None:
    """A hook that cannot be used is named, and the others count."""
    tools = hooks.pop("tool", ())
    if isinstance(tools, list | tuple) and all(isinstance(item, ToolDefinition) for item in tools):
        plugin.tools = list(tools)
    else:
        plugin.fault("tool", Sentence("has to be a list of functions with the decorator `tool(…)`"))
    if "auth" in hooks:
        plugin.auths = [hooks.pop("auth")]
    if "provider" in hooks:
        plugin.providers = [hooks.pop("provider")]
    for name, hook in hooks.items():
        if name not in HOOKS:
            plugin.fault(str(name), Sentence("there is no hook of this name"))
        elif not asyncio.iscoroutinefunction(hook) and not asyncio.iscoroutinefunction(
            getattr(hook, "__call__", None)  # noqa: B004 - an object may have an async __call__
        ):
            plugin.fault(name, Sentence("has to be an async function"))
        else:
            plugin.hooks[name] = hook


class _Loader(InspectLoader):
    """Compiles the text that was trusted. The usual loader would read the file once more, and might take a
    compiled file beside it, which the user has never seen."""

    def __init__(self, content: bytes, path: str) -> None:
        self._content = content
        self._path = path

    def get_source(self, fullname: str) -> str:
        return decode_source(self._content)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._content, self._path)


def make_module(name: str, path: str, content: bytes) -> ModuleType:
    """Run the source as the module `name`, in the calling thread; `path` is for tracebacks.

    Whatever the module raises goes up; SyntaxError and UnicodeDecodeError for what is no Python. The module
    stays in `sys.modules`, where dataclasses and pydantic look up annotations, until `forget_module`.
    """
    loader = _Loader(content, path)
    module = module_from_spec(ModuleSpec(name, loader, origin=path))
    module.__file__ = path
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        forget_module(name)
        raise
    return module


def forget_module(name: str) -> None:
    sys.modules.pop(name, None)
