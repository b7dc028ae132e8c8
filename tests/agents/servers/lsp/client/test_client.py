"""What is said with a language server, and when its word on a file counts."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from agents.servers.lsp.client import client, documents, problems
from agents.servers.lsp.types import Failed, Position, Range, Update

from .stage import INCREMENTAL, WITHIN, Stage, playing, problem, pushed

PULL = {"textDocumentSync": 1, "diagnosticProvider": {"identifier": "one", "interFileDependencies": True}}
DIAGNOSTIC = "textDocument/diagnostic"


async def said(stage: Stage, path: Path, version: int, within: float = WITHIN) -> list[str]:
    return [one.message for one in await stage.client.diagnostics(path, version, within)]


async def test_it_is_greeted_with_what_we_do(tmp_path: Path) -> None:
    async with playing(tmp_path, initialization={"tool": {"strict": True}}) as stage:
        [greeting] = await stage.heard("initialize")
        assert await stage.heard("initialized") == [{}]
        [changed] = await stage.heard("workspace/didChangeConfiguration")
        assert stage.client.capabilities == INCREMENTAL
        assert stage.client.alive
        assert not stage.client.can("textDocument/hover")
    assert greeting["processId"] == os.getpid()
    assert greeting["rootUri"] == tmp_path.as_uri()
    assert greeting["initializationOptions"] == changed["settings"] == {"tool": {"strict": True}}
    assert stage.client.reason == "it was not needed any longer"


@pytest.mark.parametrize(
    ("method", "params", "answer"),
    [
        (
            "workspace/configuration",
            {"items": [{"section": "tool.strict"}, {"section": "tool.other"}, {"section": "tool"}, {}]},
            [True, None, {"strict": True}, {"tool": {"strict": True}}],
        ),
        (
            "workspace/applyEdit",
            {"edit": {}},
            {"applied": False, "failureReason": "this client asked for no edit"},
        ),
        ("window/showDocument", {"uri": "https://example.org"}, {"success": False}),
        (
            "window/showMessageRequest",
            {"type": 1, "message": "Install?", "actions": [{"title": "Yes"}]},
            None,
        ),
        ("window/workDoneProgress/create", {"token": 1}, None),
        ("workspace/semanticTokens/refresh", None, None),
        ("workspace/diagnostic/refresh", None, None),
    ],
)
async def test_what_it_asks_is_answered(tmp_path: Path, method: str, params: Any, answer: Any) -> None:
    async with playing(tmp_path, initialization={"tool": {"strict": True}}) as stage:
        assert (await stage.fake("ask", method, params))["result"] == answer


async def test_folders_and_what_nobody_answers(tmp_path: Path) -> None:
    async with playing(tmp_path) as stage:
        found = await stage.fake("ask", "workspace/workspaceFolders", None)
        unknown = await stage.fake("ask", "no/such", {})
        wrong = await stage.fake("ask", "workspace/configuration", {"items": 5})
    assert found["result"] == [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    assert unknown["error"]["code"] == -32601
    assert wrong["error"]["code"] == -32603


async def test_a_document_from_opening_to_closing(tmp_path: Path) -> None:
    path = tmp_path / "täst.py"
    async with playing(tmp_path) as stage:
        first = stage.client.open(path, b"one\ntwo\n")
        assert stage.client.open(path, b"one\ntwo\n") == first
        second = stage.client.change(path, "one\n\N{GRINNING FACE}two".encode())
        third = stage.client.change(path, b"three", saved=False)
        stage.client.close(path)
        [opened] = await stage.heard("textDocument/didOpen")
        changes = await stage.heard("textDocument/didChange")
        saves = await stage.heard("textDocument/didSave")
        assert await stage.heard("textDocument/didClose") == [{"textDocument": {"uri": path.as_uri()}}]
    assert first < second < third
    assert opened["textDocument"]["languageId"] == "python"
    assert opened["textDocument"]["text"] == "one\ntwo\n"
    assert [change["contentChanges"][0]["text"] for change in changes] == ["\N{GRINNING FACE}two", "three"]
    assert changes[1]["contentChanges"][0]["range"]["end"] == {"line": 1, "character": 5}
    assert saves == [{"textDocument": {"uri": path.as_uri()}, "text": "one\n\N{GRINNING FACE}two"}]


async def test_the_whole_text_for_a_server_that_wants_it(tmp_path: Path) -> None:
    async with playing(tmp_path, {"textDocumentSync": 1}) as stage:
        stage.client.open(tmp_path / "a.py", b"one\n")
        stage.client.change(tmp_path / "a.py", b"one\ntwo\n")
        [change] = await stage.heard("textDocument/didChange")
        with pytest.raises(Failed, match="more than"):
            stage.client.open(tmp_path / "b.py", b"x" * (documents.MAX_BYTES + 1))
    assert change["contentChanges"] == [{"text": "one\ntwo\n"}]


async def test_what_was_pushed_of_another_version_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    async with playing(tmp_path) as stage:
        first = stage.client.open(path, b"one")
        await stage.push(path, "of the first", version=first)
        assert await said(stage, path, first) == ["of the first"]
        second = stage.client.change(path, b"two")
        waiting = asyncio.create_task(said(stage, path, second))
        await stage.push(path, "late of the first", version=first)
        assert not waiting.done()
        await stage.push(path, "of the second", version=second)
        assert await waiting == ["of the second"]
        assert [(update.content, update.server) for update in stage.updates] == [
            (b"one", "fake"),
            (None, "fake"),
            (b"two", "fake"),
        ]
        third = stage.client.change(path, b"three")
        await stage.push(path, "without a version")
        assert await said(stage, path, third) == ["without a version"]
        assert await said(stage, path, stage.client.change(path, b"four"), within=0.05) == []


async def test_what_comes_late_and_without_a_version_is_not_taken_for_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is behind, or says a thing twice, tells after an edit what was wrong before it."""
    monkeypatch.setattr(problems, "SINGLES", 0)
    path = tmp_path / "a.py"
    async with playing(tmp_path) as stage:
        known = stage.client._problems._file(path)
        first = stage.client.open(path, b"one")
        await stage.push(path)
        assert await said(stage, path, first) == []
        stage.client.change(path, b"two")
        document = stage.client._documents.get(path)
        assert document is not None
        document.told -= 3600
        third = stage.client.change(path, b"three")
        waiting = asyncio.create_task(said(stage, path, third))
        await stage.push(path, "of the second")
        assert known.doubted is not None, "the second is owed an answer"
        assert stage.updates[-1].content is None
        await stage.push(path)
        assert await waiting == []
        known.took = 3600
        await stage.push(path, "of the third")
        fourth = stage.client.change(path, b"four")
        known.took = 3600
        waiting = asyncio.create_task(said(stage, path, fourth))
        await stage.push(path, "of the third")
        await stage.fake("big", 1)
        assert not waiting.done(), "it is what was said before"
        await stage.push(path, "of the fourth")
        assert await waiting == ["of the fourth"]
        known.took = 0.05
        fifth = stage.client.change(path, b"five")
        await stage.push(path, "of the fourth")
        assert await said(stage, path, fifth) == ["of the fourth"], "nothing else has come"
        monkeypatch.setattr(problems, "SETTLE_SECONDS", 3600)
        known.took = 0
        waiting = asyncio.create_task(said(stage, path, stage.client.change(path, b"six")))
        await stage.push(path, "of the fourth")
        await stage.fake("big", 1)
        assert not waiting.done(), "it was quick before, and need not be now"
        await stage.push(path)
        assert await waiting == []


