"""The inbox: admit a prompt, list and change what waits, promote it atomically (seed 002).

Two deliveries: `steer` promotes at the next safe boundary of a running drain, `queue` one at a time when
the session would go idle. Whatever is done to a prompt that waits is one transaction with its event
`session.inbox`.
"""

from .admission import PromptRefused, admit
from .changes import attached, edit, is_written, mentioned, move, switch, unplaced, withdraw
from .promotion import promote
from .stopping import let_go, stop, stopped, take_back
from .waiting import Delivery, find, next_when_idle, sessions_waiting, steering, waiting

__all__ = [
    "Delivery",
    "PromptRefused",
    "admit",
    "attached",
    "edit",
    "find",
    "is_written",
    "let_go",
    "mentioned",
    "move",
    "next_when_idle",
    "promote",
    "sessions_waiting",
    "steering",
    "stop",
    "stopped",
    "switch",
    "take_back",
    "unplaced",
    "waiting",
    "withdraw",
]
