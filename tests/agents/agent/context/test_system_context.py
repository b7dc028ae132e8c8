"""The algebra: composed sources, compared with a snapshot, give exactly one thing to do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.agent.context.source import UNAVAILABLE, Source, Unavailable
from agents.agent.context.system_context import (
    DuplicateKey,
    ReplacementBlocked,
    ReplacementReady,
    Snapshot,
    SystemContext,
    Unchanged,
    Updated,
    from_json,
    to_json,
)

KEYS = ["a/1", "b/2", "c/3"]
World = Mapping[str, Any]
"""The value of each source that is registered."""


def source(key: str, value: Any, *, removable: bool = True) -> Source[Any]:
    async def load() -> Any:
        return value

    return Source(
        key,
        load=load,
        encode=lambda value: {"is": value},
        baseline=lambda value: f"{key} is {value}",
        update=lambda value: f"{key} is now {value}",
        removal=(lambda value: f"{key} is no longer {value}") if removable else None,
    )


def composed(world: World, **options: bool) -> SystemContext:
    return SystemContext.combine(
        SystemContext.make(source(key, value, **options)) for key, value in world.items()
    )


async def begun(world: World, **options: bool) -> Snapshot:
    ready = await composed(world, **options).initialize()
    assert isinstance(ready, ReplacementReady)
    return ready.snapshot


async def test_the_first_baseline_keeps_the_order_and_leaves_out_what_is_absent() -> None:
    ready = await composed({"z/9": "last", "b/2": None, "a/1": 1}).initialize()
    assert isinstance(ready, ReplacementReady)
    assert ready.baseline == "z/9 is last\n\na/1 is 1"
    assert set(ready.snapshot) == {"z/9", "a/1"}


async def test_an_unavailable_source_blocks_the_first_baseline() -> None:
    blocked = await composed({"a/1": 1, "b/2": Unavailable("Waiting for b.")}).initialize()
    assert blocked == ReplacementBlocked("Waiting for b.")


def test_two_sources_with_one_key_do_not_compose() -> None:
    with pytest.raises(DuplicateKey):
        SystemContext.combine([SystemContext.make(source("a/1", 1)), SystemContext.make(source("a/1", 2))])


async def test_several_changes_are_one_message() -> None:
    snapshot = await begun({"a/1": 1, "b/2": 2, "c/3": 3})
    action = await composed({"a/1": 10, "b/2": 2, "c/3": 30}).reconcile(snapshot)
    assert isinstance(action, Updated)
    assert action.text == "a/1 is now 10\n\nc/3 is now 30"


async def test_unavailable_keeps_what_was_admitted_and_absence_tells_of_it() -> None:
    snapshot = await begun({"a/1": 1, "b/2": 2})
    assert await composed({"a/1": UNAVAILABLE, "b/2": 2}).reconcile(snapshot) == Unchanged()
    action = await composed({"a/1": None, "b/2": UNAVAILABLE}).reconcile(snapshot)
    assert isinstance(action, Updated)
    assert action.text == "a/1 is no longer 1"
    assert set(action.snapshot) == {"b/2"}


async def test_a_contributor_that_is_gone_is_told_of_by_the_text_in_the_snapshot() -> None:
    stored = from_json(to_json(await begun({"a/1": 1, "plugin/x": "blue"})))
    assert stored is not None
    action = await composed({"a/1": 1}).reconcile(stored)
    assert isinstance(action, Updated)
    assert action.text == "plugin/x is no longer blue"


async def test_a_value_that_cannot_be_taken_back_begins_anew() -> None:
    snapshot = await begun({"a/1": 1, "b/2": 2}, removable=False)
    action = await composed({"a/1": 1}).reconcile(snapshot)
    assert isinstance(action, ReplacementReady)
    assert action.baseline == "a/1 is 1"
    blocked = await composed({"a/1": UNAVAILABLE, "b/2": None}).reconcile(snapshot)
    assert isinstance(blocked, ReplacementBlocked)
    assert "a/1" in blocked.reason


async def test_a_new_source_gives_its_baseline_once_and_is_left_out_until_it_can_be_read() -> None:
    snapshot = await begun({"a/1": 1})
    assert await composed({"a/1": 1, "b/2": UNAVAILABLE}).reconcile(snapshot) == Unchanged()
    action = await composed({"a/1": 1, "b/2": 2}).reconcile(snapshot)
    assert isinstance(action, Updated)
    assert action.text == "b/2 is 2"
    assert await composed({"a/1": 1, "b/2": 2}).reconcile(action.snapshot) == Unchanged()


async def test_a_replacement_waits_for_what_was_admitted_only() -> None:
    snapshot = await begun({"a/1": 1})
    ready = await composed({"a/1": 2, "b/2": UNAVAILABLE}).replace(snapshot)
    assert isinstance(ready, ReplacementReady)
    assert ready.baseline == "a/1 is 2"
    blocked = await composed({"a/1": UNAVAILABLE, "b/2": 2}).replace(snapshot)
    assert isinstance(blocked, ReplacementBlocked)


async def test_what_is_observed_once_is_told_with_a_baseline_and_never_compared() -> None:
    looks: list[int] = []

    async def once() -> str:
        looks.append(1)
        return "three files"

    async def load() -> int:
        return 1

    plain = Source("a/1", load, encode=int, baseline=str, update=str, once=once)
    context = SystemContext.make(plain)
    ready = await context.initialize()
    assert isinstance(ready, ReplacementReady)
    assert ready.baseline == "1\nthree files"
    assert await context.reconcile(ready.snapshot) == Unchanged()
    assert len(looks) == 1


async def test_texts_can_be_kept_by_any_database() -> None:
    ready = await composed({"a/1": "half \udc80 and nul \0"}).initialize()
    assert isinstance(ready, ReplacementReady)
    assert ready.baseline == "a/1 is half ? and nul �"


@pytest.mark.parametrize(
    "stored", [None, [], {}, {"version": 2, "sources": {}}, {"version": 1, "sources": 3}]
)
def test_a_snapshot_of_something_else_is_none(stored: Any) -> None:
    assert from_json(stored) is None


VALUES = st.one_of(st.none(), st.just(UNAVAILABLE), st.integers(0, 3), st.text("ab\udc80", max_size=2))
WORLDS = st.dictionaries(st.sampled_from(KEYS), VALUES)


@given(st.lists(WORLDS, max_size=6))
def test_the_model_knows_what_was_last_true(worlds: list[World]) -> None:
    """Whatever happens, a second look changes nothing, and the snapshot is the last value that was seen."""

    async def scenario() -> None:
        snapshot: Snapshot = {}
        known: dict[str, Any] = {}
        for world in worlds:
            action = await composed(world).reconcile(snapshot)
            assert isinstance(action, Unchanged | Updated)
            snapshot = action.snapshot if isinstance(action, Updated) else snapshot
            known = {key: value for key, value in known.items() if world.get(key) is not None}
            seen = {key: value for key, value in world.items() if value not in (None, UNAVAILABLE)}
            known |= {key: {"is": value} for key, value in seen.items()}
            assert {key: admitted.value for key, admitted in snapshot.items()} == known
            assert await composed(world).reconcile(snapshot) == Unchanged()
            assert from_json(to_json(snapshot)) == snapshot

    asyncio.run(scenario())
