"""Problems as marks beside the lines of a diff: those of the content after at its lines, and those that the
change took away at the lines that are gone.

What an added line brings, and every error that came with the change, stands there to be read; the rest opens
at its mark. Built in Python like the rows: a template for each of hundreds would take a second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from html import escape

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from sessions.changes.diffs.hunks import FileDiff
from sessions.changes.review.comparing import compare
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.core.models.ledger import shown
from sessions.core.sentences import grouped
from sessions.core.store.problems import ERROR, WARNING, Known, Place, Problem
from sessions.rendering.diffs.table import Problems, Said, Side
from sessions.web.problems.matching import Turned, how_many, kind, rule, text, told, turned, worded

MOST_OPEN = 20
"""Lines of a file whose problems are shown without being asked for."""
_TITLE = 300  # characters


def marks(path: str, after: Known | None, turn: Turned | None, diff: FileDiff, mark: str) -> Problems:
    """By side and line. `after` is what is known of the content after, `turn` what came and went (None: not
    known); `mark` tells the ids from those of other files."""
    come = set(turn.come) if turn else set()
    every = [problem for server in sorted(after or {}) for problem in (after or {})[server]]
    if not every and not (turn and turn.gone):
        return {}
    added = {line for hunk in diff.hunks for _, _, c, d in hunk.spans for line in range(c, d)}
    left = {line for hunk in diff.hunks for a, b, _, _ in hunk.spans for line in range(a, b)}
    found: dict[tuple[Side, int], Said] = {}
    opened = 0
    for line, own in _by_line(every):
        errors = [one for one in own if one.severity == ERROR]
        open = opened < MOST_OPEN and any(line in added or one in come for one in errors)
        opened += open
        found["new", line + 1] = _said(own, come, shown(path), f"problems-{mark}-{line + 1}", open=open)
    for line, own in _by_line(turn.gone if turn else ()):
        if line in left:
            found["old", line + 1] = _was(own, f"problems-{mark}-old-{line + 1}")
    return found


def _by_line(problems: Iterable[Problem]) -> list[tuple[int, list[Problem]]]:
    found: dict[int, list[Problem]] = {}
    for problem in sorted(problems, key=lambda one: (one.line, one.severity, one)):
        found.setdefault(problem.line, []).append(problem)
    return sorted(found.items())


def _said(own: list[Problem], come: Collection[Problem], path: str, id: str, *, open: bool) -> Said:
    items = "".join(_item(one, path, new=one in come) for one in own)
    return Said(_button(own, id, open=open), f'<ul class="problem-notes">{items}</ul>', id, open)


def _was(own: list[Problem], id: str) -> Said:
    items = "".join(f"<li>{_text(one, 'was here')}</li>" for one in own)
    button = _button(own, id, open=False, was=gettext("Gone: "))
    return Said(button, f'<ul class="problem-notes" data-gone>{items}</ul>', id)


def _button(own: list[Problem], id: str, *, open: bool, was: str = "") -> str:
    """It has no text: copied code must not have any."""
    first = own[0]
    more = gettext(" (and %(count)s more)") % {"count": len(own) - 1} if len(own) > 1 else ""
    words = f"{was}{gettext(kind(first))}: {text(first)}"
    said = escape(f"{words[:_TITLE]}{'…' if len(words) > _TITLE else ''}{more}")
    about = "data-gone" if was else f'data-line="{first.line + 1}"'
    return (
        f'<button type="button" class="problem-mark" data-severity="{first.severity}" {about} title="{said}" '
        f'aria-label="{said}" aria-controls="{id}" aria-expanded="{"true" if open else "false"}"></button>'
    )


def _item(problem: Problem, path: str, *, new: bool) -> str:
    fix = f'<button type="button" class="quiet" data-fix="{escape(told(problem, path))}">Ask to fix</button>'
    return f"<li>{_text(problem, 'new' if new else '')}{fix}</li>"


def _text(problem: Problem, label: str) -> str:
    tag = f' <span class="label">{label}</span>' if label else ""
    return (
        f'<span class="problem-kind" data-severity="{problem.severity}">{gettext(kind(problem))}</span>'
        f'<span class="problem-text">{escape(text(problem))} '
        f'<span class="soft">{escape(rule(problem))}</span>{tag}</span>'
    )


_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Delta:
    """Errors and warnings that came and went."""

    errors: int = 0
    errors_gone: int = 0
    warnings: int = 0
    warnings_gone: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def __add__(self, other: Delta) -> Delta:
        return Delta(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def html(self) -> SafeString:
        """`+2 errors` and the like; empty without any."""
        parts = [
            *_words(self.errors, self.errors_gone, ERROR),
            *_words(self.warnings, self.warnings_gone, WARNING),
        ]
        if not parts:
            return SafeString()
        title = gettext("Problems that this change brought and took away, as language servers see it")
        return mark_safe(f'<span class="delta" title="{escape(title)}">{", ".join(parts)}</span>')  # noqa: S308


def turned_by(
    change: Change, path_before: str, known: Mapping[Place, Known], objects: ObjectStore
) -> Turned | None:
    """What came and went with one change; None when that cannot be said, because no server has seen both of
    its contents. Blocks."""
    if change.skipped:
        return None
    before = known.get((path_before, change.before)) if change.before else None
    after = known.get((change.path, change.after)) if change.after else None
    if (before is None and change.before) or (after is None and change.after) or not (before or after):
        return None
    try:
        found = compare(change, objects)
    except ObjectMissing:
        return None
    return None if found.large or found.diff.binary else turned(before, after, found.diff)


def delta(changes: Iterable[Turned | None]) -> Delta | None:
    """Of the steps of a file together; None unless every server has seen all of their contents."""
    total = Delta()
    for one in changes:
        if one is None or one.partly:
            return None
        (errors, warnings), (errors_gone, warnings_gone) = how_many(one.come), how_many(one.gone)
        total += Delta(errors, errors_gone, warnings, warnings_gone)
    return total


def _words(come: int, gone: int, severity: int) -> list[str]:
    if not come and not gone:
        return []
    more = [f'<span class="delta-come" data-severity="{severity}">+{grouped(come)}</span>'] if come else []
    less = [f'<span class="delta-gone">{_MINUS}{grouped(gone)}</span>'] if gone else []
    return [worded(max(come, gone), severity) % {"count": " ".join([*more, *less])}]
