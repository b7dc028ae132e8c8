"""How the changes of a scope stand: which there are, which are still there, what was decided of each hunk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Literal, cast, get_args
from urllib.parse import urlencode

from django.db.models import Q
from django.utils.translation import gettext

from sessions.changes import vcs
from sessions.changes.checkout_git import GitError, git, not_ignored, unfiltered
from sessions.changes.diffs.hunks import Piece, is_binary, pieces
from sessions.changes.diffs.lines import Span, changed_spans, split_lines
from sessions.changes.diffs.renames import Moved
from sessions.changes.diffs.renames import renames as found_renames
from sessions.changes.review.filediffs import count_change
from sessions.changes.roots import Roots, own_first, roots_in_reach, roots_of
from sessions.changes.snapshots.changes import MOVED_IN, SIZE_LIMIT, TOO_LARGE, Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.snapshots.project import find_project_git
from sessions.changes.tracking import Tracker, tracker
from sessions.changes.undo.files import AS_NEW, NEW_FILE, FileState, UnsafePath, read_file
from sessions.changes.undo.merge import regions, settle
from sessions.changes.undo.plan import mode_equals, net_steps
from sessions.changes.vcs import Checkout
from sessions.core.bounded import LRU
from sessions.core.db import in_db_sync
from sessions.core.models import FileChange, Session, StagedFile
from sessions.core.models.ledger import pack_path, shown
from sessions.core.store import ledger, operations, problems, staging, summary, turns
from sessions.core.store.ledger import Later, Point
from sessions.core.store.problems import Known, Place

# What is looked at: a call, a turn, all from a message on, a session, a project, the working tree against
# the last commit of git or against where the branch began, what is staged. A project and its working tree are
# looked at with the folders beside it that the session may write.

Kind = Literal["call", "turn", "from", "session", "project", "git", "branch", "staged"]
_OF_GIT = ("git", "branch")
_WIDE = ("project", *_OF_GIT)


@dataclass(frozen=True, slots=True)
class Scope:
    """`message` is a prompt's or an answer's (turn; empty: the last prompt), `part` a tool call's (call).
    With `from` they are where something begins: what was done from that message, or part, on.
    """

    kind: Kind = "session"
    message: str = ""
    part: str = ""

    @classmethod
    def asked(cls, query: Mapping[str, str]) -> Scope:
        """From `scope`, `message` and `part` of a query; anything unknown is the session."""
        kind = query.get("scope", "")
        if kind not in get_args(Kind) or (kind == "call" and not query.get("part")):
            return cls()
        message, part = query.get("message", ""), query.get("part", "")
        return cls(
            cast(Kind, kind),
            message if kind in ("call", "turn", "from") else "",
            part if kind in ("call", "from") else "",
        )

    @property
    def of_git(self) -> bool:
        """Whether it is what git knows, and not the ledger."""
        return self.kind in _OF_GIT

    def wire(self) -> dict[str, str]:
        """As it is kept with an operation."""
        return {key: value for key, value in asdict(self).items() if value}

    def fields(self) -> list[tuple[str, str]]:
        """For a form; `asked` reads them back."""
        return [("scope", self.kind), *((k, v) for k, v in self.wire().items() if k != "kind")]

    def query(self) -> str:
        """The same for a URL."""
        return urlencode(self.fields())


def entries(session: Session, scope: Scope, roots: Roots) -> list[FileChange]:
    """The ledger's entries of a scope, oldest first: what tools and subagents did and no undo of the
    conversation took back; of a project those in all `roots`. Verdicts are not among them: whether a hunk is
    still there, its file says.
    """
    rows = FileChange.objects.filter(operation=None, undone_by=None).prefetch_related("session")
    if scope.kind == "project":
        within = [root.project_id for root in roots.every]
        found = rows.filter(project_id__in=within, session__time_deleted=None)
    elif scope.kind == "call":
        found = rows.filter(_own(session, part_id=scope.part) | _below(session, for_part_id=scope.part))
    elif scope.kind == "turn":
        found = rows.filter(_turn(session, scope.message))
    elif scope.kind == "from":
        found = rows.filter(pk__in=ledger.since(session.id, Point(scope.message, scope.part)))
    else:
        found = rows.filter(_own(session) | _below(session))
    return list(found.order_by("id"))


def staged_change(row: StagedFile, roots: Roots) -> Change:
    """A staged edit as if it had been made, with its path as seen from the session."""
    return Change(roots.path(row), row.base or None, row.content or None, row.mode_base, row.mode)


def _turn(session: Session, message: str) -> Q:
    point = ledger.locate(session.id, message or turns.last_prompt(session.id))
    if point is None:
        return Q(pk=None)
    since, end = point.message_id, summary.next_prompt(session.id, point.message_id)
    own, below = {"message_id__gte": since}, {"for_message_id__gte": since}
    if end:
        own["message_id__lt"] = below["for_message_id__lt"] = end
    return _own(session, **own) | _below(session, **below)


def _own(session: Session, **rest: str) -> Q:
    return Q(session_id=session.id, **rest)


def _below(session: Session, **rest: str) -> Q:
    return Q(for_session_id=session.id, **rest)


# Whether what was done to a file is still there: by its content now, for the file and for each hunk.

HunkState = Literal["here", "gone", "changed", "missing"]
Presence = Literal["here", "partly", "gone", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class Found:
    """The file now (None: there is none), and what of the scope is still in it."""

    state: Presence
    now: str | None
    additions: int = 0
    deletions: int = 0


def presence(path: str, steps: Sequence[Change], roots: Roots, *, staged: bool = False) -> Found:
    """How it stands with a file. What is staged is not on the disk, and counts as there."""
    project, inner = roots.at(path)
    try:
        file = read_file(project.worktree, inner)
    except (OSError, UnsafePath):
        return Found("changed", None)
    now = object_id(file.content) if file else None
    additions, deletions = _counted(steps, project.objects)
    last = steps[-1]
    kept = mode_equals(file.mode if file else None, last.mode_after)
    if staged or (now == last.after and kept and len(steps) == 1):
        return Found("here", now, additions, deletions)
    if not all(textual(step, project.objects) for step in steps):
        state = whole_state(steps, now, kept)
        return Found(state, now, additions, deletions) if state == "here" else Found(state, now)
    if file is None:
        return Found("missing", None)
    return _partly(steps, file.content, now, project.objects)


def whole_state(steps: Sequence[Change], now: str | None, kept: bool) -> HunkState:
    """For what has no hunks: new, removed and binary files, links, modes."""
    first, last = steps[0], steps[-1]
    if now == last.after and (kept or last.after is None):
        return "here"
    if now == first.before:
        return "gone"
    return "missing" if now is None else "changed"


def textual(step: Change, objects: ObjectStore) -> bool:
    """Whether single hunks of a step can be taken back: a text that is there before and after."""
    if not step.before or not step.after or step.skipped or step.before == step.after:
        return False
    if any(mode is not None and mode & 0o170000 == 0o120000 for mode in (step.mode_before, step.mode_after)):
        return False
    return _comparable(objects, step.before, step.after)


def hunk_states(before: bytes, after: bytes, now: bytes | None) -> dict[str, HunkState]:
    """By key of each hunk of a change, how it stands with it in the content that the file has now."""
    old, new = split_lines(before), split_lines(after)
    found = pieces(old, new)
    if now is None:
        return {piece.key: "missing" for piece in found}
    if now == after:
        return {piece.key: "here" for piece in found}
    return _compared(found, old, new, split_lines(now))


def _compared(
    found: Sequence[Piece], old: list[bytes], new: list[bytes], current: list[bytes]
) -> dict[str, HunkState]:
    """Every span of every hunk, turned round, against what has been changed since."""
    inverse: list[Span] = [(c, d, a, b) for piece in found for a, b, c, d in piece.spans]
    owners = [piece.key for piece in found for _ in piece.spans]
    states: dict[str, set[HunkState]] = {piece.key: set() for piece in found}
    for region in regions(changed_spans(new, current), inverse):
        settled = settle(region, new, current, old)
        state: HunkState = "changed" if settled is None else "gone" if region.ours else "here"
        for number in region.theirs:
            states[owners[number]].add(state)
    return {key: _worst(seen) for key, seen in states.items()}


def _worst(seen: set[HunkState]) -> HunkState:
    return "changed" if "changed" in seen else "here" if "here" in seen else "gone"


def _partly(steps: Sequence[Change], content: bytes, now: str | None, objects: ObjectStore) -> Found:
    seen: list[HunkState] = []
    additions = deletions = 0
    for step in steps:
        before, after = objects.get(step.before or ""), objects.get(step.after or "")
        states = hunk_states(before, after, content)
        seen += states.values()
        for piece in pieces(split_lines(before), split_lines(after)):
            if states[piece.key] != "gone":
                additions += sum(d - c for _, _, c, d in piece.spans)
                deletions += sum(b - a for a, b, _, _ in piece.spans)
    state: Presence = "here"
    if "changed" in seen:
        state = "changed"
    elif "gone" in seen:
        state = "partly" if "here" in seen else "gone"
    return Found(state, now, additions, deletions)


def _counted(steps: Sequence[Change], objects: ObjectStore) -> tuple[int, int]:
    counts = [count_change(step, objects) for step in steps]
    return sum(added for added, _ in counts), sum(deleted for _, deleted in counts)


@lru_cache(maxsize=4096)
def _comparable(objects: ObjectStore, before: str, after: str) -> bool:
    try:
        return not any(is_binary(objects.get(oid)) for oid in (before, after))
    except ObjectMissing:
        return False


# Files that a scope moved: a removed one and a new one of the same or a similar content are one.


@dataclass(frozen=True, slots=True)
class Renamed:
    """`change` is from the old content to the new, at the new path; `whole` is what happened at the old."""

    source: str
    change: Change
    whole: tuple[Change, ...]


def renames(steps: Mapping[str, tuple[Change, ...]], roots: Roots) -> dict[str, Renamed]:
    """By new path. Only files that came or went in one step count, and none moves to another root."""
    by_root: dict[Tracker, dict[str, tuple[Change, ...]]] = {}
    for path, own in steps.items():
        by_root.setdefault(roots.of(path), {})[path] = own
    found = (_renames(own, root.objects) for root, own in by_root.items())
    return {path: renamed for some in found for path, renamed in some.items()}


def _renames(steps: Mapping[str, tuple[Change, ...]], objects: ObjectStore) -> dict[str, Renamed]:
    single = {path: own[0] for path, own in steps.items() if len(own) == 1 and not own[0].skipped}

    def load(oid: str) -> bytes | None:
        try:
            return objects.get(oid)
        except ObjectMissing:
            return None

    moved = [Moved(path, step.before, step.after) for path, step in single.items()]
    return {
        path: _renamed(single[path], single[source]) for path, source in found_renames(moved, load).items()
    }


def _renamed(new: Change, old: Change) -> Renamed:
    change = replace(new, before=old.before, mode_before=old.mode_before, new_folders=0)
    return Renamed(old.path, change, (old,))


# How it stands with each hunk of a file, and which operation took it back.

_known: LRU[dict[str, HunkState]] = LRU(20_000)
"""States of hunks by the contents they were found from: a long diff is asked for in many pieces."""


@dataclass(frozen=True, slots=True)
class Judged:
    """`key` is what a pick names the hunk by; `operation` the undo that took it back, if one did."""

    key: str
    state: HunkState
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a file with its contents; `hunks` are by the key that the diff gives them. A step that has
    to be taken back as a whole (a new file, a binary one) has one under the empty key."""

    change: Change
    before: bytes | None
    after: bytes | None
    hunks: Mapping[str, Judged]


