"""What the review panel says of each file of a scope: its state, its marks, its diffs with their bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from urllib.parse import urlencode

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.diffs.hunks import FileDiff, Hunk
from sessions.changes.review.comparing import compare
from sessions.changes.review.marking import by_file, digest, file_mark, hunk_mark, seal
from sessions.changes.review.verdicts import Judged, Listing, ReviewedFile, Step, judge
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.core.models.ledger import shown
from sessions.core.plans import is_plan
from sessions.core.sentences import translate
from sessions.core.store.marks import Marks
from sessions.core.text import visible, wellformed
from sessions.rendering.diffs.body import file_body
from sessions.rendering.diffs.table import HunkBar, Problems, Reading
from sessions.rendering.html import icon
from sessions.web.comments import notes
from sessions.web.problems.marks import Delta, delta, turned_by
from sessions.web.problems.marks import marks as problem_marks
from sessions.web.review.display.undoing import FILE_STATES, HUNK_STATES, KEPT, REFUSALS, UNDONE

# The bar over each hunk of a file: how it stands with it, and the verdicts that can be given.
#
# Built in Python like the rows below it: a template for each of a thousand hunks would take a second. What
# the buttons do is in static/js/review-verdicts.js.

_BUTTONS = {
    "undo": (gettext_noop("Undo"), gettext_noop("Take this change out of the file")),
    "redo": (gettext_noop("Redo"), gettext_noop("Make this change again")),
    "keep": (gettext_noop("Keep"), gettext_noop("This change is good")),
    "unkeep": (
        gettext_noop("Unmark"),
        gettext_noop("It is no longer marked as kept; the file stays as it is"),
    ),
    "stage-keep": (gettext_noop("Keep"), gettext_noop("Write this change to the file")),
    "stage-drop": (gettext_noop("Drop"), gettext_noop("Forget this change")),
}


def why_button() -> str:
    word, title = gettext("Why…"), gettext("Tell the agent why you keep or undo this")
    return (
        f'<button type="button" class="quiet" data-why aria-expanded="false" title="{title}">{word}</button>'
    )


def _comment_button() -> str:
    word = gettext("Comment")
    return f'<button type="button" class="quiet" data-comment>{word}</button>'


def _show_button() -> str:
    said = gettext("Show")
    return f'<button type="button" class="quiet" data-do="show" aria-expanded="false">{said}</button>'


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
        text = gettext(REFUSALS.get(outcome) or (UNDONE if undone else HUNK_STATES[state]))
        if outcome in ("conflict", "unsafe") and self._told.reason:
            text += f": {escape(translate(self._told.reason))}"
        elif outcome and not text:
            text = gettext("Redone")
        came = f' data-outcome="{outcome}"' if outcome else ""
        return f'<span class="hunk-state"{came}>{text}</span>' if text else ""


def _lines(first: int, last: int) -> str:
    return gettext("Lines %(first)s–%(last)s") % {"first": first, "last": last}


def lines(hunk: Hunk) -> str:
    """Where a hunk's changed lines are, in the file as the change left it."""
    first, last = hunk.spans[0][2] + 1, hunk.spans[-1][3]
    if last < first:
        return gettext("After line %(last)s") % {"last": last} if last else gettext("At the beginning")
    return gettext("Line %(first)s") % {"first": first} if first == last else _lines(first, last)


def _buttons(state: str, judged: Judged, *, staged: bool, plan: bool) -> Iterator[str]:
    yield _comment_button()
    if state in ("kept", "viewed", "gone", "missing"):
        yield _show_button()
    if plan:
        return
    if staged:
        yield from (why_button(), button("stage-keep"), button("stage-drop"))
    elif state == "kept":
        yield button("unkeep")
    elif state in ("gone", "missing"):
        if judged.operation:
            yield button("redo", operation=judged.operation)
    else:
        yield from (why_button(), button("keep"), button("undo"))


