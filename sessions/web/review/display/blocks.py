"""The element of one file in the review: its head with state and verdicts, and its diffs or a place for them.

Built in Python: a review may have hundreds of files, and a template for each would take most of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from django.utils.safestring import SafeString, mark_safe

from sessions.core.plans import is_plan
from sessions.core.text import visible, wellformed

from .bars import WHY_BUTTON, button, viewed_box
from .files import FileRow

_LOADING = '<p class="review-note pulse">Loading</p>'
_MINUS = "\N{MINUS SIGN}"


def blocks(files: Iterable[FileRow], *, staged: bool = False) -> SafeString:
    """Several files one after the other; what is `staged` has verdicts of its own."""
    return mark_safe(wellformed("".join(_block(file, staged=staged) for file in files)))  # noqa: S308


def counts(file: FileRow) -> str:
    plus = f'<span class="plus">+{file.additions}</span>' if file.additions else ""
    minus = f'<span class="minus">{_MINUS}{file.deletions}</span>' if file.deletions else ""
    return f'<span class="counts">{" ".join(filter(None, (plus, minus)))}</span>' if plus or minus else ""


def _block(file: FileRow, *, staged: bool) -> str:
    opened = "false" if file.folded else "true"
    name = escape(visible(file.name))
    tag = f'<span class="file-tag" data-state="{file.tone}">{file.tag}</span>' if file.tag else ""
    drawn = f' data-drawn="{file.drawn}"' if staged else ""
    since = f'<p class="file-since">{escape(visible(file.since))}</p>' if file.since else ""
    return (
        f'<section id="{file.id}" class="file" data-file="{name}" data-key="{escape(file.key)}" '
        f'data-version="{file.version}"{drawn} data-state="{file.tone}" data-open="{opened}" '
        f'aria-labelledby="{file.id}-name"><div class="file-head"><h3 class="file-title">'
        f'<button type="button" class="file-toggle" id="{file.id}-name" data-fold aria-expanded="{opened}" '
        f'aria-controls="{file.id}-body"><span class="state" data-state="{file.letter}" title="{file.word}" '
        f'aria-hidden="true">{file.letter}</span><span class="visually-hidden">{file.word}: </span>'
        f"{_path(file)}{counts(file)}</button></h3>{file.delta.html if file.delta else ''}{tag}"
        f'<span class="file-do">{"".join(_buttons(file, staged=staged))}'
        f"{viewed_box(file.viewed)}</span></div>"
        f'{since}<div id="{file.id}-problem" class="file-problem" role="alert"></div>{_body(file)}</section>'
    )


def _path(file: FileRow) -> str:
    was = f"{visible(file.renamed_from)} → " if file.renamed_from else ""
    folder, slash, name = visible(file.name).rpartition("/")
    before = escape(was + folder + slash)
    return (
        f'<span class="path" title="{before}{escape(name)}"><span class="folder soft">{before}</span>'
        f'<span class="name">{escape(name)}</span></span>'
    )


def _buttons(file: FileRow, *, staged: bool) -> Iterator[str]:
    if staged:
        yield from (button("stage-keep", drawing="check"), button("stage-drop", drawing="cross"))
        return
    if is_plan(file.name):
        return
    if file.open:
        yield WHY_BUTTON
    if file.kept:
        yield button("unkeep")
    elif file.open:
        yield from (button("keep", drawing="check"), button("undo", drawing="undo"))
    if file.redo:
        yield button("redo", drawing="redo")


def _body(file: FileRow) -> str:
    if file.bodies is None:
        return (
            f'<div id="{file.id}-body" class="file-body" data-lazy data-rows="{file.rows}">{_LOADING}</div>'
        )
    steps = "".join(f'<div class="step">{body}</div>' for body in file.bodies)
    return f'<div id="{file.id}-body" class="file-body" data-rows="{file.rows}">{steps}</div>'
