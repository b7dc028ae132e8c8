from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest

from opencode_web.bridge.remote.client import Backoff, Client, retry_after
from opencode_web.bridge.remote.errors import RemoteError
from tests.opencode_web.bridge.remote.answers import Answer, Answers

AT_ONCE = Backoff(base=0.0)


def client(server: Answers, directory: str | None = None) -> Client:
    return Client(server.url, "somebody", "a secret", directory, backoff=AT_ONCE)


async def test_answers_are_json_or_text_or_nothing() -> None:
    text = Answer(body="diff --git", headers={"content-type": "text/x-diff"})
    async with Answers(Answer(body='{"a": 1}'), Answer(204, ""), text) as server, client(server) as remote:
        assert await remote.get("/x", {"limit": 2, "search": None}) == {"a": 1}
        assert await remote.post("/x", {"b": 2}) is None
        assert await remote.get("/x") == "diff --git"
        first, second, _ = server.requests
        assert first.target == "/x?limit=2"
        assert first.headers["authorization"].startswith("Basic ")
        assert json.loads(second.body) == {"b": 2}


async def test_a_busy_server_is_asked_again() -> None:
    async with Answers(Answer(503), Answer(429), Answer(502), Answer()) as server, client(server) as remote:
        assert await remote.get("/x") == {}
        assert len(server.requests) == 4


async def test_a_change_is_not_repeated_once_it_was_sent() -> None:
    async with Answers(Answer(503), Answer()) as server, client(server) as remote:
        with pytest.raises(RemoteError) as caught:
            await remote.post("/x")
        assert caught.value.category == "transient"
    async with Answers(Answer(drop=True), Answer()) as server, client(server) as remote:
        with pytest.raises(RemoteError) as caught:
            await remote.patch("/x")
        assert (caught.value.category, caught.value.sent) == ("unreachable", True)
        assert len(server.requests) == 1
        assert await remote.put("/x") == {}


async def test_what_was_never_sent_is_repeated(unused_tcp_port: int) -> None:
    class Late(Backoff):
        """The server comes up between two tries."""

        def delay(self, tried: int, asked: float | None = None) -> float:
            started.append(asyncio.create_task(asyncio.start_server(answer, "127.0.0.1", unused_tcp_port)))
            return 0.05

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        writer.close()

    started: list[asyncio.Task[asyncio.Server]] = []
    async with Client(f"http://127.0.0.1:{unused_tcp_port}", backoff=Late()) as remote:
        assert await remote.post("/x") is None
    (await started[0]).close()


async def test_nobody_there_is_unreachable_and_nothing_was_sent(unused_tcp_port: int) -> None:
    async with Client(f"http://127.0.0.1:{unused_tcp_port}", backoff=AT_ONCE) as remote:
        with pytest.raises(RemoteError) as caught:
            await remote.get("/x")
    assert (caught.value.category, caught.value.sent) == ("unreachable", False)


async def test_the_server_says_how_long_to_wait() -> None:
    soon, late = ({"retry-after": seconds} for seconds in ("0", "3600"))
    patient = Backoff(base=1000.0, longest=1000.0)
    async with Answers(Answer(429, headers=soon), Answer(429, headers=late)) as server:
        async with Client(server.url, backoff=patient) as remote, asyncio.timeout(10):
            with pytest.raises(RemoteError) as caught:
                await remote.get("/x")
        assert len(server.requests) == 2
    assert (caught.value.category, caught.value.retry_after) == ("transient", 3600.0)


def test_a_wait_is_a_number_or_a_date() -> None:
    assert retry_after({"retry-after": "7"}) == 7.0
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_waits_grow_and_stay_below_the_longest() -> None:
    backoff = Backoff(base=1.0, longest=4.0)
    assert max(backoff.delay(1) for _ in range(200)) <= 1.0
    assert 2.0 < max(backoff.delay(9) for _ in range(200)) <= 4.0


@pytest.mark.parametrize(
    ("status", "category"),
    [
        (400, "invalid"),
        (401, "auth"),
        (403, "refused"),
        (404, "not_found"),
        (409, "conflict"),
        (500, "server"),
    ],
)
async def test_errors_have_a_category_and_the_servers_words(status: int, category: str) -> None:
    said = json.dumps({"name": "NotFoundError", "data": {"message": "No such thing"}})
    async with Answers(Answer(status, said)) as server, client(server) as remote:
        with pytest.raises(RemoteError, match="No such thing") as caught:
            await remote.get("/x")
    assert (caught.value.category, caught.value.status) == (category, status)
    assert caught.value.hint


@pytest.mark.parametrize("body", ["", "<html>", '["a"]', '{"data": 1}', "null"])
async def test_an_error_in_no_known_words_names_the_request(body: str) -> None:
    async with Answers(Answer(500, body)) as server, client(server) as remote:
        with pytest.raises(RemoteError, match="GET /x was answered with 500"):
            await remote.get("/x")


async def test_the_directory_is_normalised_and_sent(tmp_path: Path) -> None:
    folder = tmp_path / "größe"
    folder.mkdir()
    async with Answers(Answer()) as server, client(server, str(tmp_path)) as remote:
        await remote.get("/x")
        await remote.get("/x", directory=f"{folder}/../größe//")
        default, other = (request.headers["x-opencode-directory"] for request in server.requests)
    assert default == str(tmp_path)
    assert other == f"{tmp_path}/gr%C3%B6%C3%9Fe"


@pytest.mark.parametrize("directory", ["relative/path", "/no/such/folder", "/a\0b", "  "])
async def test_a_bad_directory_is_refused_before_anything_is_sent(directory: str) -> None:
    async with Answers(Answer()) as server, client(server) as remote:
        with pytest.raises(RemoteError) as caught:
            await remote.get("/x", directory=directory)
        assert server.requests == []
    assert caught.value.category == "invalid"


async def test_events_are_read_as_they_are_framed() -> None:
    frames = (
        'data: {"type": "server.connected", "properties": {}}\r\n\r\n'
        ": a comment\n\n"
        "data: no json\n\n"
        'data: {"type": "a",\ndata: "properties": {"sessionID": "ses_1", "text": "x\u2028y"}}\n\n'
    )
    stream = Answer(body=frames, headers={"content-type": "text/event-stream"})
    async with Answers(stream) as server, client(server) as remote:
        found = []
        with pytest.raises(RemoteError, match="ended the stream") as caught:
            async for event in remote.events():
                found.append(event)
    assert [event.type for event in found] == ["server.connected", "a"]
    assert (found[1].session_id, found[1].properties["text"]) == ("ses_1", "x\u2028y")
    assert caught.value.category == "unreachable"


async def test_a_stream_that_is_refused_says_so() -> None:
    async with Answers(Answer(401)) as server, client(server) as remote:
        with pytest.raises(RemoteError) as caught:
            async for _ in remote.events():
                pass
    assert caught.value.category == "auth"


@pytest.fixture
def unused_tcp_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
