"""`webfetch`, `websearch` and `codesearch` against a real server on loopback."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from struct import pack

import httpx
import pytest

from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.errors import PermissionRejected
from agents.toolkit.shared.web import fetch as fetching
from agents.toolkit.shared.web.search import Input
from agents.tools import codesearch, webfetch, websearch
from tests.agents.tools.context import DirectContext
from tests.hostile.addresses import LOCAL, PUBLIC
from tests.text_server import TextServer

PAGE = """<html><head><title>T</title><script>alert(1)</script></head>
<body><h1>Head</h1><p>Some <b>bold</b> text and <a href="/x">a link</a>.</p></body></html>"""

Pages = dict[str, tuple[str, dict[str, str], bytes]]
"""By path: the status line, headers, body."""


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[str, Pages, list[str]]]:
    """The address of a server, what it answers, and the request lines it has seen."""
    monkeypatch.setattr(fetching, "getproxies", dict)
    pages: Pages = {}
    seen: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.append(head)
        status, headers, body = pages.get(head.split()[1], ("404 Not Found", {}, b""))
        fields = {"Content-Length": str(len(body)), "Connection": "close", **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield f"http://localhost:{port}", pages, seen
    server.close()
    await server.wait_closed()


async def fetch(context: DirectContext, url: str, **more: object) -> ToolResult:
    return await webfetch.execute(webfetch.Input.model_validate({"url": url, **more}), context)


HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("markdown", "# Head\n\nSome **bold** text and [a link](/x)."),
        ("text", "Head\nSome"),
        ("html", "<h1>"),
    ],
)
async def test_a_page_in_three_forms(
    context: DirectContext, site: tuple[str, Pages, list[str]], form: str, wanted: str
) -> None:
    url, pages, seen = site
    pages["/"] = ("200 OK", HTML, PAGE.encode())
    result = await fetch(context, f"{url}/", format=form)
    assert wanted in result.output
    assert form == "html" or "alert" not in result.output
    assert f"Host: {url.removeprefix('http://')}".lower() in seen[0].lower()


@pytest.mark.parametrize(
    ("header", "head", "charset"),
    [
        ("", '<meta charset="shift_jis">', "shift_jis"),
        ("", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', "shift_jis"),
        ("", "<?xml version='1.0' encoding='euc-jp'?>", "euc-jp"),
        ("; charset=euc-jp", '<meta charset="shift_jis">', "euc-jp"),
        ("; charset=nonsense", '<meta charset="shift_jis">', "shift_jis"),
        ("; charset=shift_jis", "", "utf-8-sig"),
        ("", "", "utf-16"),
        ("", "", "utf-8"),
    ],
)
async def test_a_page_is_read_in_its_encoding(
    context: DirectContext, site: tuple[str, Pages, list[str]], header: str, head: str, charset: str
) -> None:
    url, pages, _ = site
    pages["/"] = ("200 OK", {"Content-Type": f"text/html{header}"}, f"{head}<p>日本".encode(charset))
    assert (await fetch(context, f"{url}/")).output.endswith("日本")


@pytest.mark.parametrize("head", ['<meta charset="iso-8859-1">', '<meta charset="windows-1252">', ""])
async def test_latin_1_is_what_windows_has(
    context: DirectContext, site: tuple[str, Pages, list[str]], head: str
) -> None:
    url, pages, _ = site
    pages["/"] = ("200 OK", {"Content-Type": "text/html"}, f"{head}<p>5 € – “café”".encode("cp1252"))
    assert (await fetch(context, f"{url}/")).output == "5 € – “café”"


RICH = """<html><body><p>A <b>frob</b> is <a href="/w">a
widget</a>.<br>Next.</p><ul><li>one <code>x</code></li><li>two</li></ul><!-- hidden -->
<table><tr><td>a</td><td>b</td></tr></table>
<pre><code class="hljs language-python"><span>def</span> f():
    return 1
