"""What listeners hear of a text while it streams."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from agents.llm.types import ModelEvent, ReasoningDelta, ReasoningEnd, TextDelta
from sessions.core import bus, fence
from sessions.core.db import in_db
from sessions.core.store import leases
from sessions.core.store import sessions as session_store
from tests.runtime.recording import recording

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_first_delta_goes_at_once_and_those_of_one_moment_as_one(tmp_path: Path) -> None:
    recorder, _ = await recording(tmp_path / "project")
    await recorder.take(TextDelta("a"))
    await asyncio.sleep(0)  # the part is written, and its first delta told
    async with bus.subscribe(wants=lambda event: event.type == "message.part.delta") as mailbox:
        for word in "bcdef":
            await recorder.take(TextDelta(word))
        first = [event.properties["delta"] for event in await mailbox.take(10)]
        await asyncio.sleep(0)
        await recorder.take(TextDelta("g"))
        told = first + [event.properties["delta"] for event in await mailbox.take(10)]
    assert told == ["b", "cdef", "g"]


async def test_what_is_told_of_a_text_comes_before_its_end_and_once(tmp_path: Path) -> None:
    recorder, _ = await recording(tmp_path / "project")
    answer: list[ModelEvent] = [ReasoningDelta(word) for word in ("I ", "th", "ink")]
    answer += [ReasoningEnd(), *(TextDelta(word) for word in ("So ", "it ", "is."))]
    async with bus.subscribe(session=recorder.run.session.id) as mailbox:
        for piece in answer:
            await recorder.take(piece)
        await recorder.fold()
        await asyncio.sleep(0)
        heard = await mailbox.take(10)
    texts: dict[str, str] = {}
    for event in heard:
        if event.type == "message.part.delta":
            part, properties = event.properties["partID"], event.properties
            assert properties["offset"] == len(texts.get(part, ""))
            texts[part] = texts.get(part, "") + properties["delta"]
        elif event.properties.get("part", {}).get("time", {}).get("end"):
            assert texts[event.properties["part"]["id"]] == event.properties["part"]["text"]
    assert list(texts.values()) == ["I think", "So it is."]


async def test_what_came_while_the_lease_may_be_lost_is_told_when_it_stands(tmp_path: Path) -> None:
    recorder, _ = await recording(tmp_path / "project")
    lease = await in_db(leases.claim, recorder.run.session.id, "a worker", 60.0)
    assert lease is not None
    async with bus.subscribe(wants=lambda event: event.type == "message.part.delta") as mailbox:
        with fence.fenced(lease):
            await recorder.take(TextDelta("begun"))
            lease.confirmed -= 100  # the machine slept
            await recorder.take(TextDelta(" and"))
            await asyncio.sleep(0)
            await recorder.take(TextDelta(" on"))
            first = [event.properties["delta"] for event in await mailbox.take(10)]
            late = await mailbox.take(10)
            told = [(event.properties["offset"], event.properties["delta"]) for event in late]
    assert (first, told) == (["begun"], [(5, " and on")])


async def test_nothing_is_told_once_the_lease_is_lost(tmp_path: Path) -> None:
    recorder, _ = await recording(tmp_path / "project")
    lease = await in_db(leases.claim, recorder.run.session.id, "a worker", 60.0)
    assert lease is not None
    async with bus.subscribe(wants=lambda event: event.type == "message.part.delta") as mailbox:
        with fence.fenced(lease):
            await recorder.take(TextDelta("begun"))
            with fence.unfenced():
                session = await in_db(session_store.get, recorder.run.session.id)
                assert session is not None
                await in_db(partial(leases.seize, session, "another", 60.0, dead=True))
            lease.confirmed -= 100
            await recorder.take(TextDelta(" and on"))
            with pytest.raises(fence.LeaseLost):
                await recorder.fold()
        told = [event.properties["delta"] for event in await mailbox.take(10)]
    assert told == ["begun"]
