from __future__ import annotations

from sessions.core.bounded import Bounded


def test_the_one_set_longest_ago_goes() -> None:
    gone: list[int] = []
    known: Bounded[str, int] = Bounded(2, gone.append)
    for number in range(5):
        known[str(number)] = number
    assert (list(known), gone) == (["3", "4"], [0, 1, 2])
    known.clear()
    gone.clear()
    known["a"] = 1
    known["b"] = 2
    known["a"] = 3
    known["c"] = 4
    assert list(known.items()) == [("a", 3), ("c", 4)]
    assert gone == [2], "a value that is replaced is not dropped"


def test_a_default_counts_as_one_that_was_set() -> None:
    known: Bounded[str, int] = Bounded(1)
    assert known.setdefault("a", 1) == 1
    assert known.setdefault("a", 2) == 1
    assert known.setdefault("b", 3) == 3
    assert known == {"b": 3}
