"""What takes its time with a remote: its words as they come, and a way to stop it. It goes on when the page
that asked for it is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from django.utils.translation import gettext

from agents.web.git.place import Place
from sessions.changes.git.command import Git, GitError, Watch
from sessions.rendering.html import html

Act = Callable[[Git, Watch], str]


@dataclass(eq=False, slots=True)
class Run:
    """`name` is the act, in a word of git's."""

    name: str
    watch: Watch
    words: asyncio.Queue[str | None]
    task: asyncio.Task[str] = field(init=False)

    async def told(self) -> AsyncIterator[str]:
        """Lines of JSON: `said` is all that was said so far, and the last one has `html`, what came of it."""
        while (said := await self.words.get()) is not None:
            yield json.dumps({"said": said}) + "\n"
        try:
            shown = html("git/said.html", said=await self.task or gettext("Done."))
        except GitError as error:
            yield json.dumps({"html": html("git/refused.html", message=str(error)), "failed": True}) + "\n"
        else:
            yield json.dumps({"html": shown}) + "\n"


_runs: dict[str, Run] = {}
"""By project. One at a time: git would have them wait for each other."""


def of(place: Place) -> Run | None:
    """What runs there."""
    return _runs.get(place.project.id)


def begin(place: Place, name: str, act: Act) -> Run:
    """Raises GitError where something runs already."""
    key = place.project.id
    if key in _runs:
        raise GitError(
            gettext("git %(name)s is running here: wait for it, or stop it.") % {"name": _runs[key].name}
        )
    loop, words = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def heard(said: str) -> None:
        loop.call_soon_threadsafe(words.put_nowait, said)

    run = Run(name, Watch(heard), words)
    _runs[key] = run

    def ended(task: asyncio.Task[str]) -> None:
        del _runs[key]
        words.put_nowait(None)
        if not task.cancelled():
            task.exception()  # whoever asked may be gone, and then nobody takes it

    run.task = asyncio.create_task(place.work(lambda git: act(git, run.watch)))
    run.task.add_done_callback(ended)
    return run


def stop(place: Place) -> None:
    """Raises GitError where nothing runs any more."""
    run = of(place)
    if run is None:
        raise GitError(gettext("Nothing runs any more."))
    run.watch.stop()


def stop_all() -> None:
    """When the server ends."""
    for run in _runs.values():
        run.watch.stop()