def button(verdict: str, *, operation: str = "", drawing: str = "") -> str:
    """`drawing` is the name of the icon that stands for the word where there is little room."""
    label, title = map(gettext, _BUTTONS[verdict])
    of = f' data-operation="{escape(operation)}"' if operation else ""
    attributes = f'class="quiet verdict" data-do="{verdict}"{of} title="{title}"'
    said = f'{icon(drawing)}<span class="word">{label}</span>' if drawing else label
    return f'<button type="button" {attributes}>{said}</button>'


def viewed_box(on: bool) -> str:
    checked = " checked" if on else ""
    box = f'<input type="checkbox" name="viewed" data-do="viewed"{checked}>'
    word = gettext("Viewed")
    return f'<label class="viewed" title="{word}">{box} <span class="word">{word}</span></label>'


# The diffs of a file, and what is said of it.


def bodies(
    file: ReviewedFile,
    found: Listing,
    marks: Marks,
    reading: Reading,
    base: str,
    told: Told = NOTHING_TOLD,
    *,
    step: int | None = None,
) -> tuple[SafeString, ...]:
    """Each step, or one of them; for a piece, table rows only. Never raises for contents that are missing,
    binary or too large. Blocks.
    """
    made = []
    objects, staged = found.roots.of(file.path).objects, found.scope.kind == "staged"
    for number, judged in enumerate(judge(file, found)):
        keys = _shown(file, judged, found)
        if step in (None, number) and (keys is None or keys):
            diff, place = _diff(judged.change, objects), f"{digest(file.key)}-{number}"
            body = file_body(
                judged.change,
                objects,
                reading,
                base=base,
                query=f"{found.query()}&{urlencode({'path': file.key, 'step': number})}",
                marks=Bars(file, judged, diff.hunks, marks, told, staged=staged),
                notes=notes(marks.comments.get(file.path, ()), judged.before, judged.after, base),
                problems=_problems(file, judged.change, found, diff, place),
                renamed_from=file.renamed_from,
                mark=place,
                keys=keys,
            )
            made.append(body)
    return tuple(made)


def _shown(file: ReviewedFile, step: Step, found: Listing) -> frozenset[str] | None:
    """The keys of the hunks of a step that are at the stop; None for all of them."""
    only = found.only.get(file.key)
    if only is None:
        return None
    keys = frozenset(key for key, judged in step.hunks.items() if judged.key in only)
    return None if "" in keys else keys


def _problems(file: ReviewedFile, change: Change, found: Listing, diff: FileDiff, place: str) -> Problems:
    after = found.problems.get((change.path, change.after)) if change.after else None
    objects = found.roots.of(file.path).objects
    turn = turned_by(change, file.renamed_from or change.path, found.problems, objects)
    return problem_marks(change.path, after, turn, diff, place)


def _diff(change: Change, objects: ObjectStore) -> FileDiff:
    try:
        return compare(change, objects).diff
    except ObjectMissing:
        return FileDiff()


OPEN_FILES = 5
OPEN_ROWS = 500
"""How many files, with how many changed lines in all, come with their diff; the others load as they are
seen."""

