"""The table: every operation of the API that has a tool of its own, by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opencode_web.bridge.operations.file import FILE_OPERATIONS
from opencode_web.bridge.operations.message import MESSAGE_OPERATIONS
from opencode_web.bridge.operations.misc import MISC_OPERATIONS, TUI_OPERATIONS
from opencode_web.bridge.operations.project import (
    PROJECT_OPERATIONS,
    REQUEST_OPERATIONS,
    TERMINAL_OPERATIONS,
    WORKTREE_OPERATIONS,
)
from opencode_web.bridge.operations.provider import CONFIG_OPERATIONS, GLOBAL_OPERATIONS, PROVIDER_OPERATIONS
from opencode_web.bridge.operations.session import SESSION_OPERATIONS
from opencode_web.bridge.tool import Operation

TABLE: Mapping[str, Sequence[Operation]] = {
    "session": SESSION_OPERATIONS,
    "message": MESSAGE_OPERATIONS,
    "request": REQUEST_OPERATIONS,
    "file": FILE_OPERATIONS,
    "tui": TUI_OPERATIONS,
    "config": CONFIG_OPERATIONS,
    "provider": PROVIDER_OPERATIONS,
    "misc": MISC_OPERATIONS,
    "global": GLOBAL_OPERATIONS,
    "project": PROJECT_OPERATIONS,
    "terminal": TERMINAL_OPERATIONS,
    "worktree": WORKTREE_OPERATIONS,
}
