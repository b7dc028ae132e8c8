"""What stands in an editor's prompt: files, what is not saved of them, selections, pictures."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from acp.exceptions import RequestError
from acp.schema import (
    Annotations,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from opencode_web.bridge.acp.calls import call, fenced
from opencode_web.bridge.acp.content import Block, blocks_of, lines_of, parts_of, path_of
from tests.loopback.script import Turn
from tests.opencode_web.bridge.acp.conftest import Stage
from tests.opencode_web.bridge.acp.stage import editing
from tests.opencode_web.bridge.acp.test_turns import begun

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def link(uri: str, **more: Any) -> ResourceContentBlock:
    return ResourceContentBlock(type="resource_link", name="it", uri=uri, **more)


def reading(texts: dict[str, str]) -> Any:
    async def read(path: str) -> str:
        if path not in texts:
            raise RequestError.resource_not_found(path)
        return texts[path]

    return read


async def part_of(block: Block, texts: dict[str, str] | None = None) -> dict[str, Any]:
    [part] = await parts_of([block], None if texts is None else reading(texts))
    return part


def text_of(part: dict[str, Any]) -> str:
    return base64.b64decode(part["url"].partition(",")[2]).decode()


async def test_a_saved_file_is_left_to_the_server_and_one_with_changes_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "a b.py"
    file.write_text("one\r\ntwo\r\nthree\r\n")
    path, uri = str(file), file.as_uri()
    saved = {"type": "file", "filename": path, "mime": "text/plain", "url": uri}
    assert await part_of(link(uri)) == saved
    assert await part_of(link(uri), {}) == saved
    assert await part_of(link(uri), {path: "one\ntwo\nthree\n"}) == saved
    changed = await part_of(link(uri), {path: "one\nnew\nthree\n"})
    assert (changed["filename"], text_of(changed)) == (path, "one\nnew\nthree\n")
    assert (await part_of(link(f"{uri}#L2:3")))["url"] == f"{uri}?start=2&end=3"
    lines = await part_of(link(f"{uri}#L2"), {path: "one\nnew\nthree\n"})
    assert (lines["filename"], text_of(lines)) == (f"{path}, lines 2 to 2", "new\n")
    folder = await part_of(link(tmp_path.as_uri()), {})
    assert (folder["mime"], folder["url"]) == ("application/x-directory", tmp_path.as_uri())
    gone = await part_of(link((tmp_path / "unsaved.py").as_uri()), {str(tmp_path / "unsaved.py"): "x"})
    assert text_of(gone) == "x"


async def test_selections_pictures_and_addresses() -> None:
    selection = TextResourceContents(uri="file:///p/a.py#L3:4", text="x = 1\n")
    part = await part_of(EmbeddedResourceContentBlock(type="resource", resource=selection))
    assert (part["filename"], text_of(part)) == ("/p/a.py, lines 3 to 4", "x = 1\n")
    blob = BlobResourceContents(uri="file:///p/a.pdf", blob=PIXEL, mime_type="application/pdf")
    part = await part_of(EmbeddedResourceContentBlock(type="resource", resource=blob))
    assert part["url"] == f"data:application/pdf;base64,{PIXEL}"
    picture = ImageContentBlock(type="image", data=PIXEL, mime_type="image/png")
    part = await part_of(picture)
    assert (part["mime"], part["url"]) == ("image/png", f"data:image/png;base64,{PIXEL}")
    assert [*blocks_of(part)] == [picture]
    issue = link("https://example.org/1", title="One")
    assert (await part_of(issue))["text"] == "[One](https://example.org/1)"
    hidden = TextContentBlock(type="text", text="x", annotations=Annotations(audience=["assistant"]))
    assert [*blocks_of(await part_of(hidden))] == []


@pytest.mark.parametrize(
    ("uri", "path", "lines"),
    [
        ("file:///a%20b.py", "/a b.py", (0, None)),
        ("file:///a.py#L3", "/a.py", (3, 3)),
        ("file:///a.py#L3-L9", "/a.py", (3, 9)),
        ("file:///a.py#L9:3", "/a.py", (9, 9)),
        ("file:///a.py#chapter", "/a.py", (0, None)),
        ("zed:///agent/symbol/x?path=/a.py#L1:2", "/a.py", (1, 2)),
        ("file://elsewhere/a.py", None, (0, None)),
        ("https://example.org/a.py", None, (0, None)),
    ],
)
def test_addresses(uri: str, path: str | None, lines: tuple[int, int | None]) -> None:
    assert (path_of(uri), lines_of(uri)) == (path, lines)


def test_output_cannot_end_its_block() -> None:
    assert fenced("a\n```\n# b\n", "console") == "````console\na\n```\n# b\n````"


def test_a_patch_of_several_files_has_a_diff_of_each() -> None:
    files = [
        {"filePath": "/p/a", "filediff": {"file": "a", "before": "1\n", "after": "2\n"}, "diff": "…"},
        {"filePath": "/p/b", "filediff": {"file": "b", "beforeObject": "x"}, "diff": "--- b\n+++ b\n"},
    ]
    state = {"status": "completed", "input": {}, "output": "Applied.", "title": "a, b"}
    part = {"tool": "apply_patch", "callID": "1", "state": {**state, "metadata": {"files": files}}}
    told = call(part, "1", "/p", first=True).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert [one["path"] for one in told["locations"]] == ["/p/a", "/p/b"]
    assert told["content"][0] == {"type": "diff", "path": "/p/a", "oldText": "1\n", "newText": "2\n"}
    assert told["content"][1]["content"]["text"] == "```diff\n--- b\n+++ b\n```"


@pytest.mark.asyncio(loop_scope="session")
async def test_the_model_reads_what_the_editor_has(stage: Stage) -> None:
    file = stage.project / "open.py"
    file.write_text("saved = True\n")
    (stage.project / "closed.py").write_text("closed = True\n")
    picture = ImageContentBlock(type="image", data=PIXEL, mime_type="image/png")
    closed = (stage.project / "closed.py").as_uri()
    stage.plays(Turn(text="I see."))
    async with editing(stage.environ) as editor:
        editor.person.texts[str(file)] = "saved = False\n"
        session_id = await begun(editor, stage)
        await editor.prompt(session_id, "Read these", link(file.as_uri()), link(closed), picture)
        asked = str(stage.model.requests[-1])
        assert "saved = False" in asked
        assert "saved = True" not in asked
        assert "closed = True" in asked
        assert PIXEL in asked
    async with editing(stage.environ) as editor:
        person = editor.person
        await editor.agent.load_session(cwd=str(stage.project), session_id=session_id, mcp_servers=[])
        kinds = [update["content"]["type"] for update in person.of("user_message_chunk")]
        assert kinds == ["text", "resource", "resource_link", "image"]
        assert unquote(person.of("user_message_chunk")[2]["content"]["uri"]) == unquote(closed)
