from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from opencode_web.bridge.remote.client import USERNAME, Address
from opencode_web.bridge.remote.launcher import Child, probe
from tests import opencode
from tests.loopback.openai import OpenAIServer
from tests.opencode_web.bridge.stage import Stage, bridged
from tests.protocol.conftest import repository
from tests.protocol.served import Script
from tests.server import PASSWORD, Server, model_config

PERMISSION = {"*": "allow", "bash": "ask"}


@pytest_asyncio.fixture(
    scope="session", loop_scope="session", params=["ours", pytest.param("OpenCode", marks=pytest.mark.long)]
)
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, user_environ: dict[str, str]
) -> AsyncIterator[Stage]:
    """A server, ours or OpenCode's, shared by all tests here; shell commands need a permission in it."""
    home, project = tmp_path_factory.mktemp("home"), repository(tmp_path_factory.mktemp("project"))
    script = Script()
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission=PERMISSION)
        serving = (
            _ours(home, project, config)
            if request.param == "ours"
            else _opencode(home, project, config, user_environ)
        )
        async with serving as url:
            environ = {
                "HOME": str(home),
                "OPENCODE_BASE_URL": url,
                "OPENCODE_SERVER_PASSWORD": PASSWORD,
            }
            async with bridged(environ, project) as tools:
                yield Stage(request.param, tools, model, script, project, environ)


@asynccontextmanager
async def _ours(home: Path, project: Path, config: dict[str, Any]) -> AsyncIterator[str]:
    server = Server(home, project, config)
    await asyncio.to_thread(server.start)
    try:
        yield server.url
    finally:
        await asyncio.to_thread(server.stop)


def _opencode(
    home: Path, project: Path, config: dict[str, Any], environ: dict[str, str]
) -> AbstractAsyncContextManager[str]:
    return _running(
        str(opencode.program(environ)), opencode.environment(home, PASSWORD, config), str(project)
    )


@asynccontextmanager
async def _running(program: str, environ: dict[str, str], project: str) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    where = Address(f"http://127.0.0.1:{port}", USERNAME, PASSWORD)
    command = [program, "serve", "--hostname", "127.0.0.1", "--port", str(port)]
    child = await Child.start(command, environ, project)

    async def answers() -> bool:
        return await probe(where) == "answers"

    try:
        await child.ready(answers)
        yield where.url
    finally:
        await child.end()
