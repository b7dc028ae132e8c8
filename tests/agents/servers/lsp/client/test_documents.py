"""What a server is told of a change leads from one text to the other, however it counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.servers.lsp.client.documents import difference, language_of
from agents.servers.lsp.client.encoding import UTF_16, moved, path_of, uri_of

TEXTS = st.text(alphabet="ab \r\n\N{GRINNING FACE}\N{LINE SEPARATOR}é", max_size=30)


def applied(text: str, change: dict[str, Any], encoding: str) -> str:
    """As a server does it, by offsets."""
    start, end = (_offset(text, change["range"][name], encoding) for name in ("start", "end"))
    return text[:start] + str(change["text"]) + text[end:]


def _offset(text: str, position: dict[str, int], encoding: str) -> int:
    at = 0
    for _ in range(position["line"]):
        ends = [(text.index(end, at), -len(end)) for end in ("\r\n", "\n", "\r") if end in text[at:]]
        where, size = min(ends)
        at = where - size
    line = text[at:].replace("\r", "\n").partition("\n")[0]
    assert position["character"] <= moved(line, len(line.encode()), "utf-8", encoding)
    return at + moved(line, position["character"], encoding, "utf-32")


@pytest.mark.parametrize("encoding", [UTF_16, "utf-8", "utf-32"])
@given(before=TEXTS, after=TEXTS)
def test_a_difference_leads_from_one_text_to_the_other(before: str, after: str, encoding: str) -> None:
    assert applied(before, difference(before, after, encoding), encoding) == after


def test_a_difference_is_no_longer_than_it_must_be() -> None:
    change = difference("one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\n", UTF_16)
    assert change["text"] == "2\n"
    assert change["range"]["start"] == {"line": 1, "character": 0}
    assert change["range"]["end"] == {"line": 2, "character": 0}


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("A.TSX", "typescriptreact"),
        ("Dockerfile", "dockerfile"),
        ("go.mod", "go.mod"),
        ("package.json", "json"),
        ("tsconfig.json", "jsonc"),
        ("tsconfig.build.json", "jsonc"),
        (".vscode/settings.json", "jsonc"),
        (".eslintrc.json", "jsonc"),
        ("opencode.json", "jsonc"),
        ("run.sh", "shellscript"),
        ("main.cc", "cpp"),
        ("notes", "plaintext"),
        ("x.unheard-of", "plaintext"),
    ],
)
def test_languages(name: str, language: str) -> None:
    assert language_of(Path("/x", name)) == language


def test_files_and_their_uris() -> None:
    path = Path("/a b/ä#?%41[1].py")
    assert path_of(uri_of(path)) == path
    assert path_of("file:///a%20b/%C3%A4%23%3f%2541%5B1%5D.py") == path
    assert path_of("file://localhost/x") == Path("/x")
    strange = ["untitled:1", "file://host/x", "http://x/y", "file:x", "file:///%00", "file://[", 5, None, ""]
    assert [path_of(uri) for uri in strange] == [None] * len(strange)
