"""Which event renews which fragment: one row a pair. A new panel adds its function and its rows here.

A fragment is a synchronous function of a session's row, giving HTML with `hx-swap-oob` on its root; it
runs on the ORM's thread. An event that comes many times at once renews its fragments once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sessions.models import Session
from sessions.review.display.live import review_news
from sessions.review.display.permissions import permission_list

from .children import family
from .meter import meter
from .notices import news
from .plan import plan_badge, plan_panel
from .questions import question_list
from .queue import queue
from .states import activity, head, reverted, todo_panel, working


class Fragment(Protocol):
    """The page shows it as `show_<name>` with `oob=False`."""

    __name__: str

    def __call__(self, session: Session, *, oob: bool = True) -> str: ...


FRAGMENTS: dict[str, tuple[Fragment, ...]] = {
    "session.created": (family,),
    "session.deleted": (family,),
    "session.updated": (head, meter, reverted, plan_badge, plan_panel),
    "session.status": (activity, working, plan_panel),
    "session.inbox": (queue,),
    "todo.updated": (todo_panel,),
    "permission.asked": (permission_list,),
    "permission.replied": (permission_list,),
    "question.asked": (question_list, plan_panel),
    "question.replied": (question_list, plan_panel),
    "question.rejected": (question_list, plan_panel),
    "message.updated": (meter,),
    "file.edited": (review_news,),
    "session.diff": (review_news, news),
    "plugin.failed": (news,),
}

SIDEBAR_EVENTS = {
    "session.created",
    "session.updated",
    "session.status",
    "permission.asked",
    "permission.replied",
    "question.asked",
    "question.replied",
    "question.rejected",
}
"""Events of any session of the project that change its row in the sidebar."""


def renewed_by(types: Iterable[str]) -> list[Fragment]:
    """The fragments that events of these types renew, each once."""
    found: dict[Fragment, None] = {}
    for type in types:
        found.update(dict.fromkeys(FRAGMENTS.get(type, ())))
    return list(found)


def all_fragments() -> list[Fragment]:
    return renewed_by(FRAGMENTS)
