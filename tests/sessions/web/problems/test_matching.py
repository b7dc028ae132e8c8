"""Which problems came and which went with a change."""

from __future__ import annotations

from sessions.changes.diffs.hunks import hunks
from sessions.core.store.problems import Known, Problem
from sessions.web.problems.marks import Delta, delta
from sessions.web.problems.matching import Turned, turned

BEFORE = b"import os\n\ndef f():\n    return x\n\nprint(y)\n"


def problem(line: int, message: str, severity: int = 1, server: str = "ruff", code: str = "F821") -> Problem:
    return Problem(line, 0, line, 1, severity, message, code, server=server)


def change(after: bytes, old: Known | None, new: Known | None, before: bytes = BEFORE) -> Turned | None:
    return turned(old, new, hunks(before, after))


def test_a_problem_moves_with_its_line() -> None:
    old = {"ruff": (problem(3, "Undefined name x"), problem(5, "Undefined name y"))}
    new = {"ruff": (problem(4, "Undefined name x"), problem(6, "Undefined name y"))}
    assert change(b"import re\n" + BEFORE, old, new) == Turned((), ())


def test_what_came_and_what_went() -> None:
    old = {"ruff": (problem(3, "Undefined name x"), problem(0, "os is unused", 2, code="F401"))}
    fixed = BEFORE.replace(b"return x", b"return z")
    come = problem(3, "Undefined name z")
    assert change(fixed, old, {"ruff": (old["ruff"][1], come)}) == Turned((come,), (old["ruff"][0],))


def test_a_message_that_names_lines_is_the_same_one() -> None:
    old, new = (problem(line, f"f is defined on line {line} already", 2) for line in (2, 3))
    assert change(b"\n" + BEFORE, {"ruff": (old,)}, {"ruff": (new,)}) == Turned((), ())


def test_a_line_that_was_moved_by_hand_takes_its_problem_along() -> None:
    moved = b"print(y)\nimport os\n\ndef f():\n    return x\n\n"
    old, new = problem(5, "Undefined name y"), problem(0, "Undefined name y")
    assert change(moved, {"ruff": (old,)}, {"ruff": (new,)}) == Turned((), ())
    two = (new, problem(9, "Undefined name y"))
    both = change(moved + b"\n\n\nprint(y)\n", {"ruff": (old,)}, {"ruff": two})
    assert both is not None
    assert (len(both.come), both.gone) == (1, ()), "one of two is new"


def test_only_servers_that_saw_both_contents_count() -> None:
    new = {"ruff": (problem(0, "new"),), "pyright": (problem(0, "unseen before", server="pyright"),)}
    partly = change(BEFORE, {"ruff": ()}, new)
    assert partly == Turned((problem(0, "new"),), (), partly=True)
    assert delta([partly]) is None, "what the other one saw before is not known"
    assert change(BEFORE, {"gopls": ()}, new) is None
    assert change(BEFORE, {}, new) is None


def test_of_a_file_that_is_not_there_everybody_knows_the_problems() -> None:
    known = {"ruff": (problem(0, "new"),)}
    assert turned(None, known, hunks(b"", BEFORE)) == Turned(known["ruff"], ())
    assert turned(known, None, hunks(BEFORE, b"")) == Turned((), known["ruff"])


def test_problems_beyond_the_end_of_the_file_are_no_error() -> None:
    far = problem(10**6, "where is that?")
    assert change(b"", {"ruff": (far,)}, {"ruff": (far,)}) is not None


def test_deltas_add_up_and_say_nothing_of_what_is_not_known() -> None:
    one = Turned((problem(0, "a"), problem(1, "b"), problem(1, "i", 3)), (problem(2, "c", 2),))
    assert delta([one, one]) == Delta(errors=4, warnings_gone=2)
    assert delta([one, None]) is None
    assert not Delta()
    assert Delta().html == ""
    text = Delta(errors=2, errors_gone=1, warnings_gone=1).html
    assert '<span class="delta-come" data-severity="1">+2</span> <span class="delta-gone">' in text
    assert "</span> errors, <span" in text
    assert text.endswith("warning</span>")