async def test_a_server_that_pushes_twice_is_heard_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "SETTLE_SECONDS", 0.5)
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    async with playing(tmp_path) as stage:
        version = stage.client.open(path, b"one")
        found = pushed(path, "quick"), pushed(path, "quick", "slow"), pushed(other, "broken by it")
        messages = [{"method": "textDocument/publishDiagnostics", "params": params} for params in found]
        pushing = asyncio.create_task(stage.fake("say", messages, 0.02))
        assert await said(stage, path, version) == ["quick", "slow"]
        assert [update.path for update in stage.updates] == [path, path, other]
        await pushing


async def test_nothing_more_is_waited_for_where_one_push_tells_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "SETTLE_SECONDS", 3600)
    path = tmp_path / "a.py"
    async with playing(tmp_path) as stage:
        for number in range(problems.SINGLES):
            version = stage.client.open(path, b"%d" % number)
            await stage.push(path, f"of {number}")
        assert await asyncio.wait_for(said(stage, path, version, within=3600), WITHIN) == [f"of {number}"]
        await stage.push(path, "and more")
        version = stage.client.open(path, b"another")
        await stage.push(path, "of another")
        waiting = asyncio.create_task(said(stage, path, version))
        await stage.fake("big", 1)
        assert not waiting.done()
        waiting.cancel()


