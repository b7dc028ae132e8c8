"""Between rows and wire shapes."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from sessions.core.models import Message, Part, PermissionRequest, Project, Session
from sessions.core.wire.base import Tokens
from sessions.core.wire.messages import MESSAGE, AssistantMessage, UserMessage
from sessions.core.wire.parts import PART, PartBase
from sessions.core.wire.parts import Part as WirePart
from sessions.core.wire.session import PermissionInfo, ToolRef

_NO_TOKENS = Tokens().wire()


def session_wire(row: Session, root: str = "") -> dict[str, Any]:
    """The wire object (`SessionInfo`) straight from the row, as for messages and parts: a list has a thousand
    of them. `root` is where the project is, for a caller that knows it."""
    time = {
        "created": row.time_created,
        "updated": row.time_updated,
        "compacting": row.time_compacting,
        "archived": row.time_archived,
    }
    model = {"id": row.model_id, "providerID": row.provider_id, "variant": row.variant or None}
    data = {
        "id": row.id,
        "slug": row.slug,
        "projectID": row.project_id,
        "directory": row.directory,
        "path": _path(row.directory, root or _root(row)),
        "parentID": row.parent_id,
        "title": row.title if row.titled else _default_title(row),
        "version": row.version,
        "time": _without_nulls(time),
        "summary": row.summary or None,
        "cost": row.cost,
        "tokens": row.tokens or _NO_TOKENS,
        "agent": row.agent or None,
        "model": _without_nulls(model) if row.model_id else None,
        "metadata": row.metadata,
        "permission": row.permission or None,
        "revert": row.revert,
        "staging": row.staging or None,
        "preset": row.preset or None,
        "folders": row.folders or None,
        "share": {"url": share_url(row)} if row.share_token else None,
    }
    return _without_nulls(data)


def _default_title(row: Session) -> str:
    """Clients know a session that has no title yet by the form of this one."""
    made = datetime.fromtimestamp(row.time_created / 1000, UTC).isoformat(timespec="milliseconds")
    return f"{'Child' if row.parent_id else 'New'} session - {made.replace('+00:00', 'Z')}"


def _path(directory: str, root: str) -> str | None:
    """A folder within the worktree, empty for the worktree itself; None outside of it."""
    if directory == root:
        return ""
    return directory[len(root) + 1 :] if directory.startswith(f"{root}/") else None


def _root(row: Session) -> str:
    return row.project.worktree if Session.project.is_cached(row) else worktree_of(row.project_id)


@lru_cache(maxsize=1024)
def worktree_of(project_id: str) -> str:
    """Where a project is; `cache_clear` when one has moved."""
    return Project.objects.values_list("worktree", flat=True).get(id=project_id)


@lru_cache(maxsize=1024)
def project_of(session_id: str) -> str:
    """The id of a session's project; every part that is written asks. `cache_clear` when one has moved, which
    is never during a turn of it."""
    return Session.objects.values_list("project_id", flat=True).get(id=session_id)


def share_url(row: Session) -> str:
    """The address of a shared session's page."""
    return f"{row.share_base}/s/{row.share_token}"


class Unreadable(ValueError):
    """A row that is not what its kind has to be; the text is for people and names it."""

    def __init__(self, kind: str, id: str, session_id: str) -> None:
        super().__init__(
            f"The {kind} {id} of session {session_id} cannot be read: it is damaged, or of a newer version. "
            "Everything else was kept."
        )


def message_info(row: Message) -> UserMessage | AssistantMessage:
    """Raises Unreadable."""
    try:
        return MESSAGE.validate_python(message_wire(row))
    except (ValidationError, TypeError) as error:
        raise Unreadable("message", row.id, row.session_id) from error


def message_data(message: UserMessage | AssistantMessage) -> dict[str, Any]:
    wire = message.wire()
    return {key: value for key, value in wire.items() if key not in ("id", "sessionID", "role")}


def part_info(row: Part) -> WirePart:
    """Raises Unreadable."""
    try:
        return PART.validate_python(part_wire(row))
    except (ValidationError, TypeError) as error:
        raise Unreadable("part", row.id, row.session_id) from error


def part_wire(row: Part) -> dict[str, Any]:
    """The wire object straight from the row, without validation (it was validated when written). One from
    elsewhere may lack the text that clients count on."""
    ids = {"id": row.id, "sessionID": row.session_id, "messageID": row.message_id}
    text = {"text": ""} if row.type in ("text", "reasoning") else {}
    return {**ids, "type": row.type, **text, **row.data}


def message_wire(row: Message) -> dict[str, Any]:
    return {"id": row.id, "sessionID": row.session_id, "role": row.role, **row.data}


def part_data(part: PartBase) -> dict[str, Any]:
    wire = part.wire()
    return {key: value for key, value in wire.items() if key not in ("id", "sessionID", "messageID", "type")}


def permission_info(row: PermissionRequest) -> PermissionInfo:
    tool = ToolRef(message_id=row.message_id, call_id=row.call_id) if row.call_id else None
    return PermissionInfo(
        id=row.id,
        session_id=row.session_id,
        permission=row.permission,
        patterns=row.patterns,
        metadata=row.metadata,
        always=row.always,
        tool=tool,
        hash=row.arguments_hash or None,
    )


def _without_nulls(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}
