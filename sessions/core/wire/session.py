"""Sessions, their status, todos and permission requests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import FileDiff, SessionID, Tokens, Wire


class SessionModel(Wire):
    id: str
    provider_id: str = Field(alias="providerID")
    variant: str | None = None


class SessionRule(Wire):
    permission: str
    pattern: str
    action: Literal["allow", "deny", "ask"]


class SessionTime(Wire):
    """Milliseconds since the epoch; `compacting` is there while a compaction runs."""

    created: int
    updated: int
    compacting: int | None = None
    archived: int | None = None


class SessionSummary(Wire):
    additions: int
    deletions: int
    files: int
    diffs: list[FileDiff] | None = None


Preset = Literal["ask", "edits", "alone", "reviewed", "everything"]
"""How much is asked in a session. Ours."""


class AddedFolderInfo(Wire):
    """A folder beside the project that a session may read, and write where it says so. Ours."""

    name: str
    path: str
    write: bool | None = None


class SessionRevert(Wire):
    message_id: str = Field(alias="messageID")
    part_id: str | None = Field(default=None, alias="partID")
    snapshot: str | None = None
    diff: str | None = None


class Share(Wire):
    url: str


class SessionInfo(Wire):
    """A session as every client sees it; made of its row by `store.rows.session_wire`.

    `path` is its folder within the project. `staging` is ours: review mode; so is `preset`: how much is
    asked, where that is not as the configuration says; so are `folders`, those that were added.
    """

    id: str
    slug: str
    project_id: str = Field(alias="projectID")
    directory: str
    path: str | None = None
    parent_id: str | None = Field(default=None, alias="parentID")
    summary: SessionSummary | None = None
    cost: float = 0.0
    tokens: Tokens = Field(default_factory=Tokens)
    share: Share | None = None
    title: str
    agent: str | None = None
    model: SessionModel | None = None
    version: str
    metadata: dict[str, Any] | None = None
    time: SessionTime
    permission: list[SessionRule] | None = None
    revert: SessionRevert | None = None
    staging: bool | None = None
    preset: Preset | None = None
    folders: list[AddedFolderInfo] | None = None


class ProjectSummary(Wire):
    id: str
    worktree: str
    name: str | None = None


class GlobalSession(SessionInfo):
    """A session in a list of all projects."""

    project: ProjectSummary | None


class Status(Wire):
    """`idle`, `busy`, or `retry` with attempt, message and the time (ms) of the next try."""

    type: Literal["idle", "busy", "retry"] = "idle"
    attempt: int | None = None
    message: str | None = None
    next: int | None = None


class TodoInfo(Wire):
    content: str
    status: str = "pending"
    priority: str = "medium"

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "cancelled")


class ToolRef(Wire):
    message_id: str = Field(alias="messageID")
    call_id: str = Field(alias="callID")


class PermissionInfo(Wire):
    id: str
    session_id: SessionID
    permission: str
    patterns: list[str]
    metadata: dict[str, Any] = Field(default_factory=dict)
    always: list[str] = Field(default_factory=list)
    tool: ToolRef | None = None
    hash: str | None = None
    """Of what is asked, ours: an answer that names it is taken for exactly this."""
