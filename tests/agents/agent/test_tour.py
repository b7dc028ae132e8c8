"""What of a model's answer becomes a tour, and what a model is shown of a change."""

from __future__ import annotations

import json

import pytest

from agents.agent import tour
from agents.agent.tour import read
from sessions.changes.review.tours import parts_of
from sessions.changes.review.verdicts import Scope, listing
from tests.sessions.changes.review.test_verdict_pages import edited
from tests.sessions.changes.review.world import World
from tests.sessions.conftest import world

__all__ = ["world"]

MARKS = ["a", "b", "c"]


def stop(*hunks: object, title: str = "A title", **more: object) -> dict[str, object]:
    return {"title": title, "text": "Two.\nSentences.", "hunks": list(hunks), **more}


def test_stops_are_read_with_the_names_of_their_hunks() -> None:
    answer = f"Here it is:\n```json\n{json.dumps({'stops': [stop(3, 1), stop('2', more=1)]})}\n```"
    assert read(answer, MARKS) == [
        {"title": "A title", "text": "Two. Sentences.", "hunks": ["c", "a"]},
        {"title": "A title", "text": "Two. Sentences.", "hunks": ["b"]},
    ]


def test_what_is_no_hunk_or_was_named_before_is_dropped() -> None:
    given = [stop(0, 4, -1, "x", 99999999, 1), stop(1), stop(2, 2, 1), {"title": "no hunks"}, "nothing"]
    found = read(json.dumps({"stops": given}), MARKS)
    assert [one["hunks"] for one in found] == [["a"], ["b"]]


@pytest.mark.parametrize("answer", ["", "no", "{}", '{"stops": 1}', '{"stops": []}', "{" * 3000])
def test_what_cannot_be_read_is_no_tour(answer: str) -> None:
    assert read(answer, MARKS) == []


async def test_each_hunk_is_shown_under_its_number(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await edited(world)
    found = await listing(session, Scope())
    parts = parts_of(found)
    told = tour._told(parts, found)
    assert "[1] a.txt, modified\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n" in told
    assert "[3] b.txt, added\n@@ -0,0 +1,1 @@\n+b\n" in told
    monkeypatch.setattr(tour, "MOST_SHOWN", 90)
    monkeypatch.setattr(tour, "LEAST_SHOWN", 20)
    cut = tour._told(parts, found)
    assert cut.count("(The rest of it is left out.)") == 2
    assert "+b\n" in cut, "what is short is whole"
