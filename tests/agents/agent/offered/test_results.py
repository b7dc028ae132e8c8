from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import types

from agents.agent.offered.results import FAILED, MAX_FILES, NOTHING, adapted
from agents.toolkit.base import ToolError, ToolResult

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n rest").decode()
WAV = base64.b64encode(b"RIFF....WAVE").decode()


def image(data: str = PNG, mime: str = "image/png") -> types.ImageContent:
    return types.ImageContent(type="image", data=data, mime_type=mime)


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def result_of(directory: Path, *blocks: Any, **more: Any) -> ToolResult:
    return adapted(types.CallToolResult(content=list(blocks), **more), "a title", {"server": "s"}, directory)


def test_texts_and_structured_content(tmp_path: Path) -> None:
    result = result_of(tmp_path, text("one"), text("two\0"), structured_content={"a": 1})
    assert (result.title, result.output) == ("a title", 'one\n\ntwo�\n\n{"a": 1}')
    assert result.metadata == {"server": "s", "structured": {"a": 1}}
    assert result_of(tmp_path, text('{"a":  1}'), structured_content={"a": 1}).output == '{"a":  1}'
    assert result_of(tmp_path).output == NOTHING


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (["42"], {"result": 42}),
        (["logged"], {"result": "logged"}),
        (["1.5 "], {"result": 1.5}),
        (["one", "two"], {"result": ["one", "two"]}),
        (['{"a": 1}', '{"a": 2}'], {"result": [{"a": 1}, {"a": 2}]}),
        (['[{"name": "x"}]'], {"entities": [{"name": "x"}]}),
    ],
)
def test_what_is_wrapped_is_told_once(tmp_path: Path, texts: list[str], structured: dict[str, Any]) -> None:
    result = result_of(tmp_path, *map(text, texts), structured_content=structured)
    assert result.output == "\n\n".join(texts)
    assert result.metadata["structured"] == structured


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (["42"], {"count": 42}),
        (["one", "two"], {"result": ["one", "three"]}),
        (["one"], {"result": ["one", "two"]}),
        (["one"], {"result": "one", "more": 1}),
        ([], {"result": []}),
    ],
)
def test_what_the_text_lacks_is_told(tmp_path: Path, texts: list[str], structured: dict[str, Any]) -> None:
    result = result_of(tmp_path, *map(text, texts), structured_content=structured)
    assert result.output == "\n\n".join([*texts, json.dumps(structured)])


def test_files_are_what_they_are_by_their_content(tmp_path: Path) -> None:
    """A picture that is none would make providers refuse this request and all that follow."""
    sound = types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")
    jpeg = image(base64.b64encode(b"\xff\xd8\xff rest").decode(), "image/png; charset=x")
    svg = image(base64.b64encode(b"<svg/>").decode(), "image/svg+xml")
    result = result_of(tmp_path, image(), jpeg, sound, svg, image(WAV), image("§"), image(PNG, '"><script>'))
    assert [file.mime for file in result.attachments] == [
        "image/png",
        "image/jpeg",
        "audio/wav",
        "image/svg+xml",
        "image/png",
    ]
    assert result.attachments[0].url == f"data:image/png;base64,{PNG}"
    assert "[The audio (audio/wav, 12 bytes) is for the user only.]" in result.output
    assert "[The image (image/png) is left out: it is not what it says to be.]" in result.output
    assert "[The image (image/png) is left out: it is not valid base64.]" in result.output


def test_files_are_bounded(tmp_path: Path) -> None:
    large = image("A" * 20_000_000)
    result = result_of(tmp_path, large, *[image()] * (MAX_FILES + 1))
    assert len(result.attachments) == MAX_FILES
    assert "15,000,000 bytes, and at most 10,485,760 are taken" in result.output
    assert "20 files are there already" in result.output


def test_resources(tmp_path: Path) -> None:
    words = types.TextResourceContents(uri="file:///a.txt", text="words")
    blob = types.BlobResourceContents(uri="x://y/z.gz", blob=WAV, mime_type="application/gzip")
    encoded = base64.b64encode("späte".encode()).decode()
    late = types.BlobResourceContents(uri="x://late", blob=encoded, mime_type="text/markdown; charset=utf-8")
    link = types.ResourceLink(type="resource_link", name="B", uri="x://b", description="a b")
    result = result_of(
        tmp_path,
        types.EmbeddedResource(type="resource", resource=words),
        types.EmbeddedResource(type="resource", resource=blob),
        types.EmbeddedResource(type="resource", resource=late),
        link,
    )
    assert "[Resource file:///a.txt]\nwords" in result.output
    assert "[Resource x://late]\nspäte" in result.output
    assert "[The resource x://y/z.gz (application/gzip, 12 bytes) is for the user only.]" in result.output
    assert "[Resource B: x://b (a b)]" in result.output
    assert [(file.mime, file.filename) for file in result.attachments] == [("application/gzip", "z.gz")]


def test_an_error_is_the_models_and_bounded(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no such place"):
        result_of(tmp_path, text("no such place"), is_error=True)
    with pytest.raises(ToolError, match=FAILED):
        result_of(tmp_path, is_error=True)
    with pytest.raises(ToolError) as failure:
        result_of(tmp_path, text("x" * 1_000_000), is_error=True)
    assert len(str(failure.value)) < 60_000
    assert len(list(tmp_path.iterdir())) == 1
