"""A unified patch of two texts, as `git apply` takes it, and its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import AnyStr, Literal

from sessions.changes.diffs.lines import Span, changed_spans, split_lines

Status = Literal["added", "deleted", "modified"]

_CONTEXT = 3
_ODD = re.compile(r'[\x00-\x1f"\\\x7f]')
_NO_NEWLINE = "\\ No newline at end of file\n"


def diff_text(before: str | None, after: str | None, path: str) -> str:
    """The patch that makes `before` into `after` (None: there is no such file); empty when they are equal."""
    if before == after:
        return ""
    old, new = split_lines(before or ""), split_lines(after or "")
    head = [
        f"--- {_name('a', path) if before is not None else '/dev/null'}\n",
        f"+++ {_name('b', path) if after is not None else '/dev/null'}\n",
    ]
    for group in group_spans(changed_spans(old, new), _CONTEXT):
        head += _hunk(group, old, new)
    return "".join(head)


def count(before: AnyStr, after: AnyStr) -> tuple[int, int]:
    """Lines added and lines deleted."""
    spans = changed_spans(split_lines(before), split_lines(after))
    return sum(d - c for _, _, c, d in spans), sum(b - a for a, b, _, _ in spans)


def status(before: str | bytes | None, after: str | bytes | None) -> Status:
    """What became of the file; None stands for no file."""
    if before is None:
        return "added"
    return "deleted" if after is None else "modified"


def group_spans(spans: Sequence[Span], context: int) -> list[list[Span]]:
    """Spans that share a hunk: those with no more than twice `context` equal lines between them."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span[0] - groups[-1][-1][1] <= 2 * context:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def hunk_range(group: Sequence[Span], context: int, old: int, new: int) -> Span:
    """The lines a hunk covers, context included; `old` and `new` are the numbers of lines."""
    first, last = group[0], group[-1]
    lead = min(context, first[0])
    trail = min(context, old - last[1], new - last[3])
    return first[0] - lead, last[1] + trail, first[2] - lead, last[3] + trail


def _hunk(group: Sequence[Span], old: Sequence[str], new: Sequence[str]) -> list[str]:
    start, end, new_start, new_end = hunk_range(group, _CONTEXT, len(old), len(new))
    out = [f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"]
    at = start
    for a, b, c, d in group:
        out += [_line(" ", line) for line in old[at:a]]
        out += [_line("-", line) for line in old[a:b]]
        out += [_line("+", line) for line in new[c:d]]
        at = b
    return out + [_line(" ", line) for line in old[at:end]]


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_NEWLINE}"


def _range(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"


def _name(side: str, path: str) -> str:
    """A path as git writes it: quoted where a character would break the line (core.quotePath)."""
    name = f"{side}/{path}"
    if not _ODD.search(name):
        return name if " " not in name else f"{name}\t"
    return '"' + _ODD.sub(lambda odd: _escape(odd.group()), name) + '"'


def _escape(character: str) -> str:
    return f"\\{character}" if character in '"\\' else f"\\{ord(character):03o}"
