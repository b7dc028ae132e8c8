"""Answers that grow when they are unpacked: each reader of the web stays small, and says what was wrong."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import httpx2
import pytest

from agents.llm.bounded import bound
from tests.hostile.packed import ANSWERS, UNPACKED
from tests.loopback.wire import read_request

ROOT = Path(__file__).parents[3]
MB = 1024 * 1024

READERS = """
import asyncio, json, os, resource, sys
sys.path.insert(0, sys.argv[1])
os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
import django
django.setup()
from agents.llm.accounts.flows import web
from agents.agent.context.sources.remote import Remote
from agents.servers.mcp.link.remote import HTTP, Remote as Link
from agents.servers.mcp.server import Server
from agents.toolkit.shared.web import fetch
from agents.toolkit.shared.web.search import Service

async def permit(host, address): ...
async def linked(url):
    async with Link(Server(name="x", kind="remote", url=url), HTTP)._factory() as client:
        return (await client.get(url)).content
READERS = {
    "webfetch": lambda url: fetch.fetch(url, 60, permit),
    "search": lambda url: Service(url + "?{query}", "").ask("words", 3),
    "accounts": lambda url: web.ask("GET", url),
    "instructions": lambda url: Remote().document(url),
    "mcp": linked,
}
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "darwin" else 1024)

async def tried(read, url):
    try:
        return type(await read(url)).__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}"

async def main():
    base, paths = sys.argv[2], json.loads(sys.argv[3])
    for read in READERS.values():
        await tried(read, f"{base}/small")
    before, said = peak(), {}
    for name, read in READERS.items():
        said[name] = [await tried(read, f"{base}{path}") for path in paths]
    print(json.dumps({"grown": peak() - before, "said": said}))
asyncio.run(main())
"""


def small() -> bytes:
    return b"[]"


SMALL = ("identity", small)


@asynccontextmanager
async def site() -> AsyncIterator[str]:
    """Each of the answers at a path of its number; `/moved/N` leads there with the same body."""
    answers = list(ANSWERS.values())

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            if request := await read_request(reader):
                head = "200 OK"
                coding, body = SMALL
                _, *kind, number = request.path.partition("?")[0].split("/")
                if number.isdigit():
                    coding, body = answers[int(number)]
                if kind == ["moved"]:
                    head = "302 Found\r\nLocation: /small"
                data = body()
                fields = f"Content-Encoding: {coding}\r\nContent-Length: {len(data)}\r\nConnection: close"
                writer.write(f"HTTP/1.1 {head}\r\n{fields}\r\n\r\n".encode() + data)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.long
async def test_the_memory_of_a_process_that_reads_them_all_stays_small() -> None:
    paths = [f"/{number}" for number in range(len(ANSWERS))] + ["/moved/1", "/moved/7"]
    async with site() as base:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", READERS, str(ROOT), base, json.dumps(paths), stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
    assert process.returncode == 0
    told = json.loads(out)
    assert told["grown"] < 150 < UNPACKED // MB
    for reader in ("webfetch", "search", "accounts", "mcp"):
        for name, words in zip(ANSWERS, told["said"][reader], strict=False):
            if name not in ("many empty members", "cut off") or "Error" in words:
                assert "sent an answer" in words, (reader, name, words)
        assert not any("Error" in words for words in told["said"][reader][len(ANSWERS) :])


@pytest.mark.parametrize("library", [httpx, httpx2])
async def test_what_is_packed_as_asked_for_arrives_whole(library: object) -> None:
    text = os.urandom(100_000).hex().encode()

    def answer(request: object) -> object:
        headers = {"content-encoding": "gzip"}
        return library.Response(200, headers=headers, stream=Chunks(gzip.compress(text)))  # type: ignore[attr-defined]

    class Chunks(library.AsyncByteStream):  # type: ignore[name-defined, misc]
        def __init__(self, data: bytes) -> None:
            self.data = data

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for start in range(0, len(self.data), 1000):
                yield self.data[start : start + 1000]

    for most, wanted in ((len(text), text), (len(text) - 1, None)):
        client = library.AsyncClient(transport=library.MockTransport(answer))  # type: ignore[attr-defined]
        bound(client, most)
        async with client:
            if wanted is None:
                with pytest.raises(library.DecodingError, match="more than"):  # type: ignore[attr-defined]
                    await client.get("http://example.com")
            else:
                assert (await client.get("http://example.com")).content == wanted