_STATUS = {
    "added": ("A", gettext_noop("New file")),
    "deleted": ("D", gettext_noop("Deleted")),
    "modified": ("M", gettext_noop("Changed")),
    "renamed": ("R", gettext_noop("Renamed")),
}


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of the panel.

    `id` names its element, `key` it in requests, `name` is its path and `root` the folder beside the project
    that this lies in, empty for none. Of a `part` of its hunks, at a stop of a tour, no verdict is given on
    the whole. `tag` says in words how it stands with it, `tone` picks the colour of
    that. `version` changes when anything shown of it does, `drawn` names what the scope did to it.
    `delta` are the problems that came and went, None where that is not known. `bodies` is None where it loads
    later.
    """

    id: str
    key: str
    name: str
    root: str
    letter: str
    word: str
    tag: str
    tone: str
    since: str
    renamed_from: str
    additions: int
    deletions: int
    kept: bool
    viewed: bool
    undone: bool
    version: str
    drawn: str
    part: bool = False
    delta: Delta | None = None
    bodies: tuple[SafeString, ...] | None = None

    @property
    def heading(self) -> int:
        """The level of its heading: in a folder beside the project it is below that of the folder."""
        return 4 if self.root else 3

    def within(self, path: str) -> str:
        """A path as it is named below the heading of its root."""
        return path.removeprefix(f"{self.root}/") if self.root else path

    @property
    def rows(self) -> int:
        """About as many as its diff will be high: a new or deleted file has a bar over its lines, another has
        lines around its changes too."""
        return min(self.additions + self.deletions + (2 if self.letter in "AD" else 8), 200)

    @property
    def gone(self) -> bool:
        """Nothing of it is there any more."""
        return self.tone in ("gone", "missing")

    @property
    def open(self) -> bool:
        """Whether it can be undone."""
        return not self.kept and not self.gone

    @property
    def redo(self) -> bool:
        """Whether something of it was undone here."""
        return self.undone and self.tone in ("gone", "missing", "partly", "changed")

    @property
    def folded(self) -> bool:
        return self.viewed or self.kept


@dataclass(frozen=True, slots=True)
class Totals:
    """Of all files of a scope."""

    files: int
    additions: int
    deletions: int
    viewed: int
    undone: int
    delta: Delta

    @property
    def left(self) -> int:
        """Files that something can be undone of."""
        return self.files - self.undone


def file_rows(
    found: Listing, marks: Marks, reading: Reading, base: str, *, bare: bool = False
) -> list[FileRow]:
    """The files of a scope, the first ones with their diff; none with `bare`."""
    own = by_file(marks)
    undone = {key for key, _ in found.undone}
    rows: list[FileRow] = []
    room = OPEN_ROWS
    for number, file in enumerate(found.files):
        size = file.additions + file.deletions
        row = _row(file, found, marks, reading, own.get(digest(file.key), []), undone=file.key in undone)
        if not bare and number < OPEN_FILES and size <= room and not row.folded:
            room -= size
            row = replace(row, bodies=bodies(file, found, marks, reading, base))
        rows.append(row)
    return rows


def file_row(
    file: ReviewedFile,
    found: Listing,
    marks: Marks,
    reading: Reading,
    base: str,
    told: Told = NOTHING_TOLD,
) -> FileRow:
    """One file with its diff, and what came of the verdict just given on it."""
    undone = any(key == file.key for key, _ in found.undone)
    row = _row(file, found, marks, reading, by_file(marks).get(digest(file.key), []), undone=undone)
    return replace(row, bodies=bodies(file, found, marks, reading, base, told))


def totals(rows: Sequence[FileRow]) -> Totals:
    return Totals(
        files=len(rows),
        additions=sum(row.additions for row in rows),
        deletions=sum(row.deletions for row in rows),
        viewed=sum(row.viewed for row in rows),
        undone=sum(row.gone for row in rows),
        delta=sum((row.delta for row in rows if row.delta), Delta()),
    )


def file_id(key: str) -> str:
    return f"file-{digest(key)}"


def _row(
    file: ReviewedFile, found: Listing, marks: Marks, reading: Reading, own: Sequence[str], *, undone: bool
) -> FileRow:
    mark = file_mark(file)
    letter, word = _STATUS[file.status]
    kept = mark in marks.kept and file.state in ("here", "partly", "changed")
    gone = undone and file.state in ("gone", "missing")
    comments = marks.comments.get(file.path, ())
    said = [(one.comment.id, one.comment.time_updated, one.state) for one in comments]
    only = found.only.get(file.key)
    there = (file.state, file.mark, file.additions, file.deletions, file.others, undone, sorted(only or ()))
    known = [found.problems.get(place) for place in file.places]
    root = found.roots.of(file.path)
    return FileRow(
        id=file_id(file.key),
        key=file.key,
        name=shown(file.path),
        root="" if root is found.roots.home else shown(str(root.worktree)),
        letter=letter,
        word=gettext(word),
        tag=gettext(KEPT if kept else UNDONE if gone else FILE_STATES[file.state]),
        tone="kept" if kept else file.state,
        since=_since(file.others),
        renamed_from=shown(file.renamed_from) if file.renamed_from else "",
        additions=file.additions,
        deletions=file.deletions,
        kept=kept,
        viewed=mark in marks.viewed,
        undone=undone,
        version=digest(repr((there, own, said, known, reading.query()))),
        drawn=" ".join(map(seal, file.whole)),
        part=only is not None,
        delta=_delta(file, found) if file.state in ("here", "changed") else None,
    )


def _delta(file: ReviewedFile, found: Listing) -> Delta | None:
    objects, known = found.roots.of(file.path).objects, found.problems
    if not known:
        return None
    return delta(turned_by(step, file.renamed_from or step.path, known, objects) for step in file.steps)


def _since(others: Sequence[str]) -> str:
    """Who has changed the file since, as one sentence."""
    if not others:
        return ""
    *most, last = others
    return (
        gettext("Changed since by %(most)s and %(last)s") % {"most": ", ".join(most), "last": last}
        if most
        else gettext("Changed since by %(last)s") % {"last": last}
    )


# The element of one file in the review: its head with state and verdicts, and its diffs or a place for
# them.
#
# Built in Python: a review may have hundreds of files, and a template for each would take most of a
# second.


def _pin_button() -> str:
    label, title = gettext("Pin this file for the agent"), gettext("Pin for the agent")
    return (
        f'<button type="button" class="icon-button" data-pin="file" aria-label="{label}" '
        f'title="{title}">{icon("pin")}</button>'
    )


def _loading() -> str:
    words = gettext("Loading")
    return f'<p class="review-note pulse">{words}</p>'


_MINUS = "\N{MINUS SIGN}"


def sheet(files: Iterable[FileRow], *, staged: bool = False) -> SafeString:
    """All files of a review, those of each folder beside the project below a heading."""
    groups = groupby(files, key=lambda file: file.root)
    parts = (_root_heading(root) + blocks(own, staged=staged) for root, own in groups)
    return mark_safe("".join(parts))  # noqa: S308 (made safe by parts)


def _root_heading(root: str) -> SafeString:
    if not root:
        return SafeString()
    path = visible(root)
    return format_html(
        '<h3 id="root-{}" class="review-root" title="{}">{}<span class="name">{}</span> '
        '<span class="soft">{}</span></h3>',
        digest(root),
        path,
        icon("folder"),
        path.rpartition("/")[2],
        path,
    )


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
        f'aria-labelledby="{file.id}-name"><div class="file-head"><h{file.heading} class="file-title">'
        f'<button type="button" class="file-toggle" id="{file.id}-name" data-fold aria-expanded="{opened}" '
        f'aria-controls="{file.id}-body"><span class="state" data-state="{file.letter}" title="{file.word}" '
        f'aria-hidden="true">{file.letter}</span><span class="visually-hidden">{file.word}: </span>'
        f"{_path(file)}{counts(file)}</button></h{file.heading}>{file.delta.html if file.delta else ''}{tag}"
        f'<span class="file-do">{_pin_button()}{"".join(_file_buttons(file, staged=staged))}</span></div>'
        f'{since}<div id="{file.id}-problem" class="file-problem" role="alert"></div>{_body(file)}</section>'
    )


def _path(file: FileRow) -> str:
    was = f"{visible(file.within(file.renamed_from))} → " if file.renamed_from else ""
    folder, slash, name = visible(file.within(file.name)).rpartition("/")
    before = escape(was + folder + slash)
    return (
        f'<span class="path" title="{before}{escape(name)}"><span class="folder soft">{before}</span>'
        f'<span class="name">{escape(name)}</span></span>'
    )


def _file_buttons(file: FileRow, *, staged: bool) -> Iterator[str]:
    if file.part:
        return
    if staged:
        yield from (button("stage-keep", drawing="check"), button("stage-drop", drawing="cross"))
    elif not is_plan(file.name):
        yield from _verdicts(file)
    yield viewed_box(file.viewed)


def _verdicts(file: FileRow) -> Iterator[str]:
    if file.open:
        yield why_button()
    if file.kept:
        yield button("unkeep")
    elif file.open:
        yield from (button("keep", drawing="check"), button("undo", drawing="undo"))
    if file.redo:
        yield button("redo", drawing="redo")


def _body(file: FileRow) -> str:
    if file.bodies is None:
        return (
            f'<div id="{file.id}-body" class="file-body" data-lazy data-rows="{file.rows}">{_loading()}</div>'
        )
    steps = "".join(f'<div class="step">{body}</div>' for body in file.bodies)
    return f'<div id="{file.id}-body" class="file-body" data-rows="{file.rows}">{steps}</div>'


# The tree of a review's files, folders with a single folder in them joined. Built in Python: there may be
# hundreds of rows, and each is small.


@dataclass(slots=True)
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[FileRow] = field(default_factory=list)


def tree(rows: Iterable[FileRow]) -> SafeString:
    """Nested lists; folders first, each with what is in it. A folder beside the project comes after."""
    groups = groupby(rows, key=lambda row: row.root)
    parts = (part for root, own in groups for part in _root_tree(root, own))
    return mark_safe(wellformed("".join(parts)))  # noqa: S308 (escaped in _list, _node and _leaf)


def _root_tree(root: str, rows: Iterable[FileRow]) -> Iterator[str]:
    top = _Folder()
    for row in rows:
        folder = top
        for name in row.within(row.name).split("/")[:-1]:
            folder = folder.folders.setdefault(name, _Folder())
        folder.files.append(row)
    if not root:
        yield from _list(top)
        return
    yield "<ul>"
    yield from _node(root, root.rpartition("/")[2], top)
    yield "</ul>"


def tree_row(file: FileRow) -> SafeString:
    """One file's row."""
    return mark_safe(wellformed(_leaf(file)))  # noqa: S308 (escaped in _leaf)