async def test_one_that_never_says_anything_is_waited_for_a_few_times_only(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    async with playing(tmp_path) as stage:
        for number in range(client.FRUITLESS):
            version = stage.client.open(path, b"%d" % number)
            assert await said(stage, path, version, within=0.01) == []
        assert await said(stage, path, version, within=3600) == []
        await stage.push(path, "after all")
        assert await said(stage, path, version) == ["after all"]


async def test_nothing_is_believed_of_a_server_that_is_at_work_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "SINGLES", 0)  # it is known to push once
    path = tmp_path / "a.py"
    begin = {"kind": "begin", "title": "Checking", "message": "1/2", "percentage": 50}
    async with playing(tmp_path) as stage:
        version = stage.client.open(path, b"one")
        await stage.say("$/progress", {"token": "t", "value": begin}, {"token": 5, "value": "partial result"})
        assert stage.client.working() == "Checking: 1/2 (50 %)"
        waiting = asyncio.create_task(said(stage, path, version))
        await stage.push(path, version=version)
        await stage.say("$/progress", {"token": "t", "value": {"kind": "report", "message": "2/2"}})
        assert stage.client.working() == "Checking: 2/2 (50 %)"
        assert not waiting.done()
        await stage.say("$/progress", {"token": "t", "value": {"kind": "end"}})
        await stage.push(path, "found", version=version)
        assert await waiting == ["found"]
        assert stage.client.working() == ""


async def test_it_is_asked_where_it_wants_to_be_asked(tmp_path: Path) -> None:
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    full = {"kind": "full", "resultId": "r1", "items": [problem("asked")]}
    related = {other.as_uri(): {"kind": "full", "items": [problem("of the other")]}}
    async with playing(tmp_path, PULL) as stage:
        stage.client.open(other, b"other")
        await stage.fake(
            "answer",
            DIAGNOSTIC,
            {"error": {"code": -32802, "message": "once more", "data": {"retriggerRequest": True}}},
            {"result": {**full, "relatedDocuments": related}},
            {"result": {"kind": "unchanged", "resultId": "r1"}},
        )
        version = stage.client.open(path, b"one")
        assert await said(stage, path, version) == ["asked"]
        assert await said(stage, path, version) == ["asked"]
        assert await said(stage, path, stage.client.open(path, b"two")) == ["asked"]
        await stage.push(path, "asked", "pushed besides")
        await stage.fake("big", 1)
        assert [one.message for one in stage.updates[-1].diagnostics] == ["asked", "pushed besides"]
        asked = await stage.heard(DIAGNOSTIC)
    about = [(Path(params["textDocument"]["uri"]).name, params.get("previousResultId")) for params in asked]
    assert about[:3] == [("a.py", None), ("a.py", None), ("b.py", None)]
    assert ("a.py", "r1") in about
    assert {params["identifier"] for params in asked} == {"one"}
    assert [one.message for one in next(u for u in stage.updates if u.path == other).diagnostics] == [
        "of the other"
    ]


