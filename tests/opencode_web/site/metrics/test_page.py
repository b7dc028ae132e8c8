"""Metrics, readiness and the log of a real server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import httpx

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.cli.test_worker_process import end_worker, start_worker
from tests.redis_server import RedisServer
from tests.runtime.conftest import home, project
from tests.server import PASSWORD, Server, model_config, running

__all__ = ["home", "project"]

TOKEN = "a token for metrics"
ENVIRON = {
    "OPENCODE_WEB_METRICS": "1",
    "OPENCODE_WEB_METRICS_TOKEN": TOKEN,
    "OPENCODE_WEB_LOG": "json",
}


async def metrics(client: Client) -> dict[str, float]:
    text = (await client.http.get("/metrics")).text
    pairs = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.M)
    return {name: float(value) for name, value in pairs}


async def until_counted(client: Client) -> dict[str, float]:
    """What there is when one turn has been counted."""
    async with asyncio.timeout(30):
        while (seen := await metrics(client)).get('opencode_web_turns_ended_total{kind="done"}') != 1:
            pass
    return seen


async def test_a_turn_is_seen_and_nothing_it_is_called_by(home: Path, project: Path) -> None:
    turns = iter([Turn(tools=[ToolUse("bash", {"command": "true"})]), Turn(text="Done.")])
    async with OpenAIServer(lambda _: next(turns)) as model:
        server = Server(home, project, model_config(model.base_url), ENVIRON)
        async with running(server) as client:
            session = await client.create_session("a secret title")
            async with client.events():
                assert (await metrics(client))['opencode_web_open{kind="stream"}'] == 1
            await client.prompt(session["id"], "a secret prompt")
            seen = await until_counted(client)
            text = (await client.http.get("/metrics")).text
    assert seen['opencode_web_calls_total{tool="bash",status="completed"}'] == 1
    assert seen['opencode_web_tokens_total{model="fake/fake",kind="input"}'] == 20
    assert seen['opencode_web_turns{state="running"}'] == 0
    assert seen['opencode_web_turns{state="waiting_permission"}'] == 0
    assert seen["opencode_web_deltas_total"] >= 1
    assert seen["opencode_web_database_round_trip_seconds"] > 0
    assert seen["process_resident_memory_bytes"] > 10_000_000
    assert seen['opencode_web_disk_bytes{kind="database"}'] > 0
    assert "secret" not in text
    assert project.name not in text


async def test_a_server_counts_the_turns_of_its_workers(
    redis: RedisServer, home: Path, project: Path
) -> None:
    environ = {**ENVIRON, "REDIS_URL": redis.url, "OPENCODE_WEB_BASE_PATH": "/agent"}
    async with OpenAIServer(lambda _: Turn(text="Done.")) as model:
        server = Server(home, project, model_config(model.base_url), environ)
        await asyncio.to_thread(server.start, "--no-worker")
        worker = await start_worker(server)
        try:
            async with server.client() as client:
                assert (await client.http.get("/ready")).status_code == 204
                session = await client.create_session()
                await client.prompt(session["id"], "Say something.")
                await until_counted(client)
        finally:
            await asyncio.to_thread(end_worker, worker)
            await asyncio.to_thread(server.stop)


async def test_who_may_see_them_and_who_is_told_that_it_is_ready(home: Path, project: Path) -> None:
    server = Server(home, project, environ=ENVIRON)
    async with running(server), httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert (await client.get("/metrics")).status_code == 401
        found = await client.get("/metrics", headers=bearer)
        assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
        for path in ("/session", "/settings", "/ready/"):
            assert (await client.get(path, headers=bearer)).status_code == 401
        assert (await client.post("/metrics", headers=bearer)).status_code == 401
        ready = await client.get("/ready")
        assert (ready.status_code, ready.content) == (204, b"")
        assert (await client.post("/ready")).status_code in (401, 403)

        named = await client.get("/ready", headers={"X-Request-ID": "proxy-17"})
        assert named.headers["x-request-id"] == "proxy-17"
        hostile = await client.get("/session", headers={"X-Request-ID": 'a" onload=<b>'})
        assert re.fullmatch("[0-9a-f]{16}", hostile.headers["x-request-id"])
    lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
    (line,) = (line for line in lines if line.get("request_id") == "proxy-17" and "access" in line["logger"])
    assert line["message"].startswith("GET /ready 204")
    assert line["level"] == "INFO"


async def test_without_the_variable_there_are_none(home: Path, project: Path) -> None:
    server = Server(home, project)
    async with running(server), httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answer = await client.get("/metrics", auth=("opencode", PASSWORD))
        assert answer.status_code == 404


async def test_an_unknown_form_of_the_log_is_told(home: Path, project: Path) -> None:
    done = Server(home, project, environ={"OPENCODE_WEB_LOG": "xml"}).command("serve", "--port", "0")
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "opencode-web: OPENCODE_WEB_LOG is text or json, not 'xml'",
    )
