"""What waits for a person's yes, what they said, the rules it left and the audit."""

from sessions.core.store.permissions.audit import Match, matched

from .audit import Call, decisions, in_words, note
from .passes import let_through, may_pass, use_pass
from .replies import REPLIES, BadPattern, BadReplacement, ReplyRefused, StaleReply, proposed_paths
from .requests import (
    APP,
    allow_by_preset,
    allow_by_rules,
    app_of,
    ask,
    cancel,
    cancel_call,
    cancel_orphans,
    get,
    inbox,
    pending,
    pending_below,
    reply,
    withdraw,
)
from .saved import exported, restore, revoke, used
from .scopes import MOST_MINUTES, SCOPES, in_force, rules

__all__ = [
    "APP",
    "MOST_MINUTES",
    "REPLIES",
    "SCOPES",
    "BadPattern",
    "BadReplacement",
    "Call",
    "Match",
    "ReplyRefused",
    "StaleReply",
    "allow_by_preset",
    "allow_by_rules",
    "app_of",
    "ask",
    "cancel",
    "cancel_call",
    "cancel_orphans",
    "decisions",
    "exported",
    "get",
    "in_force",
    "in_words",
    "inbox",
    "let_through",
    "matched",
    "may_pass",
    "note",
    "pending",
    "pending_below",
    "proposed_paths",
    "reply",
    "restore",
    "revoke",
    "rules",
    "use_pass",
    "used",
    "withdraw",
]
