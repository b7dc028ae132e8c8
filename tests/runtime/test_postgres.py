"""A server whose rows are in a PostgreSQL: its start, turns, and a database that goes away meanwhile."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db.utils import ConnectionHandler
from psycopg import connect
from pytest_django import DjangoDbBlocker

from opencode_web import databases
from sessions.core.postgresql import base
from sessions.core.space import AWAY
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.postgres_server import PostgresServer
from tests.server import Server, model_config, parts_of, running, until

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}
ROWS = "rows"


def on(postgres: PostgresServer, home: Path, project: Path, config: dict[str, Any]) -> Server:
    """A server that begins with an empty database, or with what another one has left there."""
    if not postgres.has(ROWS):
        postgres.make(ROWS)
    return Server(home, project, config, {"OPENCODE_WEB_DATABASE": postgres.url(ROWS)})


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [part["text"] for part in parts_of(messages, "text")]


async def test_a_turn_runs_and_is_there_after_a_restart(
    home: Path, project: Path, postgres: PostgresServer
) -> None:
    script = [Turn(text="First.", tools=[ToolUse("edit", EDIT)]), Turn(text="Done, all of it.")]
    async with OpenAIServer(script) as model:
        server = on(postgres, home, project, model_config(model.base_url))
        async with running(server) as client:
            session = (await client.create_session(title="with a \0 in it"))["id"]
            await client.prompt(session, "Say goodbye \0 instead.")
            messages = await client.messages(session)
            assert texts(messages) == ["Say goodbye \ufffd instead.", "First.", "Done, all of it."]
            assert "goodbye" in (project / "hello.py").read_text()
            await client.revert(session, messages[0]["info"]["id"])
            assert "goodbye" not in (project / "hello.py").read_text()
            await client.unrevert(session)
            page = await client.http.get(f"/p/{(await client.session(session))['projectID']}/s/{session}")
            assert "Done, all of it." in page.text
        async with running(server) as client:
            assert await client.messages(session) == messages
    assert not (server.data / "db.sqlite3-wal").exists()


def test_starts_at_once_make_the_tables_once(tmp_path: Path, postgres: PostgresServer) -> None:
    postgres.make(ROWS)
    prepare = "import django; django.setup(); from opencode_web.site import database; database.prepare()"
    environ = {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "opencode_web.settings",
        "OPENCODE_WEB_DATABASE": postgres.url(ROWS),
    }
    starts = [subprocess.Popen([sys.executable, "-c", prepare], env=environ) for _ in range(3)]
    assert [start.wait() for start in starts] == [0, 0, 0]


async def test_another_installation_is_refused_meanwhile(
    tmp_path: Path, project: Path, postgres: PostgresServer
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (on(postgres, tmp_path / name, project, {}) for name in ("one", "two"))
    async with running(one) as client:
        session = (await client.create_session(title="of one"))["id"]
        with pytest.raises(RuntimeError, match="another installation"):
            await asyncio.to_thread(two.start)
    async with running(two) as client:
        assert (await client.session(session))["title"] == "of one"


def test_two_installations_may_make_databases_at_once(
    tmp_path: Path, postgres: PostgresServer, django_db_blocker: DjangoDbBlocker
) -> None:
    postgres.make(ROWS)
    entry = databases.configured({databases.VARIABLE: postgres.url(ROWS)}, tmp_path)
    rows = ConnectionHandler({"default": entry})["default"]
    with connect(postgres.url()) as another, django_db_blocker.unblock():
        another.execute(f"SELECT pg_advisory_lock_shared({base._INSTALLATION}, 1)")
        with rows._nodb_cursor() as cursor:
            cursor.execute("SELECT current_database()")
            assert cursor.fetchone() == ("postgres",)


async def test_a_restart_of_the_database_loses_nothing_of_a_turn(
    home: Path, project: Path, postgres: PostgresServer
) -> None:
    script = [
        Turn(
            text=["One ", Wait("stopped"), "two ", Wait("started"), "three."], tools=[ToolUse("edit", EDIT)]
        ),
        Turn(text="Done."),
    ]
    async with OpenAIServer(script) as model:
        server = on(postgres, home, project, model_config(model.base_url))
        async with running(server) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Say goodbye instead.")
            await until(events, "message.part.delta", delta="One ")
            await asyncio.to_thread(postgres.stop)
            model.gate("stopped").open()
            await until(events, "message.part.delta", delta="two ")
            asked = asyncio.create_task(client.session(session))
            await asyncio.to_thread(postgres.start)
            model.gate("started").open()
            await until(events, "session.idle", sessionID=session)
            assert (await asked)["title"] == "named"
            messages = await client.messages(session)
            assert texts(messages) == ["Say goodbye instead.", "One two three.", "Done."]
            assert [part["state"]["status"] for part in parts_of(messages, "tool")] == ["completed"]
            assert "goodbye" in (project / "hello.py").read_text()


async def test_connections_that_the_server_ended_are_replaced(
    home: Path, project: Path, postgres: PostgresServer
) -> None:
    async with running(on(postgres, home, project, {})) as client:
        session = (await client.create_session(title="before"))["id"]
        for number in range(3):
            await asyncio.to_thread(postgres.end_connections, ROWS)
            answer = await client.http.patch(f"/session/{session}", json={"title": f"after {number}"})
            assert answer.json()["title"] == f"after {number}"


@pytest.mark.long
async def test_a_database_that_stays_away_is_said_and_the_session_goes_on(
    home: Path, project: Path, postgres: PostgresServer
) -> None:
    script = [Turn(text=["kept ", Wait("stopped"), "lost"]), Turn(text="After.")]
    async with OpenAIServer(script) as model:
        server = on(postgres, home, project, model_config(model.base_url))
        server.environ = {**server.environ, "OPENCODE_WEB_LEASE_SECONDS": "1"}
        async with running(server) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Talk.")
            await until(events, "message.part.delta", delta="kept ")
            await asyncio.to_thread(postgres.stop)
            model.gate("stopped").open()
            for address in (f"/session/{session}", "/settings"):
                with pytest.raises(httpx.HTTPStatusError, match="503") as refusal:
                    await client.http.get(address)
                assert AWAY in refusal.value.response.text
            await asyncio.to_thread(postgres.start)
            await until(events, "session.idle", sessionID=session)
            await client.prompt(session, "And now?")
            assert texts(await client.messages(session))[-2:] == ["And now?", "After."]


async def test_what_hinders_a_start_is_said(home: Path, project: Path, postgres: PostgresServer) -> None:
    postgres.query(
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"
    )
    server = Server(home, project)

    def said(address: str) -> str:
        server.environ = {"OPENCODE_WEB_DATABASE": address}
        done = server.command("serve", "--port", "0")
        assert done.returncode == 1
        assert done.stderr.count("\n") <= 2, done.stderr
        return done.stderr

    assert 'database "nowhere" does not exist' in said(postgres.url("nowhere"))
    assert 'role "nobody" does not exist' in said(postgres.url().replace("postgres@", "nobody@"))
    assert "its texts are LATIN1" in said(postgres.url("latin"))
    assert "no address of a PostgreSQL" in said("mysql://host/rows")
    postgres.stop()
    try:
        assert "Is the server running" in said(postgres.url())
    finally:
        postgres.start()
