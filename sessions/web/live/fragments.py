"""Which event renews which fragment: one row a pair. A new panel adds its function and its rows here.

A fragment is a synchronous function of a session's row, giving HTML with `hx-swap-oob` on its root; it
runs on the ORM's thread. An event that comes many times at once renews its fragments once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sessions.core.models import Session
from sessions.core.store import line
from sessions.rendering.children import family
from sessions.rendering.goal import goal_bar
from sessions.rendering.meter import meter
from sessions.rendering.notices import news
from sessions.rendering.plan import plan_badge
from sessions.rendering.questions import question_list
from sessions.rendering.queue import queue
from sessions.web.approvals.cards import permission_list
from sessions.web.comments import comment_tray
from sessions.web.live.states import activity, head, resume, reverted, sandbox_ports, todo_panel, working
from sessions.web.pins import pin_tray
from sessions.web.plan import plan_panel
from sessions.web.problems.panel import problems_news
from sessions.web.review.display.undoing import files_undone, review_news
from sessions.web.sharing import share_button
from sessions.web.staging import staged_bar, staging_switch
from sessions.web.timeline import fork_links, timeline_news
from sessions.web.upkeep import store_notice


class Fragment(Protocol):
    """The page shows it as `show_<name>` with `oob=False`."""

    __name__: str

    def __call__(self, session: Session, *, oob: bool = True) -> str: ...


FRAGMENTS: dict[str, tuple[Fragment, ...]] = {
    "session.created": (family, timeline_news),
    "session.deleted": (family, timeline_news),
    "session.forked": (fork_links, timeline_news),
    "session.updated": (
        head,
        meter,
        reverted,
        resume,
        plan_badge,
        plan_panel,
        staging_switch,
        staged_bar,
        share_button,
    ),
    "session.status": (
        activity,
        working,
        resume,
        todo_panel,
        plan_badge,
        plan_panel,
        timeline_news,
        files_undone,
        store_notice,
        goal_bar,
    ),
    "session.goal": (goal_bar,),
    "session.read": (activity,),
    "session.pins": (pin_tray, meter),
    "session.inbox": (queue, comment_tray, plan_panel),
    line.MOVED: (queue,),
    "todo.updated": (todo_panel,),
    "permission.asked": (permission_list, timeline_news),
    "permission.replied": (permission_list, timeline_news),
    "question.asked": (question_list, plan_panel, timeline_news),
    "question.replied": (question_list, plan_panel, timeline_news),
    "question.rejected": (question_list, plan_panel, timeline_news),
    "message.removed": (pin_tray,),
    "message.updated": (working, meter, todo_panel, timeline_news),
    "file.edited": (review_news, timeline_news, problems_news),
    "session.diff": (review_news, news),
    "review.changed": (review_news, plan_panel, staged_bar, comment_tray, timeline_news, files_undone),
    "store.full": (store_notice,),
    "sandbox.ports": (sandbox_ports,),
    "plugin.failed": (news,),
}

ELSEWHERE: dict[str, tuple[Fragment, ...]] = {
    "file.edited": (review_news, problems_news),
    "lsp.client.diagnostics": (problems_news,),
    "review.changed": (review_news,),
    "store.full": (store_notice,),
}
"""The same for events of other sessions of the project, or of none: they may have changed the files that are
reviewed."""

SIDEBAR_EVENTS = {
    "session.created",
    "session.updated",
    "session.status",
    "session.read",
    "permission.asked",
    "permission.replied",
    "question.asked",
    "question.replied",
    "question.rejected",
}
"""Events of any session of the project that change its row in the sidebar."""


def renewed_by(types: Iterable[str], elsewhere: Iterable[str] = ()) -> list[Fragment]:
    """The fragments that events of these types renew, each once."""
    found: dict[Fragment, None] = {}
    for type in types:
        found.update(dict.fromkeys(FRAGMENTS.get(type, ())))
    for type in elsewhere:
        found.update(dict.fromkeys(ELSEWHERE.get(type, ())))
    return list(found)


def all_fragments() -> list[Fragment]:
    return renewed_by(FRAGMENTS)


def shown_by_rows() -> list[Fragment]:
    """Those that show something themselves; the others have the page ask for it."""
    asking = (news, problems_news, review_news, timeline_news)
    return [fragment for fragment in all_fragments() if fragment not in asking]
