"""What the dialog of an undo lists, and the notice of one that left the conversation as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sessions.models import Message, Operation, Session
from sessions.models.ledger import pack_path
from sessions.rendering.html import html
from sessions.review.display.words import Described, described
from sessions.review.outcomes import WRITES
from sessions.undo.plan import FilePlan


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
    return sorted(shown, key=lambda file: (file.words.tone != "warn", file.words.name))


def _listed(plan: FilePlan, free: bool, again: bool) -> Listed:
    writes = plan.outcome in WRITES
    words = described(plan)
    if again and writes:
        words = replace(words, words=_again(plan))
    return Listed(pack_path(plan.path), free and writes, words)


def _again(plan: FilePlan) -> str:
    if plan.result is None:
        return "Will be removed again."
    if plan.before_now is None:
        return "Will be there again."
    if plan.outcome == "merge":
        return "The change comes again; what has been changed since stays."
    return "Gets its change again."


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