def judge(file: ReviewedFile, listing: Listing) -> list[Step]:
    """The steps of a file, each hunk with its state. Blocks; contents that are missing are None."""
    now = _now(file, listing)
    return [_step(number, change, file, listing, now) for number, change in enumerate(file.steps)]


def pick_key(number: int, key: str) -> str:
    """The same hunk may be in several steps of a file."""
    return f"{number}:{key}" if number else key


def _now(file: ReviewedFile, listing: Listing) -> FileState | None:
    if listing.scope.kind == "staged":
        last = file.steps[-1]
        if not last.after:
            return None
        objects = listing.roots.of(file.path).objects
        return FileState(objects.get(last.after), last.mode_after or NEW_FILE)
    try:
        root, path = listing.roots.at(file.path)
        return read_file(root.worktree, path)
    except (OSError, UnsafePath):
        return None


def _step(number: int, change: Change, file: ReviewedFile, listing: Listing, now: FileState | None) -> Step:
    objects = listing.roots.of(file.path).objects
    before, after = _content(objects, change.before), _content(objects, change.after)
    states: dict[str, HunkState]
    if textual(change, objects) and before is not None and after is not None:
        oid = object_id(now.content) if now else ""
        states = _known.get(
            (objects, change.before, change.after, oid),
            lambda: _weighed(hunk_states(before, after, now.content if now else None)),
        )
    else:
        kept = mode_equals(now.mode if now else None, change.mode_after)
        states = {"": whole_state([change], object_id(now.content) if now else None, kept)}
    judged = {key: _judged(pick_key(number, key), state, file, listing) for key, state in states.items()}
    return Step(change, before, after, judged)


