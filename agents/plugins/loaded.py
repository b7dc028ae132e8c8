"""The plugins and files of tools in force in a folder: loaded once, and anew when their content changes."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from agents.config.check import check
from agents.config.configuration import change, written
from agents.config.javascript import found as runtime
from agents.config.loader import Loaded as Configuration
from agents.config.plugins import entries as named
from agents.config.plugins import entry_of, path_of
from agents.config.trust.code import CodeFile, code_files, is_trusted
from agents.config.trust.store import digest
from agents.llm.accounts.keeping import entries
from agents.llm.accounts.plugged import add
from agents.llm.auth import Entry
from agents.plugins import faults
from agents.plugins.auth import plugged
from agents.plugins.javascript.load import is_javascript, lay_out, load_javascript
from agents.plugins.javascript.packages import package_of
from agents.plugins.javascript.runner import Runner
from agents.plugins.loops import turns
from agents.plugins.models import with_models
from agents.plugins.plugin import Place, Plugin, Source, load_plugin
from sessions.core import bus, variables
from sessions.core.bounded import Bounded
from sessions.core.models import Session
from sessions.core.repository import Repository
from sessions.core.sentences import Sentence

# Bring the events of a project to a plugin's `event` hook, without ever holding up who publishes them.

WAITING = 1000
"""Events that may wait for a slow plugin; when there are more, all that wait are passed over."""


class Pump:
    """Runs on the loop that made it, until it is closed."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while "event" in self._plugin.hooks:
            project = self._plugin.place.project_id
            async with bus.subscribe(project=project, limit=WAITING, wants=_wants) as mailbox:
                await self._pass_on(mailbox)
            if mailbox.overflowed:
                self._plugin.fault(
                    "event",
                    Sentence("was too slow: %(waiting)s events that waited are passed over", waiting=WAITING),
                )

    async def _pass_on(self, mailbox: bus.Subscription) -> None:
        """Until the mailbox has overflowed."""
        while not mailbox.overflowed:
            for event in await mailbox.take():
                told = {"id": event.id, "type": event.type, "properties": event.properties}
                if "event" not in self._plugin.hooks:
                    return
                await self._plugin.run("event", {"event": told}, None)


def _wants(event: bus.Event) -> bool:
    """Not the news of a plugin's own failure, which would make it fail again."""
    return event.type != "plugin.failed"


logger = logging.getLogger(__name__)

GROUP = "opencode_web.plugins"
MAX_FOLDERS = 64

Key = tuple[str, str]
"""What a plugin is loaded from: its path and digest, or the name and value of its entry point."""


class FolderGone(Exception):
    """There is no folder any more to load plugins of."""


@dataclass(slots=True)
class Loaded:
    """Of one folder. `refresh` runs on the turns' loop; one at a time."""

    plugins: dict[Key, Plugin] = field(default_factory=dict)
    fresh: bool = False
    _shown: tuple[Configuration, Mapping[str, Entry]] | None = None
    """What plugins have made a configuration of: that of the files, and what is kept of their providers."""
    _pumps: dict[Key, Pump] = field(default_factory=dict)
    _runner: Runner | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _task: asyncio.Task[None] | None = None

    async def refresh(self, session: Session) -> None:
        """Load what is new or changed, end what is gone or no longer trusted; in the order of the sources.
        Undisturbed by a stop: what has begun to load is there the next time. Raises FolderGone."""
        self._task = asyncio.create_task(self._refresh(session))
        await asyncio.shield(self._task)

    async def _refresh(self, session: Session) -> None:
        async with self._lock:
            running = {key: plugin.source for key, plugin in self.plugins.items()}
            worktree, wanted, shown = await asyncio.to_thread(_look, Path(session.directory), running)
            place = Place(Path(session.directory), worktree, session.project_id, session.id)
            before = list(self.plugins)
            if self._javascript() != [key for key, source in wanted.items() if is_javascript(source)]:
                self._end_javascript()
                await self._lay_out(place, wanted.values())
            for key in [key for key in self.plugins if key not in wanted]:
                self._end(key)
            for key, source in wanted.items():
                if key not in self.plugins:
                    self.plugins[key] = await self._begin(key, place, source)
            if before != list(wanted):
                self.plugins = {key: self.plugins[key] for key in wanted}
                add(place.directory, plugged(self.plugins.values()))
                self._shown = None
            await self._configure(place, shown)
            self.fresh = True

    async def _lay_out(self, place: Place, sources: Collection[Source]) -> None:
        try:
            await asyncio.to_thread(lay_out, place.directory, sources)
        except OSError as error:
            where = Path(error.filename or place.directory)
            message = f"is not loaded: {error}"
            faults.record(place.directory, place.project_id, where, "", message, session_id=place.session_id)

    async def _configure(self, place: Place, shown: Configuration) -> None:
        """Each plugin is shown what the one before it made of the configuration. What does not fit is left
        out, and said of the plugin."""
        listed = {provider.get("id") for plugin in self.plugins.values() for provider in plugin.providers}
        kept = {name: entry for name, entry in (await entries()).items() if name in listed} if listed else {}
        if self._shown is not None and self._shown[0] is shown and self._shown[1] == kept:
            return
        config, self._shown = shown.config, (shown, kept)
        for plugin in [one for one in self.plugins.values() if "config" in one.hooks or one.providers]:
            values = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
            told = await plugin.run("config", values, None) if "config" in plugin.hooks else None
            made = await with_models(plugin, values if told is None else told)
            if made != values:
                config, _, wrong = check(made)
                for path, message in wrong:
                    plugin.fault("config", f"{'.'.join(map(str, path))}: {message}")
        change(place.directory, shown, config)

    async def _begin(self, key: Key, place: Place, source: Source) -> Plugin:
        if is_javascript(source):
            plugin = await load_javascript(place, source, await self._running(place))
        else:
            plugin = await load_plugin(place, source)
        if "event" in plugin.hooks:
            self._pumps[key] = Pump(plugin)
        if plugin.hooks or plugin.tools:
            added = {"id": plugin.file.stem}
            bus.publish(
                bus.Event("plugin.added", added, project_id=place.project_id, directory=str(place.directory))
            )
        return plugin

    async def _running(self, place: Place) -> Runner:
        if self._runner is None:
            known = await asyncio.to_thread(runtime)
            self._runner = Runner(known.program if known else (), place.directory)
        return self._runner

    def _javascript(self) -> list[Key]:
        return [key for key, plugin in self.plugins.items() if is_javascript(plugin.source)]

    def _end_javascript(self) -> None:
        """All of it: a module that was imported stays as it was for as long as its process runs."""
        for key in self._javascript():
            self._end(key)
        if self._runner is not None:
            self._runner.end()
            self._runner = None

    def _end(self, key: Key) -> None:
        if pump := self._pumps.pop(key, None):
            pump.close()
        self.plugins.pop(key).close()

    def close(self) -> None:
        for directory in {plugin.place.directory for plugin in self.plugins.values()}:
            add(directory, {})
        self._end_javascript()
        for key in list(self.plugins):
            self._end(key)


