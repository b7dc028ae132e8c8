"""`python -m bench.walks [--files]` counts the files of this project that a use case enters, each for the
first time in a process of its own.

Pages are asked without the rooms around them (guard, API). What imports do is not counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
ROOMS = tuple(f"{ROOT / room}{os.sep}" for room in ("agents", "opencode_web", "sessions"))
PATIENCE = 30.0
LINES = [f"line {number}\n" for number in range(40)]
EDITED = "".join(LINES).replace("line 5\n", "line five\n").replace("line 30\n", "")


class Walk:
    """What is entered while it is on, in every thread."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._on = False

    def follow(self) -> None:
        """Call it before the first thread is started."""
        threading.setprofile(self._entered)
        sys.setprofile(self._entered)

    @contextmanager
    def on(self) -> Iterator[None]:
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def _entered(self, frame: FrameType, event: str, _: Any) -> None:
        if self._on and event == "call" and frame.f_code.co_name != "<module>":
            file = frame.f_code.co_filename
            if file.startswith(ROOMS):
                self.files.add(os.path.relpath(file, ROOT))


async def reviewed() -> tuple[Any, Any, str]:
    """A project with a turn that changed a file, its session, and the prompt."""
    from tests.sessions.changes.review.world import World

    folder = Path(os.environ["HOME"]) / "project"
    world = await World.open(folder)
    world.write("a.txt", "".join(LINES))
    session = await world.session()
    return world, session, await world.turn(session, {"a.txt": EDITED})


async def pressed(walk: Walk, url: str, form: dict[str, str]) -> str:
    from django.test import AsyncClient

    client = AsyncClient()
    with walk.on():
        answer = await client.post(url, form)
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


async def hunk(walk: Walk, verb: str, **form: str) -> Any:
    from django.test import AsyncClient

    world, session, _ = await reviewed()
    base = f"/p/{world.project.id}/s/{session.id}/review"
    panel = (await AsyncClient().get(base)).content.decode()
    first = re.findall(r'data-hunk="([^"]+)"', panel)[0]
    await pressed(walk, f"{base}/{verb}", {"scope": "session", "path": "a.txt", "hunk": first, **form})
    return world


async def undo_of_a_hunk(walk: Walk) -> None:
    world = await hunk(walk, "undo")
    assert "line 5\n" in (world.root / "a.txt").read_text()


async def keep_of_a_hunk(walk: Walk) -> None:
    await hunk(walk, "mark", kind="kept", on="1")


async def undo_of_a_turn(walk: Walk) -> None:
    world, session, prompt = await reviewed()
    await pressed(walk, f"/p/{world.project.id}/s/{session.id}/undo/{prompt}", {})
    assert (world.root / "a.txt").read_text() == "".join(LINES)


async def answer_of_a_permission(walk: Walk) -> None:
    from sessions.core.db import in_db
    from sessions.core.store import permissions

    _, session, _ = await reviewed()
    asked: dict[str, Any] = {"message_id": "", "call_id": "call", "agent": "build", "metadata": {}}
    asked |= {"permission": "bash", "patterns": ("git log -1",), "always": ("git log *",)}
    row = await in_db(permissions.ask, session, arguments_hash="seen", **asked)
    await pressed(walk, f"/permissions/{row.id}/reply", {"hash": "seen", "answer": "once"})


async def connect_of_mcp(walk: Walk) -> None:
    from agents.servers.mcp.hub import Hub
    from tests.agents.servers.mcp.watching import raw

    world, _, _ = await reviewed()
    os.environ["OPENCODE_CONFIG_CONTENT"] = json.dumps({"mcp": {"one": raw()}})
    hub = Hub()
    with walk.on():
        hub.connections(world.root)
        await hub.ready(world.root, PATIENCE)
    assert [str(state.status) for state in hub.statuses(world.root).values()] == ["connected"]
    await hub.close()


async def edit_asked_and_allowed(walk: Walk) -> None:
    """A whole turn, from the prompt to its end."""
    from opencode_web.site import background
    from sessions.changes import actions
    from sessions.core import bus
    from tests.loopback.openai import OpenAIServer
    from tests.loopback.script import ToolUse, Turn
    from tests.server import model_config

    world, session, _ = await reviewed()
    edit = {"filePath": "a.txt", "oldString": "line five\n", "newString": "line 5\n"}
    turns = [Turn(tools=[ToolUse("edit", edit)]), Turn(text="Done.")]
    async with OpenAIServer(turns) as model:
        config = model_config(model.base_url, permission={"edit": "ask"}, formatter=False)
        os.environ["OPENCODE_CONFIG_CONTENT"] = json.dumps(config)
        await background.start()
        async with bus.subscribe(project=session.project_id) as told:
            with walk.on():
                await actions.prompt(session, [{"type": "text", "text": "Edit it."}])
                asked = await _told(told, "permission.asked")
                await actions.reply(asked["id"], "once")
                await _told(told, "session.idle")
        await background.stop()
    assert (world.root / "a.txt").read_text() != EDITED


async def _told(told: Any, type: str) -> dict[str, Any]:
    """What the next event of a type says."""
    while True:
        events = await told.take(PATIENCE)
        assert events, f"there was no {type}"
        for event in events:
            if event.type == type:
                return dict(event.properties)


WALKS: dict[str, tuple[Callable[[Walk], Awaitable[None]], int]] = {
    "undo of a hunk": (undo_of_a_hunk, 18),
    "keep of a hunk": (keep_of_a_hunk, 15),
    "undo of a turn": (undo_of_a_turn, 16),
    "answer of a permission": (answer_of_a_permission, 14),
    "connect of an MCP server": (connect_of_mcp, 16),
    "edit asked and allowed": (edit_asked_and_allowed, 90),
}
"""By name what is walked, and how many files it is to enter at most."""


def walked(name: str) -> list[str]:
    """The files that a walk enters; in this process, which has no other."""
    walk = Walk()
    walk.follow()
    os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from sessions.core.db import in_db_sync

    settings.ROOT_URLCONF, settings.MIDDLEWARE, settings.ALLOWED_HOSTS = "sessions.web.urls", [], ["*"]
    subprocess.run(["git", "init", "-q", f"{os.environ['HOME']}/project"], check=True)
    for module in ("opencode_web.site.background", settings.ROOT_URLCONF):
        import_module(module)
    in_db_sync(call_command, "migrate", verbosity=0)
    asyncio.run(WALKS[name][0](walk))  # type: ignore[arg-type]
    return sorted(walk.files)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(walked(sys.argv[2])))
        return
    for name, (_, goal) in WALKS.items():
        with tempfile.TemporaryDirectory() as home:
            environ = {"PATH": os.environ["PATH"], "HOME": home, "XDG_DATA_HOME": f"{home}/data"}
            command = [sys.executable, "-m", "bench.walks", "--one", name]
            done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}: failed\n{done.stderr[-2000:]}")
            continue
        files = json.loads(done.stdout.splitlines()[-1])
        print(f"{name}: {len(files)} files (goal {goal})")
        if "--files" in sys.argv:
            print("\n".join(f"    {file}" for file in files))


if __name__ == "__main__":
    main()