def _judged(key: str, state: HunkState, file: ReviewedFile, listing: Listing) -> Judged:
    undone = listing.undone
    operation = undone.get((file.key, key)) or undone.get((file.key, "")) or ""
    return Judged(key, state, operation if state in ("gone", "missing") else "")


def _content(objects: ObjectStore, oid: str | None) -> bytes | None:
    try:
        return objects.get(oid) if oid else None
    except ObjectMissing:
        return None


def _weighed(states: dict[str, HunkState]) -> tuple[dict[str, HunkState], int]:
    return states, len(states) + 1


# The files of a scope: what the scope did to each, whether that is still there, who has changed it since.

Status = Literal["added", "deleted", "modified", "renamed"]


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One file of a scope.

    `key` is its path for URLs and picks. `steps` are what the scope did to it, normally one; several where
    somebody else's lines between them could not be told apart. `whole` is what a verdict on the whole file
    takes back: of a renamed file both its paths. `additions` and `deletions` count what is still there,
    `mark` names the content for marks, `note` says why there is nothing to compare. `owner` is the last
    ledger entry it comes from.
    """

    path: str
    key: str
    steps: tuple[Change, ...]
    whole: tuple[Change, ...]
    status: Status
    state: Presence
    others: tuple[str, ...] = ()
    additions: int = 0
    deletions: int = 0
    mark: str = ""
    note: str = ""
    renamed_from: str = ""
    owner: FileChange | None = None

    @property
    def places(self) -> list[Place]:
        """Both contents of every step."""
        pairs = [
            place
            for step in self.steps
            for place in ((self.renamed_from or step.path, step.before), (step.path, step.after))
        ]
        return [(path, content) for path, content in pairs if content]


@dataclass(frozen=True, slots=True)
class Listing:
    """`problem` says why changes of commands are not among `files`, if so. `undone` has the operation that
    took back a hunk, by file and hunk key (an empty one: the whole file). `problems` is what language
    servers say of the contents before and after. At a `stop` of a tour (from 1, 0: at none) `files` are those
    of that stop; `only` names the hunks of it by file, where a file has others, too.
    """

    scope: Scope
    files: tuple[ReviewedFile, ...]
    roots: Roots
    problem: str | None = None
    undone: Mapping[tuple[str, str], str] = field(default_factory=dict)
    problems: Mapping[Place, Known] = field(default_factory=dict)
    stop: int = 0
    only: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def query(self) -> str:
        """What is shown, for a URL."""
        return f"{self.scope.query()}&stop={self.stop}" if self.stop else self.scope.query()

    def file(self, key: str) -> ReviewedFile | None:
        return next((file for file in self.files if file.key == key), None)


async def listing(session: Session, scope: Scope, only: Container[str] | None = None) -> Listing:
    """What a scope shows, by path, the project's own files first; with `only`, the files of these keys. Reads
    each file, writes none."""
    return await asyncio.to_thread(read_listing, session, scope, only)


def read_listing(session: Session, scope: Scope, only: Container[str] | None = None) -> Listing:
    """The same for who is in a thread."""
    project = tracker(session.project)
    roots = roots_in_reach(session) if scope.kind in _WIDE else Roots(project)
    problem, made = project.problem, None
    if scope.of_git:
        made, problem = _of_git(roots, branch=scope.kind == "branch")
    changes, owners, later, undone, roots = in_db_sync(_rows, session, scope, roots, made)
    files = _files(scope, roots, changes, owners, later, only)
    places = [place for file in files for place in file.places]
    known = in_db_sync(_problems, roots, places)
    return Listing(scope, tuple(files), roots, problem, undone, known)


def projects_in(session: Session, scope: Scope) -> set[str]:
    """Those whose files a scope may show. Blocks."""
    if scope.kind in _WIDE:
        return {root.project_id for root in roots_in_reach(session).every}
    return in_db_sync(ledger.projects_of, session)


def _rows(
    session: Session, scope: Scope, roots: Roots, made: Sequence[Change] | None
) -> tuple[Sequence[Change], dict[str, FileChange], dict[str, Later], dict[tuple[str, str], str], Roots]:
    """The changes of a scope (`made`, if they are not in the rows), the last entry of each file, who has
    changed it later, which operations took back hunks, and where it all lies."""
    owners: dict[str, FileChange] = {}
    if made is not None:
        changes = made
    elif scope.kind == "staged":
        waiting = staging.files(session)
        roots = roots_of(session.project, waiting)
        changes = [staged_change(row, roots) for row in waiting]
    else:
        rows = entries(session, scope, roots)
        roots = roots_of(session.project, rows)
        owners = {roots.path(row): row for row in rows}
        changes = [roots.change(row) for row in rows]
    later = _later(roots, _last_ids(changes, owners))
    undone = operations.undone_hunks(session.project_id, [change.path for change in changes])
    return changes, owners, later, undone, roots


def _later(roots: Roots, after: Mapping[str, int]) -> dict[str, Later]:
    """`ledger.later` of paths as seen from a session."""
    by_root: dict[Tracker, dict[str, int]] = {}
    for path, last in after.items():
        root, inner = roots.at(path)
        by_root.setdefault(root, {})[inner] = last
    return {
        roots.seen(root, path): later
        for root, own in by_root.items()
        for path, later in ledger.later(root.project_id, own).items()
    }


def _problems(roots: Roots, places: Iterable[Place]) -> dict[Place, Known]:
    """`problems.of_contents` of paths as seen from a session."""
    by_root: dict[Tracker, list[Place]] = {}
    for path, content in places:
        root, inner = roots.at(path)
        by_root.setdefault(root, []).append((inner, content))
    return {
        (roots.seen(root, path), content): said
        for root, own in by_root.items()
        for (path, content), said in problems.of_contents(root.project_id, own).items()
    }


def _last_ids(changes: Iterable[Change], owners: Mapping[str, FileChange]) -> dict[str, int]:
    return {change.path: owners[change.path].pk if change.path in owners else 0 for change in changes}


def _files(
    scope: Scope,
    roots: Roots,
    changes: Sequence[Change],
    owners: Mapping[str, FileChange],
    later: Mapping[str, Later],
    only: Container[str] | None,
) -> list[ReviewedFile]:
    by_path: dict[str, list[Change]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    ordered = sorted(by_path, key=own_first)
    steps = {path: net_steps(by_path[path], roots.of(path).objects) for path in ordered}
    moved = renames(steps, roots)
    gone = {rename.source for rename in moved.values()}
    return [
        _file(scope, roots, path, own, moved.get(path), owners.get(path), later.get(path))
        for path, own in steps.items()
        if own and path not in gone and (only is None or pack_path(path) in only)
    ]


def _file(
    scope: Scope,
    roots: Roots,
    path: str,
    own: tuple[Change, ...],
    rename: Renamed | None,
    owner: FileChange | None,
    later: Later | None,
) -> ReviewedFile:
    steps = (rename.change,) if rename else own
    found = presence(path, steps, roots, staged=scope.kind == "staged")
    if rename and found.state == "missing":  # at its old place again
        found = presence(path, own, roots)
    return ReviewedFile(
        path=path,
        key=pack_path(path),
        steps=steps,
        whole=(*rename.whole, *own) if rename else own,
        status="renamed" if rename else _status(steps),
        state=found.state,
        others=_others(later, found.now) if owner else (),
        additions=found.additions,
        deletions=found.deletions,
        mark=_mark(steps),
        note=next((step.skipped for step in steps if step.skipped), ""),
        renamed_from=rename.source if rename else "",
        owner=owner,
    )


def _status(steps: Sequence[Change]) -> Status:
    first, last = steps[0], steps[-1]
    if first.before is None and first.skipped in (None, MOVED_IN):
        return "added"
    return "deleted" if last.after is None and not last.skipped else "modified"


def _others(later: Later | None, now: str | None) -> tuple[str, ...]:
    if later is None:
        return ()
    outside = now != later.content and not later.skipped
    return (*later.names, gettext("somebody outside of this app")) if outside else later.names


def _mark(steps: Sequence[Change]) -> str:
    return "-".join(f"{(step.before or '')[:12]}.{(step.after or '')[:12]}" for step in steps)[:64]


MOST_UNTRACKED = 2000
_COMPARE = ("diff-index", "--raw", "-z", "--no-renames", "--relative", "--ignore-submodules=all")
_SUBMODULE = 0o160000


def _of_git(roots: Roots, *, branch: bool) -> tuple[list[Change], str | None]:
    """`working_tree` of all of them, with paths as seen from the session and the names of other folders."""
    changes: list[Change] = []
    problems: list[str] = []
    for root in sorted(roots.every, key=lambda root: root is not roots.home):
        made, problem = working_tree(root, branch=branch)
        changes += [replace(change, path=roots.seen(root, change.path)) for change in made]
        if problem:
            problems.append(problem if root is roots.home else f"{shown(root.worktree.name)}: {problem}")
    return changes, " ".join(problems) or None


def working_tree(project: Tracker, *, branch: bool = False) -> tuple[list[Change], str | None]:
    """What `git diff HEAD` and new files amount to, and why it is not known, if so; with `branch` from where
    the branch began. The user's repository and index are read only; contents of files on the disk are put
    into our store."""
    try:
        head = _git(project, "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    except GitError:
        return [], gettext("This folder has no git commit to compare with.")
    if branch and not (head := vcs.base(Checkout(project.worktree))):
        return [], gettext("This branch has no base: it is the repository’s default one, and follows none.")
    try:
        raw = _git(project, *_COMPARE, head)
        names = not_ignored(project.worktree)
    except GitError as error:
        return [], gettext("git could not be asked: %(error)s") % {"error": error}
    _borrow(raw, project)
    untracked = (_against(project, name, None, None) for name in names[:MOST_UNTRACKED])
    found = [*_tracked(raw, project), *untracked]
    left = len(names) - MOST_UNTRACKED
    return [change for change in found if change], gettext("%(left)s more new files are left out.") % {
        "left": left
    } if left > 0 else None


def _borrow(raw: bytes, project: Tracker) -> None:
    """Make the committed contents of what has changed our own, in one go."""
    project.objects.borrow(find_project_git(project.worktree).objects)
    before = {described.split()[2].decode() for described in raw.split(b"\0")[:-1:2]}
    project.objects.own(before - {"0" * 40})


def _tracked(raw: bytes, project: Tracker) -> Iterator[Change | None]:
    """Read the raw output format of git-diff-index(1)."""
    fields = raw.split(b"\0")[:-1]
    for described, path in zip(fields[::2], fields[1::2], strict=True):
        mode, mode_now, before, _, _ = described.decode().removeprefix(":").split()
        if _SUBMODULE not in (int(mode, 8), int(mode_now, 8)):
            yield _against(
                project, os.fsdecode(path), before, int(mode, 8) | AS_NEW if int(mode, 8) else None
            )


def _against(project: Tracker, path: str, before: str | None, mode: int | None) -> Change | None:
    """One file against its content in git; None when they are the same after all."""
    try:
        now = read_file(project.worktree, path)
    except (OSError, UnsafePath):
        return None
    before = before if mode else None
    if now is None:
        return Change(path, before, None, mode, None) if before else None
    if len(now.content) > SIZE_LIMIT:
        return Change(path, None, None, skipped=TOO_LARGE)
    after = object_id(now.content)
    if before:
        before = _as_checked_out(project.objects, before, now.content)
    if before == after and mode is not None and (mode ^ now.mode) & 0o100 == 0:
        return None
    return Change(path, before, project.objects.put(now.content), mode, now.mode)


def _as_checked_out(objects: ObjectStore, oid: str, now: bytes) -> str:
    """git may keep a file with other line ends than it checks out (core.autocrlf, gitattributes(5))."""
    try:
        kept = objects.get(oid)
    except ObjectMissing:
        return oid
    converted = b"\r\n" in now and b"\r" not in kept and b"\n" not in now.replace(b"\r\n", b"")
    return objects.put(kept.replace(b"\n", b"\r\n")) if converted else oid


def _git(project: Tracker, *arguments: str) -> bytes:
    """The repository may be anybody's: nothing that its configuration names is run."""
    return git(project.worktree, *arguments, settings=unfiltered(project.worktree))