</code></pre><div class="highlight-shell notranslate"><div class="highlight"><pre>ls</pre></div></div>
<pre>bare</pre><img src="a.png" alt="A">
after</body></html>"""


async def test_text_keeps_its_sentences_and_code_its_lines(
    context: DirectContext, site: tuple[str, Pages, list[str]]
) -> None:
    url, pages, _ = site
    pages["/"] = ("200 OK", HTML, RICH.encode())
    text = (await fetch(context, f"{url}/", format="text")).output
    assert text.split("\n") == [
        "A frob is a widget.", "Next.", "one x", "two", "a b", "def f():", "    return 1",
        "ls", "bare", "after",
    ]  # fmt: skip
    markdown = (await fetch(context, f"{url}/")).output
    assert "```python\ndef f():\n    return 1\n```" in markdown
    assert "```shell\nls\n```" in markdown
    assert "```\nbare\n```" in markdown
    assert "![A](a.png)\nafter" in markdown


async def test_a_picture_is_attached_only_for_models_that_see(
    context: DirectContext, site: tuple[str, Pages, list[str]]
) -> None:
    url, pages, _ = site
    pages["/a.png"] = ("200 OK", {"Content-Type": "image/png"}, b"\x89PNG")
    assert len((await fetch(context, f"{url}/a.png")).attachments) == 1
    context.model_takes_files = False
    result = await fetch(context, f"{url}/a.png")
    assert not result.attachments
    assert (
        "is a picture (image/png, 4 bytes) and cannot be shown: this model takes text only." in result.output
    )


async def test_a_private_address_is_asked_for_also_after_a_redirect(
    context: DirectContext, site: tuple[str, Pages, list[str]]
) -> None:
    url, pages, seen = site
    pages["/a"] = ("302 Found", {"Location": "/b"}, b"")
    pages["/b"] = ("200 OK", {"Content-Type": "text/plain"}, b"there")
    assert (await fetch(context, f"{url}/a")).output == "there"
    assert [asked.permission for asked in context.asked] == ["webfetch", "private_address", "private_address"]
    context.decisions["private_address"] = "reject"
    with pytest.raises(PermissionRejected):
        await fetch(context, f"{url}/a")
    assert len(seen) == 2


Make = Callable[[Pages], None]


def big(pages: Pages) -> None:
    pages["/"] = ("200 OK", HTML, b"x" * (fetching.MAX_BYTES + 1))


def circle(pages: Pages) -> None:
    pages["/"] = ("302 Found", {"Location": "/"}, b"")


def binary(pages: Pages) -> None:
    pages["/"] = ("200 OK", {"Content-Type": "application/zip"}, b"PK\0\0")


def elsewhere(pages: Pages) -> None:
    pages["/"] = ("302 Found", {"Location": "file:///etc/passwd"}, b"")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (big, "more than 5 MB"),
        (circle, "More than 10 redirects"),
        (binary, "cannot be read as text"),
        (elsewhere, "Only http and https"),
        (lambda pages: None, "answered 404"),
    ],
)
async def test_what_cannot_be_fetched_is_explained(
    context: DirectContext, site: tuple[str, Pages, list[str]], make: Make, words: str
) -> None:
    url, pages, _ = site
    make(pages)
    with pytest.raises(ToolError, match=words):
        await fetch(context, f"{url}/")


@pytest.mark.parametrize("url", ["ftp://example.org/", "file:///etc/passwd", "http://u:p@localhost/", "x"])
async def test_other_addresses_are_refused(context: DirectContext, url: str) -> None:
    with pytest.raises(ToolError):
        await fetch(context, url)


async def test_a_server_that_does_not_answer(context: DirectContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, "read", 0.01)
    connected = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(ToolError, match=r"did not answer within 0\.2 seconds"):
        await fetch(context, f"http://127.0.0.1:{port}/", timeout=0.2)
    assert connected.is_set()
    server.close()


async def test_a_connection_that_breaks_is_explained(
    context: DirectContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "getproxies", dict)

    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
        writer.close()

    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    monkeypatch.setenv("OPENCODE_WEBSEARCH_URL", f"{url}?q={{query}}")
    with pytest.raises(ToolError, match=r"could not be fetched: ReadError\."):
        await fetch(context, url)
    with pytest.raises(ToolError, match=r"did not answer: ReadError\."):
        await web(context)
    server.close()


Search = Callable[[DirectContext], Awaitable[ToolResult]]


async def web(context: DirectContext) -> ToolResult:
    return await websearch.TOOL.execute(Input(query="a b", limit=2), context)


async def code(context: DirectContext) -> ToolResult:
    return await codesearch.TOOL.execute(Input(query="a b", limit=2), context)


@pytest.mark.parametrize(("search", "kind"), [(web, "WEBSEARCH"), (code, "CODESEARCH")])
async def test_a_search_through_the_configured_service(
    context: DirectContext,
    site: tuple[str, Pages, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    search: Search,
    kind: str,
) -> None:
    url, pages, seen = site
    tool = websearch.TOOL if kind == "WEBSEARCH" else codesearch.TOOL
    assert not tool.offered(context.turn)
    monkeypatch.setenv(f"OPENCODE_{kind}_URL", f"{url}/s?q={{query}}")
    monkeypatch.setenv(f"OPENCODE_{kind}_KEY", "k")
    assert tool.offered(context.turn)
    found = [{"title": f"T{n}", "url": f"https://example.org/{n}", "content": "C"} for n in range(3)]
    pages["/s?q=a%20b"] = ("200 OK", {}, json.dumps({"web": {"results": found}}).encode())
    result = await search(context)
    assert result.output == "1. T0 https://example.org/0\nC\n\n2. T1 https://example.org/1\nC"
    assert "authorization: bearer k" in seen[0].lower()
    assert context.asked[0].permission == kind.lower()


async def test_a_search_service_that_fails(
    context: DirectContext, site: tuple[str, Pages, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_WEBSEARCH_URL", f"{site[0]}/gone?q={{query}}")
    with pytest.raises(ToolError, match="404"):
        await web(context)


BRACKETS = str.maketrans("", "", "[]")
"""httpx leaves them out of what it asks a proxy for."""


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[str]]:
    """What a proxy was asked for, which the environment names for all but 127.0.0.1."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.split()[1])
        fields = "Content-Type: text/plain\r\nContent-Length: 9\r\nConnection: close"
        writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\nby proxy!".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield asked
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("host", LOCAL)
async def test_behind_a_proxy_local_addresses_are_asked_about(
    context: DirectContext, proxy: list[str], host: str
) -> None:
    context.decisions["private_address"] = "reject"
    with pytest.raises(PermissionRejected):
        await fetch(context, f"http://{host}:1/")
    assert proxy == []


@pytest.mark.parametrize("host", PUBLIC)
async def test_behind_a_proxy_public_addresses_are_not(
    context: DirectContext, proxy: list[str], host: str
) -> None:
    assert (await fetch(context, f"http://{host}/page")).output == "by proxy!"
    assert [url.translate(BRACKETS) for url in proxy] == [f"http://{host}/page".translate(BRACKETS)]
    assert [asked.permission for asked in context.asked] == ["webfetch"]


async def test_what_the_environment_exempts_is_asked_about_and_reached_directly(
    context: DirectContext, proxy: list[str]
) -> None:
    async with TextServer("here") as server:
        assert (await fetch(context, server.url)).output == "here"
        assert proxy == []
        assert [asked.permission for asked in context.asked] == ["webfetch", "private_address"]
        assert (await fetch(context, server.url.replace("127.0.0.1", "localhost"))).output == "by proxy!"
        assert [asked.permission for asked in context.asked[2:]] == ["webfetch", "private_address"]
