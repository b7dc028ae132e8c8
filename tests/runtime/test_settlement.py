"""A stop in the very moment in which a call has succeeded: the success is written, whole and once."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from agents.agent import recovery
from agents.agent.calls import calls
from agents.agent.calls.calls import Calls
from agents.agent.calls.completion import undisturbed
from agents.llm.types import ToolCall
from agents.toolkit.base import FileWrite, FreeInput, Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.shared.output import model_output
from agents.tools import invalid
from agents.tools.registry import Toolset
from sessions.changes.snapshots.objects import object_id
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.fence import fenced
from sessions.core.models import Event, FileChange, Part, Session
from sessions.core.store import leases, ledger, messages
from sessions.core.wire.parts import Running, Span, ToolPart
from tests.runtime.recording import recording


async def succeed(_: FreeInput, ctx: ToolContext) -> ToolResult:
    return ToolResult("Done", "line\n" * 5000)


LASTING = Tool("lasting", "Does something that lasts.", FreeInput, succeed, "lasting")
CALL = ToolCall("call_1", "lasting", {}, "{}")


async def calling(folder: Path) -> Calls:
    """The calls of an answer that has just begun."""
    recorder, turn = await recording(folder)
    return Calls(recorder.run, recorder, turn, Toolset({"lasting": LASTING, "invalid": invalid.TOOL}))


@pytest.mark.django_db(transaction=True)
async def test_success_that_is_being_published_survives_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounding, go_on = threading.Event(), threading.Event()

    def slowly(*given: Any) -> Any:
        bounding.set()
        go_on.wait(10)
        return model_output(*given)

    monkeypatch.setattr(calls, "model_output", slowly)
    block = await calling(tmp_path / "project")

    async def turn() -> None:
        async with block:
            call = await block.recorder.take(CALL)
            assert call is not None
            block.begin(call)

    task = asyncio.create_task(turn())
    await asyncio.to_thread(bounding.wait, 10)
    task.cancel()
    asyncio.get_running_loop().call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    await in_db(recovery.settle, block.run.session.id, recovery.STOPPED)
    part = await in_db(Part.objects.get, type="tool")
    assert part.data["state"]["status"] == "completed"
    assert part.data["state"]["metadata"]["truncated"] is True
    assert part.data["state"]["output"].startswith("line\n")
    published = Event.objects.filter(type="message.part.updated", reference__partID=part.id)
    assert await in_db(published.count) == 2, "it began, and it succeeded"


@pytest.mark.django_db(transaction=True)
async def test_what_was_not_written_after_all_is_noted_though_another_has_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = await calling(tmp_path / "project")
    session, file = block.run.session, tmp_path / "project" / "a.txt"
    taken = await block.recorder.take(CALL)
    lease = await in_db(leases.claim, session.id, "worker", 60)
    assert taken is not None
    assert lease is not None

    def another_comes(*given: Any) -> None:
        add(*given)
        file.write_text("a person's")
        Session.objects.filter(id=session.id).update(lease_owner="another", lease_epoch=lease.epoch + 1)

    add = ledger.add
    monkeypatch.setattr(ledger, "add", another_comes)
    with fenced(lease), pytest.raises(ToolError, match="by somebody else"):
        await block.context_of(taken[0]).write_files([FileWrite(file, b"new", None)])
    assert file.read_text() == "a person's"
    new = object_id(b"new")
    changes = await in_db(lambda: list(FileChange.objects.order_by("id")))
    assert [(row.before, row.after) for row in changes] == [("", new), (new, "")]


@pytest.mark.django_db(transaction=True)
async def test_progress_that_is_told_while_the_last_is_written_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = await calling(tmp_path / "project")
    taken = await block.recorder.take(CALL)
    assert taken is not None
    part = taken[0]
    part.state = Running(input={}, time=Span(start=1))
    shows = block.context_of(part)
    writing, go_on = threading.Event(), threading.Event()

    def slowly(shown: ToolPart) -> None:
        assert isinstance(shown.state, Running)
        if (shown.state.metadata or {}).get("step") == 2:
            writing.set()
            go_on.wait(10)
        put(shown)

    put = messages.put_part
    monkeypatch.setattr(messages, "put_part", slowly)
    async with bus.subscribe(session=block.run.session.id) as mailbox:
        await shows.update(metadata={"step": 1})
        await shows.update(metadata={"step": 2})  # at once: it waits for its time
        await asyncio.to_thread(writing.wait, 10)
        await shows.update(metadata={"step": 3})
        go_on.set()
        steps: list[int] = []
        while 3 not in steps:
            came = await mailbox.take(10)
            assert came
            states = [event.properties.get("part", {}).get("state", {}) for event in came]
            steps += [state["metadata"]["step"] for state in states if state.get("metadata")]
    assert steps == [1, 2, 3]


async def test_work_is_done_however_often_it_is_cancelled() -> None:
    loop, go_on = asyncio.get_running_loop(), asyncio.Event()
    done: list[str] = []

    async def work() -> None:
        await go_on.wait()
        done.append("done")

    def stop(more: int) -> None:
        task.cancel()
        loop.call_soon(*((stop, more - 1) if more else (go_on.set,)))

    task = asyncio.create_task(undisturbed(work()))
    loop.call_soon(stop, 3)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["done"]


async def test_what_the_work_gives_or_raises_comes_through() -> None:
    async def work(size: int) -> int:
        if not size:
            raise OSError("full")
        return size

    assert await undisturbed(work(3)) == 3
    with pytest.raises(OSError, match="full"):
        await undisturbed(work(0))
