"""What of a forge is shown, whichever it is, and reading it out of an answer that may hold anything.

All texts were written by anybody: they are escaped or sanitised where they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from django.utils.translation.trans_null import gettext_noop

Kind = Literal["issue", "pull"]
State = Literal["open", "draft", "merged", "closed"]
Outcome = Literal["passed", "failed", "running", "skipped"]
Method = Literal["merge", "squash", "rebase"]
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
MOST_TEXT = 60_000
"""Characters of one body or comment."""
WORDS = (
    *(gettext_noop("open"), gettext_noop("draft"), gettext_noop("merged"), gettext_noop("closed")),
    *(gettext_noop("passed"), gettext_noop("failed"), gettext_noop("running"), gettext_noop("skipped")),
)
"""States and outcomes, which pages translate."""


class ForgeError(Exception):
    """The forge did not do it, or could not be asked; the text is for people."""


@dataclass(frozen=True, slots=True)
class Item:
    """An issue or a pull request. `time` is when it last changed, in milliseconds; `head` and `base` are the
    branches of a pull request, `commit` the last one of its head. `merges` is None where nobody knows yet
    whether it can be merged."""

    kind: Kind
    number: int
    title: str
    author: str
    state: State
    url: str
    time: int
    labels: tuple[str, ...] = ()
    body: str = ""
    replies: int = 0
    head: str = ""
    base: str = ""
    commit: str = ""
    merges: bool | None = None
    pipeline: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in ("open", "draft")

    @property
    def name(self) -> str:
        return f"{'Issue' if self.kind == 'issue' else 'Pull request'} {self.number}"


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list; whether there is another one."""

    items: Sequence[Item]
    more: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """`thread` names what an answer belongs to, where the forge has threads. A review's comment is about the
    `line` of a `path`, and quotes it in `code`; `verdict` is what the review as a whole says."""

    author: str
    time: int
    body: str
    url: str = ""
    thread: str = ""
    path: str = ""
    line: int = 0
    code: str = ""
    verdict: str = ""
    resolved: bool = False

    @property
    def reviews(self) -> bool:
        return bool(self.path or self.verdict)


@dataclass(frozen=True, slots=True)
class Check:
    """`log` is what its log is asked for by; empty where the forge gives none."""

    name: str
    outcome: Outcome
    words: str = ""
    url: str = ""
    log: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the forge says of a repository: its default branch, and how a pull request may be merged."""

    branch: str
    methods: tuple[Method, ...]


def at(data: Any, *path: str | int) -> Any:
    """What is at a place of JSON; None where there is no such place."""
    for step in path:
        if isinstance(step, str) and isinstance(data, dict):
            data = data.get(step)
        elif isinstance(step, int) and isinstance(data, list) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def text(data: Any, *path: str | int) -> str:
    """A text at a place; empty where there is none."""
    found = at(data, *path)
    return found[:MOST_TEXT] if isinstance(found, str) else ""


def said(data: Any, *path: str | int) -> str:
    """What somebody wrote, without what a forge's own page would not show of it: who reads it here, and the
    model, have the same."""
    return _HIDDEN.sub("", text(data, *path)).replace("\r\n", "\n").strip()


def whole(data: Any, *path: str | int) -> int:
    """A number at a place; 0 where there is none."""
    found = at(data, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def rows(data: Any, *path: str | int) -> list[Any]:
    """A list at a place; empty where there is none."""
    found = at(data, *path)
    return found if isinstance(found, list) else []


def link(data: Any, *path: str | int) -> str:
    """An address for people; empty for what is none."""
    found = text(data, *path)
    return found if found.startswith(("https://", "http://")) else ""


def moment(data: Any, *path: str | int) -> int:
    """A time of ISO 8601 in milliseconds; 0 where there is none."""
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(text(data, *path))
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    return 0
