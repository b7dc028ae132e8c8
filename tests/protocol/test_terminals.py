"""`/pty` and `/api/pty`: terminals of real shells, over HTTP and their sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.protocol.served import Json, Served
from tests.server import PASSWORD, Server, running, until
from tests.sessions.terminals.shells import PATIENCE, is_running

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEADERS = {"Authorization": f"Bearer {PASSWORD}"}
TICKET = {"x-opencode-ticket": "1"}
BAD_REQUEST = "OpenCode's bad request is none of the declared errors"
PLUGIN = """
async def plugin(ctx):
    async def env(input, output):
        assert "sessionID" not in input
        output["env"].update(PLUGIN=input["cwd"], GIVEN="by the plugin", TERM="dumb")
    return {"shell.env": env}
"""
Frames = tuple[str, list[int], int | None]


@asynccontextmanager
async def socket(
    served: Served, path: str, headers: Json = HEADERS, **query: Any
) -> AsyncIterator[ClientConnection]:
    url = httpx.URL(served.server.url.replace("http:", "ws:") + path, params=query)
    async with connect(str(url), additional_headers=headers, proxy=None) as connection:
        yield connection


async def read(connection: ClientConnection, wanted: str = "") -> Frames:
    """Text, cursors and the close code; until the text has what is wanted, else until the end."""
    text, cursors = "", list[int]()
    async with asyncio.timeout(PATIENCE):
        try:
            while not wanted or wanted not in text:
                frame = await connection.recv()
                if isinstance(frame, str):
                    text += frame
                else:
                    assert frame[:1] == b"\0"
                    cursors.append(json.loads(frame[1:])["cursor"])
        except ConnectionClosed as closed:
            return text, cursors, closed.rcvd.code if closed.rcvd else None
    return text, cursors, None


async def ended(served: Served, terminal: Json) -> Json:
    """What the second protocol knows of a terminal whose program has exited."""
    async with socket(served, f"/api/pty/{terminal['id']}/connect") as connection:
        await read(connection)
    data: Json = (await served.get(f"/api/pty/{terminal['id']}"))["data"]
    return data


async def remove(served: Served, terminal: Json) -> None:
    await served.ask("DELETE", f"/api/pty/{terminal['id']}", status=204)


async def test_a_terminal_of_the_first_protocol(served: Served) -> None:
    """Made, listed, typed in, resized, renamed, removed, and each is told."""
    assert "/bin/sh" in [shell["path"] for shell in await served.get("/pty/shells")]
    async with served.client.events() as events:
        made = await served.post("/pty", {"command": "/bin/sh", "env": {"PS1": "> "}})
        assert made["title"] == f"Terminal {made['id'][-4:]}"
        assert (made["args"], made["status"]) == (["-l"], "running")
        path = f"/pty/{made['id']}"
        assert (await until(events, "pty.created")).properties == {"info": made}
        assert made in await served.get("/pty")
        size = {"title": "Büild", "size": {"rows": 33, "cols": 101}}
        changed = await served.ask("PUT", path, size)
        assert changed == {**made, "title": "Büild"} == await served.get(path)
        assert (await until(events, "pty.updated")).properties == {"info": changed}
        async with socket(served, f"{path}/connect") as connection:
            await connection.send("stty size; echo é🎉$((6 * 7))\n")
            await connection.send(b"exit 7\n")
            text, cursors, code = await read(connection)
        assert "33 101" in text
        assert "é🎉42" in text
        assert code == 1000
        assert len(cursors) == 1
        exited = await until(events, "pty.exited", id=made["id"])
        assert exited.properties["exitCode"] == 7
        await served.ask("GET", path, status=404)
        assert made["id"] not in [each["id"] for each in await served.get("/pty")]
        await remove(served, made)
        await until(events, "pty.deleted", id=made["id"])


async def test_a_terminal_of_the_second_protocol_stays_until_it_is_removed(served: Served) -> None:
    answer = await served.post("/api/pty", {"command": "sh", "args": ["-c", "echo out; exit 3"]})
    made = answer["data"]
    assert answer["location"]["directory"] == made["cwd"] == str(served.server.project)
    found = await ended(served, made)
    assert (found["status"], found["exitCode"]) == ("exited", 3)
    assert found in (await served.get("/api/pty"))["data"]
    renamed = await served.ask(
        "PUT", f"/api/pty/{made['id']}", {"title": "Done", "size": {"rows": 9, "cols": 9}}
    )
    assert renamed["data"] == {**found, "title": "Done"}
    async with socket(served, f"/api/pty/{made['id']}/connect") as connection:
        assert await read(connection) == ("out\r\n", [5], 4404)
    async with socket(served, f"/pty/{made['id']}/connect") as connection:
        assert await read(connection) == ("", [], 4404)
    await remove(served, made)
    await served.ask("GET", f"/api/pty/{made['id']}", status=404)


async def test_a_reader_goes_on_where_it_left_off(served: Served) -> None:
    """Positions are of UTF-16, as JavaScript counts; the answer of each connection begins with one."""
    made = await served.post("/pty", {"command": "sh", "args": ["-c", "printf 'a🎉bc'; read end"]})
    path = f"/pty/{made['id']}/connect"
    async with socket(served, path) as connection:
        await read(connection, "c")
    for given, left in {"0": "a🎉bc", "3": "bc", "4": "c", "-1": "", "99": "", "x": "a🎉bc"}.items():
        async with socket(served, path, cursor=given) as connection:
            frames = [await connection.recv() for _ in range(2 if left else 1)]
            assert frames == [*([left] if left else []), b'\0{"cursor":5}'], given
    await served.ask("DELETE", f"/pty/{made['id']}")


async def test_a_ticket_opens_its_terminal_once(served: Served) -> None:
    """Without other credentials; used twice, of another terminal, or made up it opens nothing."""
    first, second = [(await served.post("/pty", {"command": "cat"}))["id"] for _ in range(2)]
    refused = await served.ask("POST", f"/pty/{first}/connect-token", {}, status=403)
    assert refused["_tag"] == "PtyForbiddenError"
    refused = await served.ask("POST", f"/api/pty/{first}/connect-token", {}, status=403)
    assert refused["_tag"] == "ForbiddenError"

    async def ticket() -> str:
        answer = await served.http.post(f"/pty/{first}/connect-token", headers=TICKET)
        assert answer.json()["expires_in"] == 60
        return str(answer.json()["ticket"])

    async def refuses(path: str, ticket: str, headers: Json) -> None:
        with pytest.raises(InvalidStatus) as closed:
            async with socket(served, path, headers, ticket=ticket):
                pass
        assert closed.value.response.status_code == 403

    good = await ticket()
    async with socket(served, f"/pty/{first}/connect", {}, ticket=good) as connection:
        assert (await connection.recv())[:1] == b"\0"
    await refuses(f"/pty/{first}/connect", good, {})
    await refuses(f"/pty/{first}/connect", good, HEADERS)
    await refuses(f"/pty/{second}/connect", await ticket(), {})
    await refuses(f"/pty/{first}/connect", "made-up", {})
    await refuses(f"/pty/{first}/connect", "", {})
    await refuses(f"/pty/{first}/connect", await ticket(), {"Origin": "https://evil.example"})
    answer = await served.http.post(f"/api/pty/{first}/connect-token", headers=TICKET)
    async with socket(served, f"/api/pty/{first}/connect", {}, ticket=answer.json()["data"]["ticket"]):
        pass
    for each in (first, second):
        await served.ask("DELETE", f"/pty/{each}")


async def test_what_is_not_there(served: Served, tmp_path: Path) -> None:
    """An unknown id, one of another folder, one that cannot be an id."""
    made = await served.post("/pty", {"command": "cat"})
    elsewhere: Json = {"directory": str(tmp_path)}
    for path, query in (("/pty/pty_none", {}), (f"/pty/{made['id']}", elsewhere)):
        for method, operation in {"GET": "", "PUT": "", "DELETE": "", "POST": "/connect-token"}.items():
            for prefix in ("", "/api"):
                body: Json | None = {} if method == "PUT" else None
                asked = served.http.request(
                    method, f"{prefix}{path}{operation}", params=query, json=body, headers=TICKET
                )
                answer = await asked
                assert answer.status_code == 404, (method, path)
                assert answer.json()["_tag"] == "PtyNotFoundError"
                assert not served.reference.problems(method, f"{prefix}{path}{operation}", 404, answer.json())
        async with socket(served, f"{path}/connect", **query) as connection:
            assert await read(connection) == ("", [], 4404)
    await served.ask("GET", "/pty/pty_none/connect", status=404, departs="empty in OpenCode")
    await served.ask("GET", f"/pty/{made['id']}/connect", status=400, departs="no upgrade")
    await served.ask("GET", "/pty/unknown", status=400, departs=BAD_REQUEST)
    assert (await served.get("/pty", directory=str(tmp_path))) == []
    await served.ask("DELETE", f"/pty/{made['id']}")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"command": 5}, "command"),
        ({"env": {"A": 5}}, "env.A"),
        ({"args": "x"}, "args"),
        ({"title": "x" * 1001}, "title"),
        ({"cwd": "/nowhere"}, "cwd"),
        ({"command": "/no/such/program"}, "command"),
        ({"args": ["a\0b"]}, "could not be started"),
        ([], ""),
    ],
    ids=["command", "env", "args", "title", "folder", "program", "nul", "list"],
)
async def test_a_bad_body_is_told(served: Served, body: Any, field: str) -> None:
    told = await served.ask("POST", "/pty", body, status=400, departs=BAD_REQUEST)
    assert field in told["data"]["message"]
    told = await served.ask("POST", "/api/pty", body, status=400)
    assert field in f"{told.get('field')} {told['message']}"


async def test_a_bad_size_is_told(served: Served) -> None:
    made = await served.post("/pty", {"command": "cat"})
    for size in (
        {"rows": 0, "cols": 1},
        {"rows": 1, "cols": 65_536},
        {"rows": 1, "cols": 1.5},
        {"rows": "1"},
    ):
        told = await served.ask("PUT", f"/pty/{made['id']}", {"size": size}, status=400, departs=BAD_REQUEST)
        assert "size." in told["data"]["message"]
    await served.ask("DELETE", f"/pty/{made['id']}")


async def test_a_hostile_title_stays_what_it_is(served: Served) -> None:
    title = "\x1b]0;x\x07<script>pwned()</script>\u202e"
    made = await served.post("/pty", {"command": "cat", "title": title})
    assert made["title"] == title == (await served.get(f"/pty/{made['id']}"))["title"]
    await served.ask("DELETE", f"/pty/{made['id']}")


async def test_input_that_nobody_reads_is_bounded(served: Served) -> None:
    made = await served.post(
        "/pty", {"command": "sh", "args": ["-c", "stty raw -echo; echo ready; sleep 1000"]}
    )
    async with socket(served, f"/pty/{made['id']}/connect") as connection:
        await read(connection, "ready")
        with pytest.raises(ConnectionClosed) as closed:
            async with asyncio.timeout(PATIENCE):
                while True:
                    await connection.send(b"x" * 65_536)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4413
    await served.ask("DELETE", f"/pty/{made['id']}")


@pytest.mark.long
async def test_a_client_that_does_not_read_holds_up_nobody(served: Served) -> None:
    flood = "read go; yes | head -c 2M; echo all"
    made = await served.post("/pty", {"command": "sh", "args": ["-c", flood]})
    path = f"/api/pty/{made['id']}/connect"
    async with socket(served, path) as idle, socket(served, path) as quick:
        await idle.recv()
        await quick.send("\n")
        text, cursors, _ = await read(quick)
    assert text.endswith("all\r\n")
    assert len(text) == len("\r\n") + 2 * 1024 * 1024 // 2 * 3 + len("all\r\n")
    assert cursors == [0]
    await remove(served, made)


async def test_a_server_asks_its_plugins_for_variables_and_ends_its_terminals(tmp_path: Path) -> None:
    """The environment of a terminal; and a job that ignores the hang-up ends with the server too."""
    project, plugins = tmp_path / "project", tmp_path / ".config" / "opencode" / "plugins"
    project.mkdir()
    plugins.mkdir(parents=True)
    (plugins / "env.py").write_text(PLUGIN)
    names = "PLUGIN GIVEN CALLER TERM OPENCODE_TERMINAL OPENCODE_SERVER_PASSWORD"
    line = f"(trap '' HUP; exec sleep 1000) & echo $! > pid; printenv {names}; echo end; cat"
    body = {"command": "sh", "args": ["-c", line], "env": {"CALLER": "1", "GIVEN": "by the caller"}}
    async with running(Server(tmp_path, project)) as client:
        made = (await client.http.post("/pty", json=body)).json()
        url = f"{str(client.http.base_url).replace('http:', 'ws:').rstrip('/')}/pty/{made['id']}/connect"
        async with connect(url, additional_headers=HEADERS, proxy=None) as connection:
            text, _, _ = await read(connection, "end")
        assert text.splitlines() == [str(project), "by the plugin", "1", "xterm-256color", "1", "end"]
        job = int((project / "pid").read_text())
        assert is_running(job)
    assert not is_running(job)
    assert not is_running(made["pid"])
