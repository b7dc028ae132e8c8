"""The lines that are checks of a goal, and those that are none."""

from __future__ import annotations

import pytest

from agents.agent.goals.checks import BadCheck, Check, lines, parse


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("make test", Check("make test", "command", "make test")),
        ("  coverage run -m pytest ", Check("coverage run -m pytest", "command", "coverage run -m pytest")),
        ("coverage >= 80: make c", Check("coverage >= 80: make c", "coverage", "make c", 80)),
        ("Coverage>=79.5%:make c", Check("Coverage>=79.5%:make c", "coverage", "make c", 79.5)),
        ("file: docs/a b.md", Check("file: docs/a b.md", "file", "docs/a b.md")),
        ("Problems", Check("Problems", "problems")),
    ],
)
def test_what_a_line_means(line: str, check: Check) -> None:
    assert parse(line) == check


@pytest.mark.parametrize("line", ["file: ../x", "file: /etc/passwd", "coverage >= many: make c"])
def test_what_is_none(line: str) -> None:
    with pytest.raises(BadCheck):
        parse(line)


def test_a_line_counts_once_and_an_empty_one_not() -> None:
    assert lines("make test\n\n  make test\nproblems \n") == ["make test", "problems"]
