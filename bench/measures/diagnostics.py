"""What the diagnostics of a warm language server add to an edit, beyond the time that it takes itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench import project
from bench.lab import Lab
from bench.measures.tools import per_call
from bench.stats import median
from bench.turns import Driver, driving
from tests.loopback.script import ToolUse
from tests.programs import pypi

FILES = 3
EDITED = 1
WARM = 5
"""Edits before it is measured: a server's first answers cost several times as much as the rest."""


async def measure(lab: Lab) -> dict[str, float]:
    program = await asyncio.to_thread(pypi, "basedpyright", "basedpyright-langserver", os.environ)
    command = [str(program), "--stdio"]
    folder = lab.folder / "diagnosed"
    if not folder.exists():
        await asyncio.to_thread(project.build, folder, FILES)
    own = await _own(command, project.file(folder, EDITED), lab.count(20))
    on = {"basedpyright": {"command": command, "extensions": [".py"]}, "pyright": {"disabled": True}}
    with_it = await _edits(lab, folder, {"lsp": on})
    without = await _edits(lab, folder, {"lsp": False})
    return {
        "edit tool step, language servers off (ms per call)": without,
        "edit tool step, one that is warm (ms per call)": with_it,
        "added by it beyond its own time (ms per call)": with_it - without - own,
    }


async def _edits(lab: Lab, folder: Path, config: Mapping[str, object]) -> float:
    """The time of an edit, in a session in which the file was read and edited before."""
    edited = project.file(folder, EDITED)
    read = ToolUse("read", {"filePath": str(edited)})
    edits = [ToolUse("edit", _replace(edited, index)) for index in range(WARM + 1 + lab.count(20))]
    async with lab.server(folder=folder, config=config) as server, driving(server.client) as driver:
        await driver.warm_up()
        await _run(driver, [read, *edits[:WARM]])
        return await per_call(driver, edits[WARM:], before=[read])


async def _run(driver: Driver, uses: list[ToolUse]) -> None:
    await per_call(driver, uses[:2])
    await per_call(driver, uses[2:])


def _replace(path: Path, index: int) -> dict[str, str]:
    old = project.line(EDITED, index)
    return {"filePath": str(path), "oldString": old, "newString": f"{old}  # changed"}


async def _own(command: list[str], file: Path, count: int) -> float:
    """Milliseconds from a change to the diagnostics of that file, asked for (it pushes later, to let a person
    type), with nothing of ours between."""
    text = await asyncio.to_thread(file.read_text)
    times = []
    async with _speaking(command, file.parent) as server:
        await server.changed(file.as_uri(), 1, text)
        for version in range(2, 2 + WARM + count):
            text = text.replace(project.line(EDITED, version), f"{project.line(EDITED, version)}  # changed")
            begun = time.perf_counter()
            await server.changed(file.as_uri(), version, text)
            times.append((time.perf_counter() - begun) * 1000)
    return median(times[WARM:])


class _Speaking:
    """The least of the protocol that makes a server look at a file."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    async def changed(self, uri: str, version: int, text: str) -> None:
        """Until it has answered what is wrong in this version."""
        document = {"uri": uri, "version": version}
        if version == 1:
            opened = {**document, "languageId": "python", "text": text}
            self.send("textDocument/didOpen", {"textDocument": opened})
        else:
            change = {"textDocument": document, "contentChanges": [{"text": text}]}
            self.send("textDocument/didChange", change)
        self.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, id=version)
        await self.answered(version)

    async def answered(self, id: int) -> None:
        while True:
            message = await self.heard()
            if "method" not in message and message.get("id") == id:
                return

    def send(self, method: str, params: Any, **more: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self._input.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))

    async def heard(self) -> dict[str, Any]:
        """The next message; what the server asks is answered with nothing."""
        length = 0
        while line := (await self._output.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(await self._output.readexactly(length))
        if "id" in message and "method" in message:
            asked = (message.get("params") or {}).get("items")
            answer: list[Any] | None = [{} for _ in asked] if asked else None
            data = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode()
            self._input.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        return message


@asynccontextmanager
async def _speaking(command: list[str], folder: Path) -> AsyncIterator[_Speaking]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdin=pipe, stdout=pipe, limit=2**24, start_new_session=True
    )
    try:
        server = _Speaking(process)
        abilities = {"textDocument": {"diagnostic": {"dynamicRegistration": False}}}
        root = {"rootUri": folder.as_uri(), "workspaceFolders": [{"uri": folder.as_uri(), "name": "bench"}]}
        server.send("initialize", {"processId": None, "capabilities": abilities, **root}, id=1)
        await server.answered(1)
        server.send("initialized", {})
        yield server
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # the program of PyPI is one that starts another
        await process.wait()