def _leaf(file: FileRow) -> str:
    path = escape(visible(file.name))
    classes = "tree-file viewed" if file.viewed else "tree-file"
    tag = f'<span class="tree-tag" data-state="{file.tone}">{file.tag}</span>' if file.tag else ""
    viewed = '<span class="visually-hidden">, viewed</span>' if file.viewed else ""
    return (
        f'<li id="{file.id}-row" class="{classes}" data-name="{path}">'
        f'<button type="button" data-jump="{file.id}" title="{path}">'
        f'<span class="state" data-state="{file.letter}" title="{file.word}">{file.letter}</span>'
        f'<span class="tree-name">{path.rpartition("/")[2]}</span>{tag}{counts(file)}{viewed}</button></li>'
    )


def _list(folder: _Folder) -> Iterator[str]:
    yield "<ul>"
    for name, inner in sorted(folder.folders.items()):
        while len(inner.folders) == 1 and not inner.files:
            ((below, inner),) = inner.folders.items()
            name = f"{name}/{below}"
        yield from _node(name, name, inner)
    yield from (_leaf(file) for file in folder.files)
    yield "</ul>"


def _node(path: str, name: str, folder: _Folder) -> Iterator[str]:
    """`path` names it to who closes it, and is the title of one that is named otherwise."""
    place, words = escape(visible(path)), escape(visible(name))
    title = f' title="{place}"' if path != name else ""
    yield f'<li class="tree-folder"><details open data-folder="{place}"><summary{title}>{words}</summary>'
    yield from _list(folder)
    yield "</details></li>"
