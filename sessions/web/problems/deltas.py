"""How many problems a change brought, and how many it took away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from html import escape

from django.utils.safestring import SafeString, mark_safe

from sessions.changes.review.comparing import compare
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.core.store.problems import ERROR, WARNING, Known, Place
from sessions.web.problems.matching import PLURALS, Turned, how_many, turned

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
        title = "Problems that this change brought and took away, as language servers see it"
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
    more = [f'<span class="delta-come" data-severity="{severity}">+{come:,}</span>'] if come else []
    less = [f'<span class="delta-gone">{_MINUS}{gone:,}</span>'] if gone else []
    word = PLURALS[severity]
    return [f"{' '.join([*more, *less])} {word if max(come, gone) > 1 else word.removesuffix('s')}"]
