"""Language servers that do not do what they should: what they did is said, and nothing waits for them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agents.servers.lsp.client import client, jsonrpc
from agents.servers.lsp.client.client import Client
from agents.servers.lsp.types import Failed
from tests.processes import alive

from .stage import WITHIN, argv, playing, pushed

HEADER = "Content-Length: {}\r\n\r\n"


async def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="no-such-server is not there"):
        await Client.start("bad", ["no-such-server"], tmp_path, dict(os.environ))


@pytest.mark.parametrize(
    ("mode", "within", "words"),
    [
        ("garbage", WITHIN, "prints what are no messages"),
        ("endless_line", WITHIN, "prints what are no messages"),
        ("too_long", WITHIN, "99,999,999,999 bytes"),
        ("exits", WITHIN, "exited with code 1: a part of it is missing"),
        ("refuses", WITHIN, "no licence"),
        ("silent", 0.5, "no answer to initialize within 0.5 s"),
        ("no_headers", 1.5, '(?s)no answer to initialize.*not a message.*"jsonrpc"'),
    ],
)
async def test_one_that_does_not_begin(tmp_path: Path, mode: str, within: float, words: str) -> None:
    with pytest.raises(Failed, match=words):
        await Client.start("bad", argv(mode), tmp_path, dict(os.environ), within=within)
    left = [path for path in Path("/proc").glob("[0-9]*") if _runs_in(path, tmp_path)]
    assert left == []


def _runs_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink() == folder
    except OSError:
        return False


async def test_what_is_between_messages_is_passed_over(tmp_path: Path) -> None:
    async with playing(tmp_path) as stage:
        deep = "[" * 200_000
        texts = [
            "a line of a library\n",
            HEADER.format(9) + "{not json",
            HEADER.format(len(deep)) + deep,
            HEADER.format(2) + "[]",
            HEADER.format(2) + "{}",
            "content-type: x\r\nCONTENT-LENGTH:  4\n\nnull",
            HEADER.format(41) + '{"jsonrpc":"2.0","id":[],"result":"none"}',
            HEADER.format(42) + '{"jsonrpc":"2.0","id":"none","result":"n"}',
            HEADER.format(33) + '{"method":"no/such","params":null}'[:33],
            "without an end of line ",
        ]
        for text in texts:
            await stage.fake("raw", text)
        await stage.say("window/logMessage", {"type": 1, "message": "still here"}, None, {"message": 1})
        await stage.say("textDocument/publishDiagnostics", {"uri": 5}, {"uri": "file:///x"}, [])
        assert await stage.fake("big", 3) == "xxx"
        log = "\n".join(stage.client.log.lines())
    assert "a line of a library" in log
    assert "without an end of line" in log
    assert "[error] still here" in log
    assert log.count("cannot be understood") >= 5


async def test_fifty_megabytes_in_one_message(tmp_path: Path) -> None:
    async with playing(tmp_path) as stage:
        assert len(await stage.fake("big", 50_000_000)) == 50_000_000


async def test_one_that_exits_in_the_middle_of_a_request(tmp_path: Path) -> None:
    async with playing(tmp_path) as stage:
        ends: list[str] = []
        stage.client.ended.append(ends.append)
        version = stage.client.open(tmp_path / "a.txt", b"a")
        waiting = asyncio.create_task(stage.client.diagnostics(tmp_path / "a.txt", version, WITHIN))
        with pytest.raises(Failed, match="exited with code 3: out of cards"):
            await stage.fake("exit", "out of cards")
        with pytest.raises(Failed, match="exited with code 3"):
            await waiting
        with pytest.raises(Failed, match="exited with code 3"):
            await stage.fake("big", 1)
        with pytest.raises(Failed, match="exited with code 3"):
            stage.client.open(tmp_path / "a.txt", b"b")
        assert not stage.client.alive
        assert len(ends) == 1


async def test_a_request_that_is_not_answered_is_taken_back(tmp_path: Path) -> None:
    async with playing(tmp_path) as stage:
        with pytest.raises(Failed, match=r"no answer to fake/silence within 0\.2 s"):
            await stage.client.request("fake/silence", ["[]"], 0.2)
        given_up = asyncio.create_task(stage.client.request("fake/silence", ["[]"], WITHIN))
        await stage.fake("big", 1)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        asked = await stage.fake("heard", "$/cancelRequest")
    assert len({params["id"] for params in asked}) == 2


async def test_one_that_holds_too_much_memory_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LOOK_SECONDS", 0.1)
    async with playing(tmp_path, memory_limit=200 * 1024**2) as stage:
        ended = asyncio.get_running_loop().create_future()
        stage.client.ended.append(ended.set_result)
        pid = stage.client.pid
        with pytest.raises(Failed, match="of memory"):
            await stage.fake("grow", 400 * 1024**2)
            await stage.fake("silence")
        assert "0.2 GB are allowed" in await ended
        await stage.client.end()
        assert not alive(pid)
        assert (stage.client.memory() or 0) > 200 * 1024**2


async def test_one_that_does_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_UNSENT", 1_000_000)
    async with playing(tmp_path) as stage:
        ended = asyncio.get_running_loop().create_future()
        stage.client.ended.append(ended.set_result)
        stuck = asyncio.create_task(stage.fake("stop_reading"))
        stage.client.open(tmp_path / "a.txt", b"x" * 4_000_000)
        assert "does not read" in await ended
        with pytest.raises(Failed, match="does not read"):
            await stuck


async def test_a_file_that_is_deleted_between_edit_and_diagnostics(tmp_path: Path) -> None:
    async with playing(tmp_path) as stage:
        path = tmp_path / "a.txt"
        path.write_bytes(b"a")
        version = stage.client.open(path, b"a")
        waiting = asyncio.create_task(stage.client.diagnostics(path, version, WITHIN))
        path.unlink()
        await stage.push(path, "wrong")
        assert [one.message for one in await waiting] == ["wrong"]
        stage.client.close(path)
        assert stage.updates[-1].diagnostics == ()
        assert await stage.client.diagnostics(path, version, WITHIN) == ()


async def test_diagnostics_without_measure(tmp_path: Path) -> None:
    """As many as there may be are kept, as long as they may be, of what is a diagnostic."""
    async with playing(tmp_path) as stage:
        path = tmp_path / "a.txt"
        found = pushed(path, *["long " * 2000] * 1200)
        odd = [{"message": "no range"}, 5, {"range": {"start": {}, "end": {}}, "message": ""}]
        many = [{**one, "code": index} for index, one in enumerate(found["diagnostics"])]
        version = stage.client.open(path, b"a")
        await stage.say("textDocument/publishDiagnostics", {**found, "diagnostics": odd + many})
        kept = await stage.client.diagnostics(path, version, WITHIN)
    assert len(kept) == 1000 - len(odd)
    assert {len(one.message) for one in kept} == {4000}
