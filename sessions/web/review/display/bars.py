"""The bar over each hunk of a file: how it stands with it, and the verdicts that can be given.

Built in Python like the rows below it: a template for each of a thousand hunks would take a second. What the
buttons do is in static/js/review-verdicts.js.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from sessions.changes.diffs.hunks import Hunk
from sessions.changes.review.marking import hunk_mark
from sessions.changes.review.verdicts import Judged, ReviewedFile, Step
from sessions.core.plans import is_plan
from sessions.core.store.marks import Marks
from sessions.rendering.diffs.table import HunkBar
from sessions.rendering.html import icon
from sessions.web.review.display.undoing import HUNK_STATES, REFUSALS

_BUTTONS = {
    "undo": ("Undo", "Take this change out of the file"),
    "redo": ("Redo", "Make this change again"),
    "keep": ("Keep", "This change is good"),
    "unkeep": ("Unmark", "It is no longer marked as kept; the file stays as it is"),
    "stage-keep": ("Keep", "Write this change to the file"),
    "stage-drop": ("Drop", "Forget this change"),
}
WHY_BUTTON = (
    '<button type="button" class="quiet" data-why aria-expanded="false" '
    'title="Tell the agent why you keep or undo this">Why…</button>'
)
_COMMENT = '<button type="button" class="quiet" data-comment>Comment</button>'
_SHOW = '<button type="button" class="quiet" data-do="show" aria-expanded="false">Show</button>'


@dataclass(frozen=True, slots=True)
class Told:
    """What came of the verdict that was just given: outcomes by hunk, the reason, forms for conflicts."""

    outcomes: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    conflicts: Mapping[str, SafeString] = field(default_factory=dict)


NOTHING_TOLD = Told()


class Bars(Mapping[str, HunkBar]):
    """By hunk key, what goes into the head of each hunk of one step, made when it is asked for. `staged`
    edits have verdicts of their own; a plan, which is approved as a whole, has none."""

    def __init__(
        self,
        file: ReviewedFile,
        step: Step,
        hunks: Iterable[Hunk],
        marks: Marks,
        told: Told,
        *,
        staged: bool = False,
    ) -> None:
        self._file = file
        self._step = step
        self._hunks = {hunk.key: hunk for hunk in hunks}
        self._marks = marks
        self._told = told
        self._staged = staged
        self._plan = is_plan(file.path) and not staged

    def __getitem__(self, key: str) -> HunkBar:
        """A step that is taken back as a whole has one verdict for all of its hunks."""
        judged = self._step.hunks.get(key) or self._step.hunks[""]
        mark = hunk_mark(self._file, judged.key)
        hunk = self._hunks.get(key)
        return self._bar(judged, hunk, kept=mark in self._marks.kept, viewed=mark in self._marks.viewed)

    def __iter__(self) -> Iterator[str]:
        return iter(self._step.hunks)

    def __len__(self) -> int:
        return len(self._step.hunks)

    def _bar(self, judged: Judged, hunk: Hunk | None, *, kept: bool, viewed: bool) -> HunkBar:
        there = judged.state in ("here", "changed")
        state = "kept" if kept and there else "viewed" if viewed and there else judged.state
        parts = [
            f'<div class="hunk-bar"><span class="hunk-at">{lines(hunk) if hunk else ""}</span>',
            self._said(state, judged),
            f'<span class="hunk-do" data-pick="{escape(judged.key)}">',
            *_buttons(state, judged, staged=self._staged, plan=self._plan),
            viewed_box(viewed) if there else "",
            "</span>",
            self._told.conflicts.get(judged.key, ""),
            "</div>",
        ]
        return HunkBar(state, mark_safe("".join(parts)))  # noqa: S308 (escaped where it is made)

    def _said(self, state: str, judged: Judged) -> str:
        """One word: why the last verdict came to nothing, else how it stands."""
        outcome = self._told.outcomes.get(judged.key, "")
        undone = state in ("gone", "missing") and judged.operation
        text = REFUSALS.get(outcome) or ("Undone" if undone else HUNK_STATES[state])
        if outcome in ("conflict", "unsafe") and self._told.reason:
            text += f": {escape(self._told.reason)}"
        elif outcome and not text:
            text = "Redone"
        came = f' data-outcome="{outcome}"' if outcome else ""
        return f'<span class="hunk-state"{came}>{text}</span>' if text else ""


def lines(hunk: Hunk) -> str:
    """Where a hunk's changed lines are, in the file as the change left it."""
    first, last = hunk.spans[0][2] + 1, hunk.spans[-1][3]
    if last < first:
        return f"After line {last}" if last else "At the beginning"
    return f"Line {first}" if first == last else f"Lines {first}–{last}"


def _buttons(state: str, judged: Judged, *, staged: bool, plan: bool) -> Iterator[str]:
    yield _COMMENT
    if state in ("kept", "viewed", "gone", "missing"):
        yield _SHOW
    if plan:
        return
    if staged:
        yield from (WHY_BUTTON, button("stage-keep"), button("stage-drop"))
    elif state == "kept":
        yield button("unkeep")
    elif state in ("gone", "missing"):
        if judged.operation:
            yield button("redo", operation=judged.operation)
    else:
        yield from (WHY_BUTTON, button("keep"), button("undo"))


def button(verdict: str, *, operation: str = "", drawing: str = "") -> str:
    """`drawing` is the name of the icon that stands for the word where there is little room."""
    label, title = _BUTTONS[verdict]
    of = f' data-operation="{escape(operation)}"' if operation else ""
    attributes = f'class="quiet verdict" data-do="{verdict}"{of} title="{title}"'
    said = f'{icon(drawing)}<span class="word">{label}</span>' if drawing else label
    return f'<button type="button" {attributes}>{said}</button>'


def viewed_box(on: bool) -> str:
    checked = " checked" if on else ""
    box = f'<input type="checkbox" name="viewed" data-do="viewed"{checked}>'
    return f'<label class="viewed" title="Viewed">{box} <span class="word">Viewed</span></label>'
