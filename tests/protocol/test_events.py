"""`/event` and `/global/event`: order, shapes, resuming, and readers that are too slow or many."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.loopback.script import ToolUse, Turn, Wait
from tests.protocol.served import Served
from tests.server import PASSWORD, PATIENCE, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

CROWD = 500
SYNCED = {"session.created", "session.updated", "message.updated", "message.part.updated"}
UNLOGGED = {"message.part.delta", "catalog.updated", "integration.updated", "reference.updated"}
Json = dict[str, Any]


@asynccontextmanager
async def reading(
    served: Served, path: str = "/event", headers: dict[str, str] | None = None, **query: str
) -> AsyncIterator[AsyncIterator[tuple[int | None, Json]]]:
    """The frames of a stream, each with its `id`; `server.connected` has come."""
    async with served.http.stream(
        "GET", path, params=query, headers=headers, timeout=httpx.Timeout(PATIENCE)
    ) as answer:
        assert answer.status_code == 200
        frames = _frames(answer)
        _, first = await anext(frames)
        assert first.get("payload", first)["type"] == "server.connected"
        yield frames


async def _frames(answer: httpx.Response) -> AsyncIterator[tuple[int | None, Json]]:
    cursor = None
    async for line in answer.aiter_lines():
        if line.startswith("id: "):
            cursor = int(line[4:])
        elif line:
            assert line.startswith("data: "), line
            yield cursor, json.loads(line[6:])
            cursor = None


async def up_to(frames: AsyncIterator[tuple[int | None, Json]], type: str) -> list[tuple[int | None, Json]]:
    found = []
    async for cursor, event in frames:
        found.append((cursor, event))
        if event.get("payload", event)["type"] == type:
            return found
    raise AssertionError(f"the stream ended before {type}")


async def test_the_events_of_a_turn_are_as_declared(served: Served) -> None:
    file = served.server.project / "eventful.txt"
    served.plays(
        Turn(tools=[ToolUse("write", {"filePath": str(file), "content": "x\n"})]), Turn(text="Done.")
    )
    async with reading(served) as frames, reading(served, "/global/event") as everywhere:
        session = await served.session()
        await served.client.prompt_async(session, "Write.")
        events = [event for _, event in await up_to(frames, "session.idle")]
        payloads = [event for _, event in await up_to(everywhere, "session.idle")]
    file.unlink()
    watched = [event["properties"] for event in events if event["type"] == "file.watcher.updated"]
    assert watched == [{"file": str(file), "event": "add"}]
    told = {event["type"]: event["properties"] for event in events}
    events = [event for event in events if "sessionID" in event["properties"]]
    assert told["file.edited"] == {"file": str(file)}
    parts = [event["properties"]["part"] for event in events if event["type"] == "message.part.updated"]
    (patch,) = [part for part in parts if part["type"] == "patch"]
    (began,) = [
        part for part in parts if part["messageID"] == patch["messageID"] and part["type"] == "step-start"
    ]
    assert (patch["hash"], patch["files"]) == (began.get("snapshot", ""), [str(file)])
    (made,) = [part for part in parts if part.get("state", {}).get("status") == "completed"]
    assert made["state"]["metadata"]["diagnostics"] == {}
    synced = [event["payload"]["syncEvent"] for event in payloads if event["payload"]["type"] == "sync"]
    payloads = [event for event in payloads if "sessionID" in event["payload"].get("properties", {})]
    types = [event["type"] for event in events]
    order = ["session.created", "message.updated", "message.part.updated", "session.status", "session.idle"]
    assert [types.index(type) for type in order] == sorted(types.index(type) for type in order)
    assert not {"session.inbox", "review.changed"} & set(types)
    assert [served.reference.wrong({"$ref": "#/components/schemas/Event"}, event) for event in events] == [
        [] for _ in events
    ]
    assert [event["payload"]["id"] for event in payloads] == [event["id"] for event in events]
    assert {event["directory"] for event in payloads} == {str(served.server.project)}
    assert {event["project"] for event in payloads} == {events[0]["properties"]["info"]["projectID"]}
    assert [(one["id"], one["type"], one["data"]) for one in synced] == [
        (event["id"], f"{event['type']}.1", event["properties"])
        for event in events
        if event["type"] in SYNCED
    ]
    numbers = [one["seq"] for one in synced]
    assert numbers == sorted(set(numbers))
    assert {one["aggregateID"] for one in synced} == {session}


async def test_a_stream_has_the_events_of_its_folder(served: Served, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "sub").mkdir()
    folders = {"whole": str(tmp_path), "sub": str(tmp_path / "sub")}
    made = {}
    async with (
        reading(served, directory=folders["whole"]) as whole,
        reading(served, directory=folders["sub"]) as sub,
        reading(served, "/global/event") as everywhere,
    ):
        for name, folder in folders.items():
            made[name] = (await served.post("/session", {}, directory=folder))["id"]
        for name, frames in (("whole", whole), ("sub", sub)):
            event = await anext(event async for _, event in frames if event["type"] in SYNCED)
            assert event["properties"]["sessionID"] == made[name]
        told = [
            await anext(event async for _, event in everywhere if event["payload"]["type"] in SYNCED)
            for _ in folders
        ]
        assert [event["directory"] for event in told] == list(folders.values())


async def test_a_client_goes_on_where_it_left_off(served: Served) -> None:
    async with reading(served, since="now") as frames:
        session = await served.session()
        await served.client.prompt(session, "First.")
        seen = await up_to(frames, "session.idle")
    assert all(cursor for cursor, event in seen if event["type"] not in UNLOGGED)
    cursor = str(seen[0][0])
    await served.client.prompt(session, "Second.")
    await served.ask("PATCH", f"/session/{session}", {"title": "Now so"})
    entries = await served.get(f"/session/{session}/message")
    for given in ({"since": cursor}, {"headers": {"Last-Event-ID": cursor}, "since": "now"}):
        async with reading(served, **given) as frames:
            await served.ask("PATCH", f"/session/{session}", {"metadata": {"marked": 1}})
            missed = []
            async for number, event in frames:
                missed.append((number, event))
                if event["properties"].get("info", {}).get("metadata") == {"marked": 1}:
                    break
        await served.ask("PATCH", f"/session/{session}", {"metadata": {}})
        numbers = [number for number, _ in missed]
        assert numbers == sorted(set(numbers))  # type: ignore[type-var]
        assert numbers[0] > int(cursor)  # type: ignore[operator]
        own = [event for _, event in missed if event["properties"].get("sessionID") == session]
        infos = [event["properties"]["info"] for event in own if event["type"] == "message.updated"]
        assert infos == [entry["info"] for entry in entries]
        parts = [event["properties"]["part"] for event in own if event["type"] == "message.part.updated"]
        assert parts == [part for entry in entries for part in entry["parts"]]
        assert [event for event in own if event["type"] == "session.idle"]


async def test_who_comes_back_misses_nothing(served: Served) -> None:
    """As an EventSource does it: the last `id:` that was heard goes along, whatever it was of."""
    said = ["One", Wait("gone"), " two", " three", Wait("back"), " four"]
    served.plays(Turn(text=said))  # type: ignore[arg-type]
    session = await served.session()
    async with reading(served) as frames:
        await served.client.prompt_async(session, "Count.")
        heard = await up_to(frames, "message.part.delta")
    last = [cursor for cursor, _ in heard if cursor is not None][-1]
    async with served.client.events() as others:
        await served.opens("gone")
        await until(others, "message.part.delta", delta=" three")
        async with reading(served, headers={"Last-Event-ID": str(last)}) as frames:
            told = await up_to(frames, "message.part.updated")
            await served.opens("back")
            told += await up_to(frames, "session.idle")
    shown = ""
    for _, event in told:
        if event["type"] == "message.part.updated" and "time" in event["properties"]["part"]:
            shown = event["properties"]["part"]["text"]
        elif event["type"] == "message.part.delta":
            shown += event["properties"]["delta"]
            assert "One two three four".startswith(shown), told
    assert shown == "One two three four"


async def test_a_cursor_of_another_server(served: Served) -> None:
    async with reading(served, headers={"Last-Event-ID": "evt_1"}) as frames:
        assert (await anext(frames))[1]["type"] == "server.resync"


async def test_a_cursor_that_the_log_has_not(served: Served) -> None:
    async with reading(served, since="999999999") as frames:
        number, event = await anext(frames)
        assert event["type"] == "server.resync"
        assert number is not None
    async with reading(served, since=str(number)) as frames:
        session = await served.session()
        assert (await up_to(frames, "session.created"))[-1][1]["properties"]["sessionID"] == session
    await served.ask("GET", "/event", status=400, departs="resuming is ours", since="-1")


async def test_a_reader_that_never_reads_is_cut_off_and_told(served: Served) -> None:
    async with _deaf(served) as (reader, answer):
        toast = {"message": "x" * 1_000_000, "variant": "info"}
        for _ in range(40):
            await served.post("/tui/show-toast", toast)
        async with served.client.events() as events:  # others are not held up
            session = await served.session()
            await until(events, "session.created", sessionID=session)
        await asyncio.to_thread(_rest, reader, answer)
    assert answer.count(b'"tui.toast.show"') < 40
    assert b'"server.resync"' in answer[-300:]


def _rest(reader: socket.socket, answer: bytearray) -> None:
    while not answer.endswith(b"0\r\n\r\n"):  # the end of the last chunk
        answer += reader.recv(1 << 20)


@asynccontextmanager
async def _deaf(served: Served) -> AsyncIterator[tuple[socket.socket, bytearray]]:
    """A stream on a socket that takes in little, and what was read of it."""
    host = urlsplit(served.server.url)
    with socket.socket() as reader:
        reader.settimeout(PATIENCE)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        reader.connect((host.hostname, host.port))
        reader.sendall(_request(served))
        answer = bytearray()
        while b"server.connected" not in answer:
            answer += await asyncio.to_thread(reader.recv, 4096)
        yield reader, answer


def _request(served: Served) -> bytes:
    host = urlsplit(served.server.url).netloc
    token = base64.b64encode(f"opencode:{PASSWORD}".encode()).decode()
    return f"GET /event HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {token}\r\n\r\n".encode()


@pytest.mark.long
async def test_five_hundred_clients_all_hear(served: Served) -> None:
    served.plays(Turn(text=["One", Wait("crowd"), " and all."]))
    session = await served.session()
    async with asyncio.timeout(2 * PATIENCE), AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(_listening(served)) for _ in range(CROWD)]
        await asyncio.gather(*(stream.readuntil(b"server.connected") for stream in streams))
        await served.client.prompt_async(session, "Speak.")
        await served.opens("crowd")
        heard = await asyncio.gather(*(stream.readuntil(b"session.idle") for stream in streams))
    told = re.compile(rb'"id": "(evt_\w+)".*' + session.encode())  # the rest may come while they connect
    ids = [told.findall(one) for one in heard]
    assert all(one == ids[0] for one in ids)
    assert len(ids[0]) > 10


@asynccontextmanager
async def _listening(served: Served) -> AsyncIterator[asyncio.StreamReader]:
    """Many of them: a connection, and no client around it."""
    host = urlsplit(served.server.url)
    reader, writer = await asyncio.open_connection(host.hostname, host.port)
    writer.write(_request(served))
    try:
        yield reader
    finally:
        writer.close()