_loaded: Bounded[Path, Loaded] = Bounded(MAX_FOLDERS, Loaded.close)


async def refreshed(session: Session) -> Sequence[Plugin]:
    """The plugins of a session's folder as its files are now. Called at each step and each promotion; any
    loop may, and they are loaded on that of the turns."""
    return await turns.ask(_refreshed(session)) if turns.is_another else await _refreshed(session)


async def _refreshed(session: Session) -> Sequence[Plugin]:
    directory = Path(session.directory)
    known = _loaded.get(directory) or Loaded()
    _loaded[directory] = known  # the one used last is the last to go
    try:
        await known.refresh(session)
    except FolderGone:
        return []
    return list(known.plugins.values())


async def current(session: Session) -> Sequence[Plugin]:
    """The same without another look at the files, if there was one."""
    known = _loaded.get(Path(session.directory))
    if known is None or not known.fresh:
        return await refreshed(session)
    return list(known.plugins.values())


async def load_here(directory: Path, project_id: str = "") -> None:
    """Of a folder, whatever asks for it."""
    await refreshed(Session(id="", project_id=project_id, directory=str(directory)))


def _look(directory: Path, running: Mapping[Key, Source]) -> tuple[Path, dict[Key, Source], Configuration]:
    """The worktree around a folder, what is to run there, and its configuration. Raises FolderGone."""
    try:
        worktree = Repository.of(directory).worktree
    except OSError as error:
        raise FolderGone(directory) from error
    return worktree, _sources(directory, running), written(directory)


def _sources(directory: Path, running: Mapping[Key, Source]) -> dict[Key, Source]:
    """Installed packages, what the configuration names, the user's own files, the project's trusted ones.
    What cannot be read is left to the page that shows what waits for trust.

    Of JavaScript runs what was trusted, also while a change of it waits: whoever may write a part of a guard
    cannot end it by that. OPENCODE_PURE leaves all plugins out, and no tools.
    """
    pure = variables.PURE.is_true()
    found: dict[Key, Source] = {} if pure else {(point.name, point.value): point for point in installed()}
    files = [file for file in code_files(directory) if not (pure and file.kind == "plugin")]
    packages = {file.home: file.content for file in files if file.kind == "packages" and file.runs}
    able = {file.path: file for file in files if file.runs and file.kind in ("plugin", "tool")}
    changed = {file.path for file in files if file.kind in ("plugin", "tool")} - able.keys()
    for name, options in named([] if pure else written(directory).config.plugin):
        path = path_of(name, directory)
        if path is None:
            package = package_of(name, options)
            found[package.name, f"{package.version} {_text(options)}"] = package
        elif file := able.pop(entry_of(path), None):
            _add(found, replace(file, options=options), packages)
    for file in able.values():
        if not file.named:
            _add(found, file, packages)
    for key, source in running.items():
        if (
            isinstance(source, CodeFile)
            and is_javascript(source)
            and source.path in changed
            and is_trusted(directory, source)
        ):
            found[key] = source
    return found


def _add(found: dict[Key, Source], file: CodeFile, packages: Mapping[Path, bytes]) -> None:
    beside = b"" if file.in_python else packages.get(file.home, b"")
    parts = [file.digest, *(module.digest for module in file.modules), digest(beside), _text(file.options)]
    found[str(file.path), " ".join(parts)] = replace(file, packages=beside)


def _text(options: Mapping[str, Any]) -> str:
    return json.dumps(options, sort_keys=True)


@cache
def installed() -> tuple[EntryPoint, ...]:
    """The plugins of installed packages."""
    return tuple(entry_points(group=GROUP))
