"""A file as a browser gets it, by what is in it."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import AsyncClient

from sessions.changes.snapshots.objects import object_id
from sessions.web.files import view
from tests.sessions.changes.review.world import World

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


async def shown(client: AsyncClient, world: World, path: str, what: str = "view", more: str = "") -> str:
    answer = await client.get(f"/p/{world.project.id}/files/{what}?path={path}{more}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def text_in(page: str) -> str:
    found = re.search(r"<textarea[^>]*>\n(.*)</textarea>", page, re.DOTALL)
    assert found
    return unescape(found[1])


@pytest.mark.parametrize(
    ("data", "text", "ending", "words"),
    [
        (b"one\ntwo\n", "one\ntwo\n", "lf", "UTF-8"),
        (b"\n\nafter\n", "\n\nafter\n", "lf", "UTF-8"),
        (b"one\r\ntwo\r\n", "one\ntwo\n", "crlf", "UTF-8"),
        (b"one\r\ntwo\nthree\n", "one\ntwo\nthree\n", "lf", "Mixed line"),
        (b"\xef\xbb\xbfone", "one", "lf", "UTF-8 with a mark"),
        ("naïve café".encode("latin-1"), "naïve café", "lf", "Latin-1"),
        ("\ufeffé".encode("utf-16-le"), "é", "lf", "UTF-16 LE"),
        (b"old\rmac\r", "old", "lf", "carriage return alone"),
        ("aéé".encode() + b"\xff", "aéé\ufffd", "lf", "1 byte in it"),
        (b"</textarea><script>alert(1)</script>", "</textarea><script>alert(1)</script>", "lf", "UTF-8"),
        (b"", "", "lf", "UTF-8"),
    ],
)
async def test_text_is_there_as_it_is_edited(
    world: World, async_client: AsyncClient, data: bytes, text: str, ending: str, words: str
) -> None:
    (world.root / "file").write_bytes(data)
    page = await shown(async_client, world, "file")
    assert text_in(page).startswith(text)
    assert f'data-ending="{ending}"' in page
    assert f'data-seen="{object_id(data)}"' in page
    assert words in page
    assert "<script>" not in page


async def test_what_is_large_comes_by_windows_of_whole_lines(
    world: World, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "MOST_TEXT", 1000)
    monkeypatch.setattr(view, "WINDOW", 500)
    lines = [f"line {number}\n" for number in range(1, 401)]
    world.write("large.log", "".join(lines))
    at, got, numbers = "0", "", []
    while at:
        page = await shown(async_client, world, "large.log", more=f"&at={at}")
        found = re.search(r"<pre[^>]*>(.*)</pre>", page, re.DOTALL)
        assert found
        got += found[1]
        numbers.append(int((re.search(r"From line (\d+)", page) or [""])[1]))
        after = re.search(r'data-opened-at="(\d+)">After', page)
        at = after[1] if after else ""
    assert got == "".join(lines)
    assert numbers == [1 + got[: got.find(f"line {number}\n")].count("\n") for number in numbers]
    assert len(numbers) > 5


async def test_pictures_documents_and_bytes(world: World, async_client: AsyncClient) -> None:
    (world.root / "dot.png").write_bytes(PIXEL)
    world.write("dot.svg", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    (world.root / "paper.pdf").write_bytes(b"%PDF-1.4\n\0")
    (world.root / "data.bin").write_bytes(bytes(range(256)) * 8)
    assert 'data-kind="image"' in await shown(async_client, world, "dot.png")
    assert 'data-kind="image"' in await shown(async_client, world, "dot.svg")
    assert 'data-kind="pdf"' in await shown(async_client, world, "paper.pdf")
    page = await shown(async_client, world, "data.bin")
    assert "00000040  40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  |@ABCDEFGHIJKLMNO|" in page
    raw = await async_client.get(f"/p/{world.project.id}/files/raw?path=dot.svg")
    assert raw["Content-Type"] == "image/svg+xml"
    assert raw["Content-Security-Policy"].startswith("sandbox")
    saved = await async_client.get(f"/p/{world.project.id}/files/raw?path=data.bin")
    assert saved["Content-Disposition"].startswith("attachment")
    saved = await async_client.get(f"/p/{world.project.id}/files/raw?path=kept.txt")
    assert saved["Content-Disposition"].startswith("attachment")


async def test_what_is_not_there_is_said(world: World, async_client: AsyncClient) -> None:
    for path in ("gone", "../../etc/passwd", "/etc/passwd", ""):
        assert 'data-kind="gone"' in await shown(async_client, world, path)
        assert (await async_client.get(f"/p/{world.project.id}/files/raw?path={path}")).status_code == 404


async def test_markdown_tables_and_notebooks_have_a_preview(world: World, async_client: AsyncClient) -> None:
    world.write("a.md", "# Title\n\n<script>alert(1)</script>\n")
    assert "data-opened-preview" in await shown(async_client, world, "a.md")
    page = await shown(async_client, world, "a.md", "preview")
    assert "<h2" in page
    assert "<script>" not in page
    world.write("t.csv", 'name;count\n"a;b";<b>1\n')
    page = await shown(async_client, world, "t.csv", "preview")
    assert '<th scope="col" dir="auto">name</th>' in page
    assert "a;b</td>" in page
    assert "&lt;b&gt;1</td>" in page
    cells = [
        {"cell_type": "markdown", "source": ["# Hello\n", "there"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGVsbG8=", "text/html": "<script>"}},
                {"output_type": "display_data", "data": {"image/png": '"><script>'}},
                {"output_type": "error", "traceback": ["Boom"]},
            ],
        },
    ]
    world.write("n.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    page = await shown(async_client, world, "n.ipynb", "preview")
    assert "<script>" not in page
    for words in ("Hello", "[3]", ">1\n</pre>", 'src="data:image/png;base64,aGVsbG8="', "data-failed"):
        assert words in page, words
    world.write("n.ipynb", "[1, 2]")
    assert "This is no notebook" in await shown(async_client, world, "n.ipynb", "preview")


async def test_written_paths_are_found_in_the_folder_and_by_their_ends(
    world: World, async_client: AsyncClient
) -> None:
    for name in ("sub/a.py", "a.py", "one/java/some/Thing.java", "two/java/other/Thing.java", "deep/er/b.c"):
        (world.root / name).parent.mkdir(parents=True, exist_ok=True)
        (world.root / name).write_text("")
    asked = ["a.py", "some/Thing.java", "Thing.java", "./b.c", "r/b.c", "../out.py", "/etc/passwd", "sub"]
    answer = await async_client.post(
        f"/p/{world.project.id}/files/known", {"path": asked, "folder": str(world.root / "sub")}
    )
    assert answer.json() == {
        "a.py": "sub/a.py", "some/Thing.java": "one/java/some/Thing.java", "./b.c": "deep/er/b.c"
    }  # fmt: skip
