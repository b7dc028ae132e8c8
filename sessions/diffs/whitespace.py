"""A diff in which changes of white space do not count, as in `git diff -w` (git-diff(1))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sessions.diffs.hunks import FileDiff, Hunk, stretches
from sessions.diffs.lines import Span, changed_spans
from sessions.diffs.rows import Rows


def without_whitespace(diff: FileDiff) -> FileDiff:
    """The same hunks, with the same keys and spans, so that verdicts on them hold; rows that differ in white
    space or in their end only are context, with the text of the new side. Hunks with nothing else in them go
    to `hidden`."""
    shown: list[Hunk] = []
    hidden: list[Hunk] = []
    additions = deletions = 0
    for hunk in diff.hunks:
        left = [rest for span in hunk.spans for rest in _left(span, diff.old, diff.new)]
        if not left:
            hidden.append(hunk)
            continue
        start = hunk.begin[0] - 1
        rows = Rows(diff.old, diff.new, list(stretches(left, start, start + hunk.old_count)))
        shown.append(replace(hunk, rows=rows))
        additions += sum(d - c for _, _, c, d in left)
        deletions += sum(b - a for a, b, _, _ in left)
    return replace(diff, hunks=tuple(shown), hidden=tuple(hidden), additions=additions, deletions=deletions)


def _left(span: Span, old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Span]:
    """What of a span is more than white space."""
    a, b, c, d = span
    for start, stop, new_start, new_stop in changed_spans(_bare(old[a:b]), _bare(new[c:d])):
        yield a + start, a + stop, c + new_start, c + new_stop


def _bare(lines: Sequence[bytes]) -> list[bytes]:
    return [b"".join(line.split()) for line in lines]
