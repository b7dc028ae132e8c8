"""What a person says about lines of a diff: shown under them, written, sent to the agent as one prompt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import actions
from sessions.changes.diffs.lines import split_lines
from sessions.changes.review.verdicts import Scope, judge, listing
from sessions.core.db import in_db
from sessions.core.models import ReviewComment, Session
from sessions.core.models.ledger import pack_path, shown
from sessions.core.principal import actor
from sessions.core.sentences import grouped
from sessions.core.store import comments, inbox
from sessions.core.store.comments import Thread
from sessions.project import browsing
from sessions.rendering.diffs.table import Notes, Side
from sessions.rendering.html import html
from sessions.web.access import session_of
from sessions.web.respond import beside, done, fragment, noted, refused, toast
from sessions.web.roots import root_of

OF_A_FILE = {"kind": "file"}
"""The scope of a comment that was written in the editor."""
OF_A_PLAN = {"kind": "plan"}
"""The scope of one that was written beside the plan."""
_ABOUT = {"file": "code", "plan": "plan"}
WORDS = {
    "draft": gettext_noop("Not sent yet"),
    "sent": gettext_noop("Sent to the agent"),
    "answered": gettext_noop("Answered"),
}


def notes(threads: Sequence[Thread], before: bytes | None, after: bytes | None, base: str) -> Notes:
    """By side and line, the comments under it; `base` is the session's URL."""
    made: dict[tuple[Side, int], list[str]] = {}
    for thread in threads:
        side: Side = "old" if thread.comment.side == "old" else "new"
        where = place(thread.comment, before if side == "old" else after)
        made.setdefault((side, where.end), []).append(
            html(
                "comments/note.html",
                comment=thread.comment,
                state=thread.state,
                words=gettext(WORDS[thread.state]),
                place=where,
                base=base,
            )
        )
    return {key: mark_safe("".join(parts)) for key, parts in made.items()}  # noqa: S308 (rendered templates)


def note(thread: Thread, base: str) -> SafeString:
    """One comment by itself, where it was written."""
    return html(
        "comments/note.html",
        comment=thread.comment,
        state=thread.state,
        words=gettext(WORDS[thread.state]),
        base=base,
    )


def comment_tray(session: Session, *, oob: bool = True) -> str:
    """Empty without drafts."""
    drafts = [
        {
            "id": row.id,
            "packed": pack_path(row.path),
            "name": shown(row.path),
            "line": row.start,
            "text": row.text,
        }
        for row in comments.drafts(session.id)
    ]
    return html("comments/tray.html", session=session, drafts=drafts, oob=oob)


LONGEST = 400
"""Lines of a range."""


@dataclass(frozen=True, slots=True)
class Place:
    """Lines from 1, both included. `outdated`: the commented lines are no longer in the content."""

    start: int
    end: int
    outdated: bool


def lines_of(content: bytes | None, start: int, end: int) -> str:
    """The text of some lines, for a comment on them; what is beyond the file is left out."""
    lines = split_lines(content or b"")[max(start, 1) - 1 : min(end, start + LONGEST - 1)]
    return b"".join(lines).decode("utf-8", "replace")


def place(comment: ReviewComment, content: bytes | None) -> Place:
    """Where its lines are in what its side of the diff holds now: at their old place, else the nearest."""
    lines = [line.decode("utf-8", "replace") for line in split_lines(content or b"")]
    code = comment.code.splitlines(keepends=True)
    size = len(code)
    fits = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == code] if code else []
    if not fits:
        last = max(len(lines), 1)
        return Place(min(comment.start, last), min(comment.end, last), outdated=True)
    start = min(fits, key=lambda at: abs(at + 1 - comment.start)) + 1
    return Place(start, start + size - 1, outdated=False)


MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Range:
    """Lines of one side of a step of a file, in a scope."""

    scope: Scope
    key: str
    step: int
    side: str
    start: int
    end: int


