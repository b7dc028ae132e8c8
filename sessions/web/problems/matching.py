"""Which problems of a content are those of the content before it, and which came or went with the change."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.diffs.hunks import FileDiff
from sessions.changes.diffs.lines import Span
from sessions.core.sentences import grouped
from sessions.core.store.problems import ERROR, WARNING, Known, Problem
from sessions.core.text import visible

_NUMBER = re.compile(r"\d+")
Key = Callable[[Problem], Hashable | None]


@dataclass(frozen=True, slots=True)
class Turned:
    """`come`: only in the content after; `gone`: only in the one before. `partly`: a server has seen one of
    the two alone, so that there may be more of either."""

    come: tuple[Problem, ...]
    gone: tuple[Problem, ...]
    partly: bool = False


def turned(before: Known | None, after: Known | None, diff: FileDiff) -> Turned | None:
    """`before` and `after` are what is known of both sides (None: that there is no such file, of which every
    server knows that it has no problems). None when no server has seen both.

    A problem is the same one when rule and message are, on a line that the change moved; or on a changed line
    of the same text, wherever that went.
    """
    old_servers = set(before if before is not None else after or {})
    new_servers = set(after if after is not None else before or {})
    servers = old_servers & new_servers
    if not servers:
        return None
    old, new = _of(before or {}, servers), _of(after or {}, servers)
    moved = _moved([span for hunk in diff.hunks for span in hunk.spans])
    old, new = _pair(old, new, lambda one: _at(one, moved(one.line)), lambda one: _at(one, one.line))
    old, new = _pair(old, new, lambda one: _on(one, diff.old), lambda one: _on(one, diff.new))
    return Turned(tuple(new), tuple(old), partly=old_servers != new_servers)


def _of(known: Known, servers: Iterable[str]) -> list[Problem]:
    return [problem for server in sorted(servers) for problem in known.get(server, ())]


def _pair(
    old: Iterable[Problem], new: Iterable[Problem], before: Key, after: Key
) -> tuple[list[Problem], list[Problem]]:
    """What is left of both when those of the same key are taken out, one by one."""
    left: list[Problem] = []
    waiting: dict[Hashable, list[Problem]] = defaultdict(list)
    for problem in old:
        key = before(problem)
        (left if key is None else waiting[key]).append(problem)
    fresh = []
    for problem in new:
        key = after(problem)
        same = waiting.get(key) if key is not None else None
        if same:
            same.pop()
        else:
            fresh.append(problem)
    return [*left, *(one for same in waiting.values() for one in same)], fresh


def _same(problem: Problem) -> Hashable:
    """Messages name lines, which move: numbers do not count."""
    return problem.server, problem.severity, problem.code, _NUMBER.sub("#", problem.message)


def _at(problem: Problem, line: int | None) -> Hashable | None:
    return None if line is None else (_same(problem), line)


def _on(problem: Problem, lines: Sequence[bytes]) -> Hashable:
    text = lines[problem.line].strip() if problem.line < len(lines) else b""
    return _same(problem), text


def _moved(spans: Sequence[Span]) -> Callable[[int], int | None]:
    """Where a line of before is in after; None for one that was changed."""
    starts = [span[0] for span in spans]

    def moved(line: int) -> int | None:
        at = bisect_right(starts, line) - 1
        if at < 0:
            return line
        _, end, _, new_end = spans[at]
        return None if line < end else line + new_end - end

    return moved


KINDS = {
    ERROR: gettext_noop("Error"),
    WARNING: gettext_noop("Warning"),
    3: gettext_noop("Information"),
    4: gettext_noop("Hint"),
}
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
    return worded(number, severity) % {"count": grouped(number)}


def worded(number: int, severity: int) -> str:
    """The same for so many, with `%(count)s` in the place of the number."""
    if severity == ERROR:
        return ngettext("%(count)s error", "%(count)s errors", number)
    return ngettext("%(count)s warning", "%(count)s warnings", number)


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