async def test_a_provider_that_is_registered_late(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    registration = {"id": "1", "method": DIAGNOSTIC, "registerOptions": {"identifier": "late"}}
    async with playing(tmp_path) as stage:
        await stage.fake("answer", DIAGNOSTIC, {"result": {"kind": "full", "items": [problem("late")]}})
        version = stage.client.open(path, b"one")
        waiting = asyncio.create_task(said(stage, path, version))
        await stage.fake("ask", "client/registerCapability", {"registrations": [registration]})
        assert await waiting == ["late"]
        assert stage.client.can(DIAGNOSTIC)
        heard: asyncio.Queue[Update] = asyncio.Queue()
        stage.client.listeners.append(heard.put_nowait)
        await stage.fake("ask", "workspace/diagnostic/refresh", None)
        assert (await heard.get()).content == b"one"
        await stage.fake(
            "ask", "client/unregisterCapability", {"unregisterations": [{"id": "1", "method": ""}]}
        )
        assert not stage.client.can(DIAGNOSTIC)


async def test_what_is_taken_back_at_closing_stays_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that only looks at open files has nothing to say of the others; that is no news of them."""
    monkeypatch.setattr(documents, "MOST_OPEN", 1)
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    async with playing(tmp_path) as stage:
        version = stage.client.open(first, b"one")
        await stage.push(first, "stays")
        stage.client.open(second, b"two")
        stage.client.tidy()
        assert stage.client.opened() == [second]
        await stage.push(first)
        await stage.fake("big", 1)
        assert await said(stage, first, version) == ["stays"]
        await stage.push(first, "is news")
        assert await said(stage, first, version) == ["is news"]


async def test_what_it_takes_back_while_it_ends_is_no_news(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    async with playing(tmp_path) as stage:
        stage.client.open(path, b"one")
        await stage.push(path, "stays")
        push = {"method": "textDocument/publishDiagnostics", "params": pushed(path)}
        await stage.fake("answer_after", "shutdown", [push])
        await stage.client.end()
        assert [len(update.diagnostics) for update in stage.updates] == [1]


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 4), ("utf-32", 1), ("utf-16", 2), ("other", 2)])
async def test_positions_are_utf_16_whatever_it_counts(tmp_path: Path, encoding: str, width: int) -> None:
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    other.write_text("x\n\N{GRINNING FACE}b")
    face = "\N{GRINNING FACE}"
    async with playing(tmp_path, {**INCREMENTAL, "positionEncoding": encoding}) as stage:
        version = stage.client.open(path, f"{face}a".encode())
        found = [problem("wrong", (0, width), (0, width + 1))]
        await stage.say("textDocument/publishDiagnostics", {"uri": path.as_uri(), "diagnostics": found})
        [one] = await stage.client.diagnostics(path, version, WITHIN)
        assert one.range == Range(Position(0, 2), Position(0, 3))
        place = {"start": {"line": 1, "character": width}, "end": {"line": 7, "character": 9}}
        await stage.fake(
            "answer", "textDocument/definition", {"result": [{"uri": other.as_uri(), "range": place}]}
        )
        asked = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 2}}
        [answer] = await stage.client.request("textDocument/definition", asked, WITHIN)
        assert answer["range"] == {"start": {"line": 1, "character": 2}, "end": {"line": 7, "character": 9}}
        [heard] = await stage.heard("textDocument/definition")
        assert heard["position"] == {"line": 0, "character": width}
        stage.client.change(path, f"{face}b".encode())
        [change] = await stage.heard("textDocument/didChange")
        assert change["contentChanges"][0]["range"]["end"] == {"line": 0, "character": width + 1}


async def test_changes_on_the_disk_are_told_to_those_that_registered(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("")
    (tmp_path / "sub").mkdir()
    watchers = [
        {"globPattern": "**/*.{py,pyi}"},
        {"globPattern": {"baseUri": (tmp_path / "sub").as_uri(), "pattern": "*.toml"}, "kind": 1},
    ]
    registration = {
        "id": "w",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": watchers},
    }
    async with playing(tmp_path) as stage:
        await stage.fake("ask", "client/registerCapability", {"registrations": [registration]})
        await stage.fake("big", 1)
        (tmp_path / "new.py").write_text("1")
        (tmp_path / "old.py").write_text("2")
        (tmp_path / "other.txt").write_text("3")
        (tmp_path / "sub/a.toml").write_text("4")
        assert await told(stage) == {("new.py", 1), ("old.py", 2), ("sub/a.toml", 1)}
        (tmp_path / "made/deep").mkdir(parents=True)
        (tmp_path / "made/deep/in.pyi").write_text("5")
        (tmp_path / "old.py").unlink()
        (tmp_path / "sub/a.toml").write_text("6")
        assert await told(stage) >= {("made/deep/in.pyi", 1), ("old.py", 3)}
        (tmp_path / "made").rename(tmp_path.parent / f"{tmp_path.name}-gone")
        assert ("made/deep/in.pyi", 3) in await told(stage)
        await stage.fake(
            "ask", "client/unregisterCapability", {"unregisterations": [{"id": "w", "method": ""}]}
        )
        before = await told(stage)
        (tmp_path / "more.py").write_text("7")
        assert await told(stage) == before


async def told(stage: Stage) -> set[tuple[str, int]]:
    heard = await stage.heard("workspace/didChangeWatchedFiles")
    changes = [change for params in heard for change in params["changes"]]
    start = f"{stage.root.as_uri()}/"
    return {(change["uri"].removeprefix(start), change["type"]) for change in changes}


async def test_what_it_answers_of_a_file_is_converted_once(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    async with playing(tmp_path, {**PULL, "positionEncoding": "utf-8"}) as stage:
        report = {"kind": "full", "items": [problem("wrong", (0, 4), (0, 6))]}
        await stage.fake("answer", DIAGNOSTIC, {"result": report})
        [one] = await stage.client.diagnostics(path, stage.client.open(path, "éé\néa".encode()), WITHIN)
    assert one.range == Range(Position(0, 2), Position(0, 2))
