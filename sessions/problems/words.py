"""Problems in words."""

from __future__ import annotations

from collections.abc import Iterable

from sessions.rendering.text import visible
from sessions.store.problems import ERROR, WARNING, Problem

KINDS = {ERROR: "Error", WARNING: "Warning", 3: "Information", 4: "Hint"}
PLURALS = {ERROR: "errors", WARNING: "warnings"}
_TOLD = 500  # characters of a message that the agent is told


def text(problem: Problem) -> str:
    """Its message without blank lines."""
    return "\n".join(visible(line) for line in problem.message.splitlines() if line.strip())


def kind(problem: Problem) -> str:
    return KINDS.get(problem.severity, "Hint")


def rule(problem: Problem) -> str:
    """Who says it, and by which rule: 0 stands for none."""
    code = problem.code if problem.code != "0" else ""
    return visible(" ".join(filter(None, (problem.source or problem.server, code))))


def counted(number: int, severity: int) -> str:
    """`1 error`, `2 warnings`."""
    word = PLURALS[severity]
    return f"{number:,} {word if number != 1 else word.removesuffix('s')}"


def how_many(problems: Iterable[Problem]) -> tuple[int, int]:
    """Errors and warnings."""
    severities = [problem.severity for problem in problems]
    return severities.count(ERROR), severities.count(WARNING)


def told(problem: Problem, path: str) -> str:
    """One line for the agent: where it is (from 1, as editors count), and what it is."""
    said = " ".join(visible(problem.message).split())
    said = said if len(said) <= _TOLD else f"{said[:_TOLD]}…"
    place = f"{visible(path)}:{problem.line + 1}:{problem.character + 1}"
    return f"{place}: {kind(problem).lower()}: {said} ({rule(problem)})"
