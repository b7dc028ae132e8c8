"""What the dialog of an undo lists, and the notice of one that left the conversation as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.review.conflicts import sides
from sessions.changes.review.verdicts import Listing, ReviewedFile, judge
from sessions.changes.roots import own_first
from sessions.changes.undo.merge import Conflict
from sessions.changes.undo.plan import WRITES, FilePlan
from sessions.core.models import Message, Operation, Session
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.core.sentences import translate
from sessions.rendering.html import html

_SHOWN_CONFLICTS = 5
_NAMED = 3

KEPT = gettext_noop("Kept")
UNDONE = gettext_noop("Undone")
HUNK_STATES = {
    "here": "",
    "kept": KEPT,
    "viewed": "",
    "gone": gettext_noop("No longer in the file"),
    "changed": gettext_noop("Changed since"),
    "missing": gettext_noop("The file has been removed"),
}
"""How it stands with a hunk; what was undone by a verdict says so itself."""

FILE_STATES = {
    "here": "",
    "partly": gettext_noop("Partly undone"),
    "gone": gettext_noop("No longer there"),
    "changed": gettext_noop("Changed since"),
    "missing": gettext_noop("Removed since"),
}

REFUSALS = {
    "conflict": gettext_noop("Conflict"),
    "missing": gettext_noop("File missing"),
    "unsafe": gettext_noop("Not done"),
    "uncovered": gettext_noop("Not covered"),
}
"""Why a verdict came to nothing, said in place of how it stands with the hunk."""


@dataclass(frozen=True, slots=True)
class Side:
    """One stretch that cannot be merged: the file's lines now, and what undoing would put there."""

    line: int
    now: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Described:
    """A file of the preview; `tone` is `change`, `calm` or `warn`."""

    name: str
    tone: str
    words: str
    additions: int
    deletions: int
    conflicts: tuple[Side, ...] = ()


def described(plan: FilePlan) -> Described:
    """What will happen to one file."""
    tone, words = _words(plan)
    sides = tuple(side(conflict) for conflict in plan.conflicts[:_SHOWN_CONFLICTS])
    return Described(shown(plan.path), tone, words, plan.additions, plan.deletions, sides)


def _words(plan: FilePlan) -> tuple[str, str]:
    if plan.outcome in ("restore", "merge") and plan.reason:
        words = _words(replace(plan, reason=""))[1]
        return "warn", gettext("%(words)s Look at it first: %(reason)s.") % {
            "words": words,
            "reason": translate(plan.reason),
        }
    if plan.outcome == "restore" and plan.result is None:
        return "change", gettext("Will be removed: it did not exist before.")
    if plan.outcome == "restore" and plan.before_now is None:
        return "change", gettext("Will be brought back.")
    if plan.outcome == "restore":
        return "change", gettext("Goes back to how it was.")
    if plan.outcome == "merge":
        return "change", gettext("The agent’s lines go back; what has been changed since stays.")
    if plan.outcome == "already":
        return "calm", gettext("Is as it was already.")
    if plan.outcome == "missing":
        return "calm", gettext("Has been removed since; there is nothing to undo.")
    return "warn", gettext("Is left alone: %(reason)s.") % {"reason": translate(plan.reason)}


def side(conflict: Conflict) -> Side:
    """Both sides as text, at most so much of each."""
    return Side(
        conflict.line,
        conflict.current.decode("utf-8", "replace")[:2000],
        conflict.other.decode("utf-8", "replace")[:2000],
    )


def ended(done: str, outcome: Sequence[dict[str, Any]]) -> str:
    """One line on an undo or redo that was carried out."""
    written = sum(entry["outcome"] in ("restore", "merge") for entry in outcome)
    alone = sum(entry["outcome"] in ("conflict", "unsafe") for entry in outcome)
    unknown = [shown(unpack_path(entry["path"])) for entry in outcome if entry["outcome"] == "uncovered"]
    said = {"done": gettext(done), "count": written, "alone": alone}
    if written:
        changed = ngettext("%(done)s: %(count)s file changed.", "%(done)s: %(count)s files changed.", written)
    else:
        changed = gettext("%(done)s; no file changed.")
    texts = [changed % said]
    if alone:
        left = ngettext(
            "%(alone)s file left alone because of conflicts.",
            "%(alone)s files left alone because of conflicts.",
            alone,
        )
        texts.append(left % said)
    if unknown:
        names = {"names": ", ".join(unknown[:_NAMED]), "more": len(unknown) - _NAMED}
        texts.append(
            gettext("Not covered, and left as it is: %(names)s and %(more)s more.") % names
            if len(unknown) > _NAMED
            else gettext("Not covered, and left as it is: %(names)s.") % names
        )
    return " ".join(texts)


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of the dialog; `free` tells that it will be written, and may be left out."""

    key: str
    free: bool
    words: Described


def listed(plans: Iterable[FilePlan], *, free: bool = True, again: bool = False) -> list[Listed]:
    """Files as the dialog shows them, by name; what is left alone comes first, so that nobody misses it.
    `again` is a redo: nothing goes back, it comes again."""
    shown = [_listed(plan, free, again) for plan in plans]
    return sorted(shown, key=lambda file: (file.words.tone != "warn", own_first(file.words.name)))


def _listed(plan: FilePlan, free: bool, again: bool) -> Listed:
    writes = plan.outcome in WRITES
    words = described(plan)
    if again and writes:
        words = replace(words, words=_again(plan))
    return Listed(pack_path(plan.path), free and writes, words)


def _again(plan: FilePlan) -> str:
    if plan.result is None:
        return gettext("Will be removed again.")
    if plan.before_now is None:
        return gettext("Will be there again.")
    if plan.outcome == "merge":
        return gettext("The change comes again; what has been changed since stays.")
    return gettext("Gets its change again.")


def files_undone(session: Session, *, oob: bool = True) -> str:
    """That files were taken back from a message on, until the next prompt; the log keeps it after that."""
    last = Operation.objects.filter(session=session, kind="undo", state="done", scope__kind="from")
    operation = last.order_by("-id").first()
    if operation is not None:
        prompts = Message.objects.filter(session=session, role="user")
        if prompts.filter(time_created__gt=operation.time_created).exists():
            operation = None
    count = sum(entry["outcome"] in WRITES for entry in operation.outcome) if operation else 0
    return html("review/files_undone.html", operation=operation, count=count, oob=oob)


def previewed(plans: Iterable[FilePlan], found: Listing) -> list[Listed]:
    """As `listed`; a file that is changed but for some hunks says which. Blocks."""
    return [_with_conflicts(one, found.file(one.key), found) for one in listed(plans)]


def _with_conflicts(one: Listed, file: ReviewedFile | None, found: Listing) -> Listed:
    if file is None or file.state != "changed" or not one.free:
        return one
    hunks = [judged for step in judge(file, found) for judged in step.hunks.values()]
    left = [judged.key for judged in hunks if judged.state == "changed"]
    both = [chosen for key in left if (chosen := sides(file, found, key)) is not None]
    count = ngettext(
        "%(words)s %(count)s hunk conflicts and stays as it is in the file.",
        "%(words)s %(count)s hunks conflict and stay as they are in the file.",
        len(left),
    )
    words = replace(
        one.words,
        tone="warn",
        words=count % {"words": one.words.words, "count": len(left)},
        conflicts=tuple(side(conflict) for chosen in both for conflict in chosen.conflicts),
    )
    return replace(one, words=words)


def review_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the panel anew in the scope and view it is in."""
    return html("review/news.html", session=session, oob=oob)