@require_GET
async def form(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=&step=&side=&start=&end=` and the scope: the field for a comment on these lines."""
    session = await session_of(project_id, session_id)
    asked = _range(request.GET)
    return fragment(
        "comments/form.html", base=session.get_absolute_url(), asked=asked, id=f"{asked.side}-{asked.end}"
    )


@require_POST
async def add(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The same fields with `text`."""
    session = await session_of(project_id, session_id)
    asked, text = _range(request.POST), request.POST.get("text", "").strip()
    if not text or len(text) > MAX_TEXT:
        return refused(length(text))
    found = await listing(session, asked.scope)
    file = found.file(asked.key)
    if file is None or asked.step >= len(file.steps):
        return refused(gettext("This file is no longer among the changes; your text is still here."))
    steps = await asyncio.to_thread(judge, file, found)
    side = steps[asked.step].before if asked.side == "old" else steps[asked.step].after
    code = lines_of(side, asked.start, asked.end)
    if not code:
        return refused(gettext("There are no such lines any more; your text is still here."))
    await in_db(
        comments.add,
        session,
        path=file.path,
        side=asked.side,
        start=asked.start,
        end=min(asked.end, asked.start + LONGEST - 1),
        code=code,
        text=text,
        scope=asked.scope.wire(),
        actor=actor(request),
    )
    return done()


async def add_to_text(
    request: HttpRequest,
    session: Session,
    path: str,
    content: bytes | None,
    version: str,
    scope: Mapping[str, str],
) -> str:
    """Add the `text` of the form about lines `start` to `end` of a text as a whole, as long as its `version`
    is the one that was `seen`. Why it was refused, empty where it was not."""
    given = request.POST
    start, end = line_number(given, "start"), line_number(given, "end")
    text, code = given.get("text", "").strip(), lines_of(content, start, end)
    if not text or len(text) > MAX_TEXT:
        return length(text)
    if content is None or given.get("seen") != version or not code:
        return gettext("It has been changed meanwhile; your text is still here.")
    await in_db(
        comments.add,
        session,
        path=path,
        side="new",
        start=start,
        end=min(end, start + LONGEST - 1),
        code=code,
        text=text,
        scope=dict(scope),
        actor=actor(request),
    )
    return ""


async def edit(request: HttpRequest, project_id: str, session_id: str, comment_id: str) -> HttpResponse:
    """GET the field in place of a draft, POST the new text; that gives the draft again."""
    session = await session_of(project_id, session_id)
    comment = await _comment(session, comment_id)
    if request.method != "POST":
        return fragment("comments/edit.html", base=session.get_absolute_url(), comment=comment)
    text = request.POST.get("text", "").strip()
    if not text or len(text) > MAX_TEXT:
        return beside(comment.id, length(text))
    if not await in_db(comments.reword, session, comment_id, text):
        return beside(comment.id, gettext("This comment was sent already; write another one."))
    return HttpResponse(
        note(Thread(await _comment(session, comment_id), "draft"), session.get_absolute_url())
    )


@require_POST
async def remove(request: HttpRequest, project_id: str, session_id: str, comment_id: str) -> HttpResponse:
    """A toast brings it back."""
    session = await session_of(project_id, session_id)
    columns = await in_db(comments.remove, session, comment_id)
    if columns is None:
        raise Http404(gettext("This comment is gone."))
    values = {"removed": signing.dumps(columns, salt=session.id)}
    undo = reverse("restore-comment", args=(project_id, session_id))
    return noted(toast(gettext("Removed the comment."), undo=undo, values=json.dumps(values)))


@require_POST
async def restore(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`removed` is what a removal gave."""
    session = await session_of(project_id, session_id)
    try:
        columns = signing.loads(request.POST.get("removed", ""), salt=session.id)
    except signing.BadSignature as error:
        raise Http404 from error
    await in_db(comments.restore, session, columns)
    return HttpResponse()


@require_POST
async def send(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """All drafts as one prompt; `words` go before them."""
    session = await session_of(project_id, session_id)
    drafts = await in_db(comments.drafts, session.id)
    if not drafts:
        return refused(gettext("There are no comments to send."))
    await asyncio.to_thread(_move, session, drafts)
    text = prompt_text(drafts, request.POST.get("words", ""))
    try:
        row = await actions.prompt(session, [{"type": "text", "text": text}])
    except inbox.PromptRefused as problem:
        return refused(str(problem))
    await in_db(comments.sent, session, [draft.id for draft in drafts], row.id)
    return done(prompted=session.id)


def _move(session: Session, drafts: Iterable[ReviewComment]) -> None:
    """To where their lines are in the files by now."""
    for draft in drafts:
        root = root_of(session.project, session, draft.path)
        with suppress(browsing.Unreadable):
            where = place(draft, browsing.content(root.path, draft.path))
            if draft.side == "new" and not where.outdated:
                draft.start, draft.end = where.start, where.end


def _range(query: QueryDict) -> Range:
    """Raises Http404 for what no page asks."""
    numbers = [query.get(name, "") for name in ("start", "end")]
    step, side = query.get("step", "0"), query.get("side", "new")
    if not all(number.isdecimal() and len(number) < 8 for number in (*numbers, step)) or side not in (
        "old",
        "new",
    ):
        raise Http404(gettext("These are no lines of a diff."))
    start, end = sorted(int(number) for number in numbers)
    return Range(
        Scope.asked({name: str(query[name]) for name in query}),
        query.get("path", ""),
        int(step),
        side,
        max(start, 1),
        end,
    )


def line_number(given: QueryDict, name: str) -> int:
    """A line from 1. Raises Http404 for what no page asks."""
    number = given.get(name, "")
    if not number.isdecimal() or not 0 < len(number) < 8:
        raise Http404(gettext("This is no line of a file."))
    return max(int(number), 1)


async def _comment(session: Session, comment_id: str) -> ReviewComment:
    found = await in_db(comments.get, session.id, comment_id)
    if found is None:
        raise Http404(gettext("This comment is gone."))
    return found


def length(text: str) -> str:
    return (
        gettext("A comment may have %(max_text)s characters.") % {"max_text": grouped(MAX_TEXT)}
        if text
        else gettext("Write something first.")
    )


_SIDES = {"old": " (as it was before your change)", "new": ""}


def prompt_text(comments: Iterable[ReviewComment], words: str = "") -> str:
    """`words` go before the comments."""
    rows = list(comments)
    kinds = {_ABOUT.get(row.scope.get("kind"), "changes") for row in rows}
    about = kinds.pop() if len(kinds) == 1 else "changes" if "changes" in kinds else "plan and the code"
    first = words.strip() or f"My comments on the {about}:"
    return "\n\n".join([first, *(_one(row) for row in rows)])


def _one(comment: ReviewComment) -> str:
    lines = (
        f"line {comment.start}" if comment.start == comment.end else f"lines {comment.start}-{comment.end}"
    )
    fence = "`" * max(3, _longest_run(comment.code) + 1)
    code = comment.code if comment.code.endswith("\n") else f"{comment.code}\n"
    name = shown(comment.path)
    return f"{name}, {lines}{_SIDES[comment.side]}:\n{fence}\n{code}{fence}\n{comment.text.strip()}"


def _longest_run(text: str) -> int:
    """The longest run of backticks."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
