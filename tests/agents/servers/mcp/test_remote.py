"""Connections by HTTP: to a server that nobody here wrote, over both transports, and to bad ones."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.servers.mcp.errors import ServerFailed
from tests.agents.servers.mcp.watching import connected, connecting
from tests.loopback.wire import HttpRequest, json_response, read_request, response
from tests.programs import npm
from tests.text_server import TextServer

Answer = Callable[[HttpRequest], bytes]
MB = 1024 * 1024


@asynccontextmanager
async def everything(kind: str, environ: Mapping[str, str], port: int = 0) -> AsyncIterator[int]:
    """server-everything over HTTP; its port."""
    program = npm("@modelcontextprotocol/server-everything", "mcp-server-everything", environ)
    if not port:
        async with TextServer() as free:
            port = free.port
    process = await asyncio.create_subprocess_exec(
        str(program),
        kind,
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        while b" on port " not in (line := await process.stderr.readline()):
            assert line, "the server ended"
        yield port
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    """A server that answers each request so; its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                writer.write(answer(request))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


def shaken(request: HttpRequest, then: Answer) -> bytes:
    """The handshake as it has to be, and something else afterwards."""
    if request.method != "POST":
        return response(405, "")
    message: dict[str, Any] = json.loads(request.body)
    if message["method"] == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "by hand", "version": "1"},
        }
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return json_response(200, answer, {"content-type": "application/json", "mcp-session-id": "one"})
    return response(202, "") if "id" not in message else then(request)


def listing(request: HttpRequest) -> bytes:
    answer = {"jsonrpc": "2.0", "id": json.loads(request.body)["id"], "result": {"tools": []}}
    return json_response(200, answer)


def remote(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "remote", "url": url, "oauth": False, **more}


@pytest.mark.parametrize(("kind", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
async def test_a_real_server_is_reached_and_reached_again(
    kind: str, path: str, user_environ: dict[str, str], tmp_path: Path
) -> None:
    async with everything(kind, user_environ) as port:
        config = remote(f"http://127.0.0.1:{port}{path}")
        opened = connected(config, tmp_path)
        server = await opened.__aenter__()
        assert "echo" in {tool.name for tool in server.connection.tools}
        assert server.connection.prompts
        assert server.connection.resources
        assert await server.tool("echo", message="hello") == "Echo: hello"
    try:
        if kind == "sse":  # its end is seen at once; that of the other when it is asked
            await server.until_status("failed")
        with pytest.raises(ServerFailed):
            await server.tool("echo", message="hello")
        async with everything(kind, user_environ, port):
            await server.until_status("connected")
            assert await server.tool("echo", message="again") == "Echo: again"
    finally:
        await opened.__aexit__(None, None, None)


async def test_both_failures_are_told(tmp_path: Path) -> None:
    async with TextServer("no", status=403) as web, connecting(remote(web.url), tmp_path) as server:
        state = (await server.until_status("failed")).state
        assert state.error.splitlines() == [
            "streamable HTTP: answered with 403 Forbidden",
            "SSE: answered with 403 Forbidden",
        ]
        assert {request.method for request in web.requests} == {"POST", "GET"}


async def test_nobody_there_is_said(tmp_path: Path) -> None:
    async with TextServer() as web:
        url = web.url
    async with connecting(remote(url), tmp_path) as server:
        assert "streamable HTTP: cannot be reached" in (await server.until_status("failed")).state.error


async def test_headers_do_not_follow_a_redirect_to_another_origin(tmp_path: Path) -> None:
    async with TextServer() as other:
        moved = response(307, "", {"location": other.url})
        async with (
            answering(lambda request: moved) as url,
            connecting(remote(url, headers={"X-Secret": "s3cret"}), tmp_path) as server,
        ):
            state = (await server.until_status("failed")).state
            assert "not followed" in state.error
            assert other.requests == []


async def test_an_answer_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    def huge(request: HttpRequest) -> bytes:
        return json_response(200, "x" * 17 * MB)

    async with (
        answering(lambda request: shaken(request, huge)) as url,
        connecting(remote(url), tmp_path) as server,
    ):
        state = (await server.until_status("failed")).state
        assert "sent an answer of more than 16 MB" in state.error


async def test_a_session_that_the_server_has_forgotten_begins_anew(tmp_path: Path) -> None:
    sessions = 0

    def answer(request: HttpRequest) -> bytes:
        nonlocal sessions
        if b'"initialize"' in request.body:
            sessions += 1
        if sessions == 1 and b'"tools/call"' in request.body:
            return response(404, "")
        return shaken(request, listing)

    async with (
        answering(answer) as url,
        connected(remote(url), tmp_path) as server,
    ):
        with pytest.raises(ServerFailed):
            await server.tool("anything")
        await server.until_status("failed")
        assert server.connection.state.error == "has forgotten the session"
        await server.until_status("connected")
        assert sessions == 2


async def test_a_server_that_is_gone_without_a_word_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.servers.mcp.link.remote.BEAT_SECONDS", 0.05)
    beats = 0

    def answer(request: HttpRequest) -> bytes:
        nonlocal beats
        if b'"ping"' in request.body:
            beats += 1
            return b"" if beats > 1 else json_response(200, {"jsonrpc": "2.0", "id": 99, "result": {}})
        return shaken(request, listing)

    async with (
        answering(answer) as url,
        connected(remote(url, timeout=100), tmp_path) as server,
    ):
        state = (await server.until_status("failed")).state
        assert "did not answer a ping" in state.error
