"""What a person or a client can do to a session; pages and API call the same functions.

Each writes through the store on the ORM's thread and, after commit, wakes the agents by message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import DatabaseError

from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, PermissionRequest, QuestionRequest, Session
from sessions.core.principal import acting
from sessions.core.space import is_full
from sessions.core.store import children, compaction, inbox, permissions, pursuits, questions, resumption
from sessions.core.store import sessions as session_store
from sessions.core.wake import answered, interrupt, wake


async def prompt(session: Session, parts: list[dict[str, Any]], **choice: Any) -> AdmittedPrompt:
    """Admit a prompt (see `inbox.admit` for the choices) and wake the session, unless it is not to resume.

    Raises PromptRefused when it has no content.
    """
    row = await in_db(inbox.admit, session, parts, actor=acting.get(), **choice)
    if row.resume:
        await wake(session.id)
    return row


async def compact(session: Session, **choice: Any) -> AdmittedPrompt:
    """Ask for a compaction (see `compaction.ask`) when the session is idle next. Raises NothingToCompact."""
    row = await in_db(compaction.ask, session, **choice)
    await wake(session.id)
    return row


async def resume(session_id: str) -> None:
    """Go on with the last turn, which was cut off. Raises NothingToResume."""
    await in_db(resumption.ask, session_id)
    await wake(session_id)


async def abort(session_id: str) -> None:
    """Stop the running turn at once, and those of sessions it started, and what it does by itself. Prompts
    that wait stay admitted. A prompt that the model was not asked about yet is taken back (`inbox.stopped`).

    The rows have it first, so that it is done also where the hint is lost; with a full disk the hint does.
    """
    for stopped_id in [session_id, *await in_db(children.at_work_below, session_id)]:
        epoch: int | None = 0
        try:
            await in_db(pursuits.stop, stopped_id)
            epoch = await in_db(inbox.stop, stopped_id)
        except DatabaseError as error:
            if not is_full(error):
                raise
        if epoch is not None:
            await interrupt(stopped_id, epoch)


async def reply(request_id: str, answer: str, words: str = "", **how: Any) -> PermissionRequest | None:
    """Answer a permission request: `once`, `always` or `reject` (`permissions.reply` says how); None when it
    can no longer be answered. Raises ReplyRefused."""
    row = await in_db(permissions.reply, request_id, answer, words, **how)
    if row is not None:
        await answered(row.session_id, row.id)
    return row


async def answer(request_id: str, answers: Sequence[Sequence[str]]) -> QuestionRequest | None:
    """Answer questions, one list of labels or own words for each; None when they no longer wait.

    Raises AnswerRefused for what is no answer to them.
    """
    return await _told(await in_db(questions.reply, request_id, answers))


async def dismiss(request_id: str) -> QuestionRequest | None:
    """Answer none of the questions; None when they no longer wait."""
    return await _told(await in_db(questions.reject, request_id))


async def _told(row: QuestionRequest | None) -> QuestionRequest | None:
    if row is not None:
        await answered(row.session_id, row.id)
    return row


async def delete(session_id: str) -> Session | None:
    """Hide a session and those it started (undone by `store.sessions.restore`), and stop their turns."""
    row = await in_db(session_store.delete, session_id)
    if row is not None:
        await abort(session_id)
    return row
