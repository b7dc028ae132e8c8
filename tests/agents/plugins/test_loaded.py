"""The plugins of a folder, loaded once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from agents.plugins.loaded import Loaded, load_here
from agents.plugins.loops import Loop
from sessions.core.models import Session

LOADS: list[str] = []
LOADING, GO = threading.Event(), threading.Event()

CODE = """
import asyncio
from tests.agents.plugins.test_loaded import GO, LOADING, LOADS

async def plugin(ctx):
    LOADS.append("{0}")
    if "{0}" == "b":
        LOADING.set()
        while not GO.is_set():
            await asyncio.sleep(0)

    async def event(input):
        pass

    return {{"event": event}}
"""


async def test_plugins_can_be_switched_off_and_tools_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugin").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "plugin" / "one.py").write_text("async def plugin(ctx):\n    return {}\n")
    (tmp_path / "tools" / "two.py").write_text("")
    monkeypatch.setattr(settings, "CONFIG_DIRS", [tmp_path / "none", tmp_path])
    (project := tmp_path / "project").mkdir()
    loaded, session = Loaded(), Session(id="", project_id="project", directory=str(project))
    await loaded.refresh(session)
    assert [plugin.file.stem for plugin in loaded.plugins.values()] == ["one", "two"]
    monkeypatch.setenv("OPENCODE_PURE", "1")
    await loaded.refresh(session)
    assert [plugin.file.stem for plugin in loaded.plugins.values()] == ["two"]
    loaded.close()


async def test_a_stop_while_one_loads_has_none_loaded_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plugin"
    folder.mkdir()
    monkeypatch.setattr(settings, "CONFIG_DIRS", [tmp_path])
    for name in "ab":
        (folder / f"{name}.py").write_text(CODE.format(name))
    loaded, session = Loaded(), Session(id="", project_id="project", directory=str(tmp_path))
    stopped = asyncio.create_task(loaded.refresh(session))
    assert await asyncio.to_thread(LOADING.wait, 20)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    GO.set()
    await loaded.refresh(session)
    assert LOADS == ["a", "b"]
    assert [plugin.file.stem for plugin in loaded.plugins.values()] == ["a", "b"]
    loaded.close()


@contextmanager
def running_elsewhere() -> Iterator[asyncio.AbstractEventLoop]:
    loop, runs = asyncio.new_event_loop(), threading.Event()
    loop.call_soon(runs.set)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runs.wait()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def test_any_loop_has_them_loaded_on_that_of_the_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plugin"
    folder.mkdir()
    monkeypatch.setattr(settings, "CONFIG_DIRS", [tmp_path])
    (folder / "c.py").write_text(CODE.format("c"))
    turns = Loop()
    monkeypatch.setattr("agents.plugins.loaded.turns", turns)
    with running_elsewhere() as loop:
        turns.run(loop)
        here = [load_here(tmp_path) for _ in range(20)]
        there = [turns.ask(load_here(tmp_path)) for _ in range(20)]
        await asyncio.gather(*here, *there)
    assert LOADS.count("c") == 1
    await load_here(tmp_path)  # where nothing runs any more, nobody waits for it
    loop.close()
    assert not turns
