"""What is in sources, and which of it is to be taken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from django.utils.translation import gettext, ngettext

from sessions.core.sentences import grouped
from sessions.core.text import visible
from sessions.transfer.reading.records import Header, Source, Summary, Unreadable, parents_first, summary


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A source with what it lists; `error` says why it cannot be read."""

    source: Source
    headers: list[Header] = field(default_factory=list)
    found: Summary = Summary(0, 0, 0, 0, 0, 0)  # noqa: RUF009 (it is frozen)
    error: str = ""

    def projects(self) -> list[tuple[str, int]]:
        """The folders its sessions were held in with how many in each, the most first."""
        counts: dict[str, int] = {}
        for header in self.headers:
            counts[folder_of(header)] = counts.get(folder_of(header), 0) + 1
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True, slots=True)
class Choice:
    """Empty: everything. `sessions` are ids, each with those below it; `projects` are ids or folders with all
    that is in them; `folders` are those that `Surveyed.projects` names."""

    sessions: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.sessions or self.projects or self.folders)


@dataclass(frozen=True, slots=True)
class Planned:
    source: Source
    header: Header


def folder_of(header: Header) -> str:
    """Of a project; of a clone that is one project with another one in OpenCode its own."""
    apart = (
        header.directory and header.worktree and not Path(header.directory).is_relative_to(header.worktree)
    )
    return header.directory if apart else header.worktree or header.directory


def survey(sources: Iterable[Source]) -> list[Surveyed]:
    """Look through sources; takes seconds for thousands of sessions kept as files."""
    return [_surveyed(source) for source in sources]


def _surveyed(source: Source) -> Surveyed:
    try:
        headers = source.headers()
        return Surveyed(source, headers, summary(headers, source.size()))
    except (Unreadable, OSError) as error:
        return Surveyed(source, error=str(error))


def plan(surveyed: Sequence[Surveyed], choice: Choice) -> list[Planned]:
    """What to take, parents first. A session that several sources have is taken where it changed last."""
    newest: dict[str, Planned] = {}
    for one in surveyed:
        for header in one.headers:
            other = newest.get(header.id)
            if other is None or _age(header) >= _age(other.header):
                newest[header.id] = Planned(one.source, header)
    ordered = parents_first(planned.header for planned in newest.values())
    wanted = _chosen(ordered, choice) if choice else {header.id for header in ordered}
    return [newest[header.id] for header in ordered if header.id in wanted]


def _age(header: Header) -> tuple[int, int]:
    return header.updated, header.messages


def _chosen(ordered: Sequence[Header], choice: Choice) -> set[str]:
    """Parents come first, so one pass finds all that are below."""
    folders = {os.path.abspath(os.path.expanduser(name)) for name in choice.projects} | choice.projects
    wanted: set[str] = set()
    for header in ordered:
        named = not choice.sessions or header.id in choice.sessions
        placed = not choice.projects or header.project in folders or _inside(header, folders)
        ticked = not choice.folders or folder_of(header) in choice.folders
        if (named and placed and ticked) or header.parent in wanted:
            wanted.add(header.id)
    return wanted


def _inside(header: Header, folders: Iterable[str]) -> bool:
    """Whether a session was held in one of these folders or below it."""
    held = [Path(path) for path in (header.directory, header.worktree) if path]
    return any(path == Path(folder) or Path(folder) in path.parents for path in held for folder in folders)


SHOWN = 12
"""Projects named one by one; the rest is counted."""


def describe(one: Surveyed) -> Iterator[str]:
    """A source in a few lines of text."""
    yield f"{visible(str(one.source.path))} ({one.source.kind})"
    if one.error:
        yield f"  cannot be read: {visible(one.error)}"
        return
    yield f"  {counts(one)}"
    for folder, count in one.projects()[:SHOWN]:
        yield f"  {count:>6,}  {visible(folder) or 'no folder'}"
    if len(one.projects()) > SHOWN:
        yield f"          and {len(one.projects()) - SHOWN:,} more"


def counts(one: Surveyed) -> str:
    found = one.found
    many = (
        (ngettext("%(count)s project", "%(count)s projects", found.projects), found.projects),
        (ngettext("%(count)s session", "%(count)s sessions", found.sessions), found.sessions),
        (ngettext("%(count)s message", "%(count)s messages", found.messages), found.messages),
    )
    parts = [words % {"count": grouped(count)} for words, count in many]
    parts.append(size(found.size))
    if found.first:
        first, last = _day(found.first), _day(found.last)
        both = gettext("%(first)s to %(last)s") % {"first": first, "last": last}
        parts.append(first if first == last else both)
    return ", ".join(parts)


def size(count: int) -> str:
    amount, unit = float(count), "bytes"
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def _day(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return gettext("an unknown day")
