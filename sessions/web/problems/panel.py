"""The problems panel: the files that have some, the worst first, and the lines around one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from django.utils.safestring import SafeString, mark_safe

from sessions.changes.diffs.lines import split_lines
from sessions.changes.review.marking import digest
from sessions.core.models import Session
from sessions.core.models.ledger import pack_path, shown
from sessions.core.store.problems import ERROR, MOST, WARNING, Problem
from sessions.core.text import visible
from sessions.rendering.html import html
from sessions.web.problems.current import FileNow
from sessions.web.problems.matching import counted, kind, rule, text, told

MOST_SHOWN = 500
"""Problems of the panel: a browser lays out so many at once."""
AROUND = 4
"""Lines shown before and after one."""
_LONG_LINE = 400


@dataclass(frozen=True, slots=True)
class Item:
    """One problem. `line` and `character` count from 1; `fix` is what the agent is told of it."""

    problem: Problem
    fix: str

    @property
    def line(self) -> int:
        return self.problem.line + 1

    @property
    def character(self) -> int:
        return self.problem.character + 1

    @property
    def text(self) -> str:
        return text(self.problem)

    @property
    def kind(self) -> str:
        return kind(self.problem)

    @property
    def rule(self) -> str:
        return rule(self.problem)


@dataclass(frozen=True, slots=True)
class Group:
    """One file of the panel: `key` is its path for URLs, `id` names its element, `version` changes when
    anything shown of it does. `cut`: it may have more problems than are kept of a file."""

    path: str
    key: str
    id: str
    version: str
    counts: str
    items: tuple[Item, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """`left_out` counts problems that are not among the groups."""

    groups: tuple[Group, ...]
    errors: int
    warnings: int
    total: int
    left_out: int

    @property
    def words(self) -> str:
        """Errors and warnings; empty for none."""
        return words(self.errors, self.warnings)


def words(errors: int, warnings: int) -> str:
    """`2 errors, 1 warning`; empty for none of either."""
    said = [
        counted(number, severity) for number, severity in ((errors, ERROR), (warnings, WARNING)) if number
    ]
    return ", ".join(said)


def panel(files: Sequence[FileNow]) -> Panel:
    """Files with errors come first."""
    ordered = sorted(files, key=lambda file: (not file.errors, not file.warnings, file.path))
    ends = accumulate(len(file.problems) for file in ordered)
    chosen = [file for file, end in zip(ordered, ends, strict=True) if end <= MOST_SHOWN] or ordered[:1]
    total = sum(len(file.problems) for file in ordered)
    return Panel(
        tuple(_group(file) for file in chosen),
        sum(file.errors for file in ordered),
        sum(file.warnings for file in ordered),
        total,
        total - sum(len(file.problems) for file in chosen),
    )


def excerpt(content: bytes, line: int) -> SafeString:
    """The lines around `line` (from 1), with their numbers; empty where there is no such line."""
    lines = split_lines(content)
    if not 1 <= line <= len(lines):
        return SafeString()
    first = max(line - AROUND, 1)
    rows = []
    for number in range(first, min(line + AROUND, len(lines)) + 1):
        here = " aria-current=true" if number == line else ""
        rows.append(f'<li value="{number}"{here}>{_code(lines[number - 1])}</li>')
    return mark_safe("".join(rows))  # noqa: S308 (escaped in _code)


def _group(file: FileNow) -> Group:
    name, key = shown(file.path), pack_path(file.path)
    items = tuple(Item(one, told(one, name)) for one in file.problems)
    counts, version = words(file.errors, file.warnings), digest(repr(file.problems))
    return Group(name, key, f"problems-{digest(key)}", version, counts, items, len(items) >= MOST)


def _code(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    cut = text if len(text) <= _LONG_LINE else f"{text[:_LONG_LINE]}…"
    return escape(visible(cut))


SAID = "lsp.client.diagnostics"


def problems_said(paths: Collection[str]) -> str:
    """Tells the page of whose files a server said something: it knows whether a diff of one is shown."""
    return html("problems/said.html", paths=sorted(paths))


def problems_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the count anew, and the panel if that is open."""
    return html("problems/news.html", session=session, oob=oob)
