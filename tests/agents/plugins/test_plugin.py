"""Plugins without a server: what is taken from a hook, how a thread is given up, how events are passed on."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agents.config.trust.code import CodeFile, Kind
from agents.plugins import faults
from agents.plugins.authors import Refused
from agents.plugins.host import Host, Hung, TimedOut
from agents.plugins.loaded import GROUP, WAITING, Pump
from agents.plugins.plugin import Place, Plugin, load_plugin
from sessions.core import bus
from tests.server import ROOT

Load = Callable[[str], Any]
PATIENCE = 20
PROMPT: dict[str, Any] = {"parts": [{"type": "text", "text": "x"}]}


@pytest_asyncio.fixture
async def load(tmp_path: Path) -> AsyncIterator[Load]:
    loaded: list[Plugin] = []

    async def made(code: str) -> Plugin:
        file = CodeFile("plugin", tmp_path / "p.py", "p.py", False, True, tmp_path, code.encode())
        loaded.append(await load_plugin(Place(tmp_path, tmp_path, "project"), file))
        return loaded[-1]

    yield made
    for plugin in loaded:
        plugin.close()


def said(folder: Path) -> list[str]:
    return [fault.message for fault in faults.faults(folder)]


async def test_a_plugin_changes_a_copy(load: Load) -> None:
    plugin = await load(
        "KEPT = []\n"
        "async def env(input, output):\n"
        "    input['cwd'] = 'changed'\n    output['env']['A'] = 'b'\n    KEPT.append(output)\n"
        "async def plugin(ctx):\n    return {'shell.env': env}\n"
    )
    input, output = {"cwd": "/x"}, {"env": {"C": "d"}}
    assert await plugin.run("shell.env", input, output) == {"env": {"C": "d", "A": "b"}}
    assert (input, output) == ({"cwd": "/x"}, {"env": {"C": "d"}})


@pytest.mark.parametrize(
    ("hook", "given", "line"),
    [
        ("shell.env", {"env": {}}, "output['env']['A=B'] = 'x'"),
        ("shell.env", {"env": {}}, "output['env']['A'] = 'x\\0'"),
        ("shell.env", {"env": {}}, "output['env']['A'] = 3"),
        ("chat.headers", {"headers": {}}, "output['headers']['x'] = 'a\\r\\nb: c'"),
        ("chat.message", {"parts": [{"type": "text", "text": "x"}]}, "output['parts'].clear()"),
        (
            "chat.message",
            {"parts": [{"type": "text", "text": "x"}]},
            "output['parts'].append({'type': 'no'})",
        ),
        ("chat.message", {"parts": [{"type": "text", "text": "x"}]}, "output['parts'].append({})"),
        ("experimental.chat.system.transform", {"system": ["a", "b"]}, "output['system'].clear()"),
        ("permission.ask", {"status": "ask"}, "output['status'] = 'maybe'"),
        ("tool.execute.after", {"title": "", "output": "", "metadata": {}}, "del output['title']"),
        ("tool.execute.before", {"args": {}}, "output['more'] = 1"),
        ("tool.execute.before", {"args": {}}, "output['args']['x'] = float('nan')"),
    ],
)
async def test_what_does_not_fit_is_refused_and_named(
    load: Load, tmp_path: Path, hook: str, given: dict[str, Any], line: str
) -> None:
    code = (
        f"async def hook(input, output):\n    {line}\nasync def plugin(ctx):\n    return {{{hook!r}: hook}}\n"
    )
    plugin = await load(code)
    assert await plugin.run(hook, {}, given) is None
    assert await plugin.run(hook, {}, given) is None
    (fault,) = faults.faults(tmp_path)
    assert (fault.key, fault.count) == (hook, 2)


async def test_the_module_can_use_its_own_annotations(load: Load, tmp_path: Path) -> None:
    await load(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\nfrom pydantic import BaseModel\n"
        "class Inner(BaseModel):\n    x: int\n"
        "class Outer(BaseModel):\n    inner: Inner\n"
        "@dataclass\nclass Data:\n    outer: Outer\n"
        "async def plugin(ctx):\n    Outer(inner={'x': 1})\n    return {}\n"
    )
    assert said(tmp_path) == []


async def test_an_installed_package_brings_a_plugin(tmp_path: Path) -> None:
    for value in ("tests.agents.plugins.packaged", "tests.agents.plugins.packaged:plugin"):
        point = EntryPoint("packaged", value, GROUP)
        plugin = await load_plugin(Place(tmp_path, tmp_path, "project"), point)
        assert await plugin.run("shell.env", {}, {"env": {}}) == {"env": {"PACKAGED": "project"}}
        plugin.close()
    missing = await load_plugin(
        Place(tmp_path, tmp_path, "project"), EntryPoint("x", "no_such_package", GROUP)
    )
    assert (missing.hooks, missing.tools) == ({}, [])
    assert "No module named" in said(tmp_path)[0]


async def test_a_thread_that_waits_goes_on_and_one_that_spins_is_given_up() -> None:
    host = Host("test")
    with pytest.raises(TimedOut):
        await host.call(lambda: asyncio.sleep(600), 0.05)
    assert await host.call(lambda: asyncio.sleep(0, "still there"), 5) == "still there"

    stopped = threading.Event()

    async def spin() -> None:
        try:
            while True:
                pass
        finally:
            stopped.set()

    with pytest.raises(Hung):
        await host.call(spin, 0.05)
    assert await asyncio.to_thread(stopped.wait, PATIENCE)  # the loop of Python was ended
    with pytest.raises(Hung):
        await host.call(lambda: asyncio.sleep(0), 5)


async def test_a_thread_that_ends_does_not_cancel_who_waits_for_it() -> None:
    host = Host("test")
    waiting = asyncio.create_task(host.call(lambda: asyncio.sleep(600), 600))
    assert await host.call(lambda: asyncio.sleep(0, "begun"), 5) == "begun"
    host.close()
    with pytest.raises(RuntimeError, match="cancelled"):
        await waiting


async def test_a_plugin_too_slow_for_its_events_never_holds_up_the_bus(load: Load, tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    plugin = await load(
        "import asyncio\nseen = []\n"
        "async def plugin(ctx):\n"
        "    async def event(input):\n"
        "        seen.append(input['event']['type'])\n"
        "        while (ctx.directory / 'gate').exists():\n            await asyncio.sleep(0.01)\n"
        "        (ctx.directory / 'seen').write_text(','.join(seen))\n"
        "    return {'event': event}\n"
    )
    pump = Pump(plugin)
    async with bus.subscribe() as news:
        await asyncio.sleep(0)  # the pump subscribes
        for _ in range(WAITING * 3):
            bus.publish(bus.Event("flood", {}, project_id="project"))
        (tmp_path / "gate").unlink()
        bus.publish(bus.Event("other", {}, project_id="another project"))
        async with asyncio.timeout(PATIENCE):
            while not any(event.type == "plugin.failed" for event in await news.take()):
                pass
            while "last" not in ((tmp_path / "seen").read_text() if (tmp_path / "seen").exists() else ""):
                bus.publish(bus.Event("last", {}, project_id="project"))
                await asyncio.sleep(0.01)
    pump.close()
    assert "too slow" in said(tmp_path)[0]
    assert "other" not in (tmp_path / "seen").read_text()


async def test_the_worked_examples_of_the_documentation_load(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "plugins.md").read_text()
    plugin, tools = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    loaded = []
    kinds: dict[Kind, str] = {"plugin": plugin, "tool": tools}
    for kind, code in kinds.items():
        file = CodeFile(kind, tmp_path / f"{kind}.py", f"{kind}.py", False, True, tmp_path, code.encode())
        loaded.append(await load_plugin(Place(tmp_path, tmp_path, "project"), file))
    assert said(tmp_path) == []
    assert sorted(loaded[0].hooks) == ["shell.env", "tool.execute.before"]
    assert [tool.name for tool in loaded[1].tools] == ["weather"]
    with pytest.raises(Refused, match="archive is closed"):
        await loaded[0].run("tool.execute.before", {}, {"args": {"filePath": "archive/x"}})
