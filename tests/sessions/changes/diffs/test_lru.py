from __future__ import annotations

import pytest

from sessions.core.bounded import LRU


def test_answers_are_found_once_and_the_oldest_go() -> None:
    kept: LRU[str] = LRU(10)
    found: list[str] = []

    def ask(name: str, weight: int = 4) -> str:
        def find() -> tuple[str, int]:
            found.append(name)
            return name.upper(), weight

        return kept.get(name, find)

    assert [ask("a"), ask("b"), ask("a")] == ["A", "B", "A"]
    assert found == ["a", "b"]
    ask("c")
    assert ask("a") == "A"
    assert found == ["a", "b", "c"], "b was asked for longest ago"
    ask("b")
    assert found[-1] == "b"
    assert (ask("huge", 11), ask("huge", 11)) == ("HUGE", "HUGE")
    assert found[-2:] == ["huge", "huge"], "too much to be kept, and nothing else has to go for it"
    ask("b")
    assert found[-1] == "huge"


def test_what_cannot_be_found_is_asked_for_again() -> None:
    kept: LRU[str] = LRU(10)

    def fail() -> tuple[str, int]:
        raise LookupError

    with pytest.raises(LookupError):
        kept.get("a", fail)
    assert kept.get("a", lambda: ("A", 1)) == "A"
