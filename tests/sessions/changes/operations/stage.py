"""Staging as an agent's calls do it, without an agent: in the session's project, or in another root."""

from __future__ import annotations

from sessions.changes.diffs.hunks import pieces
from sessions.changes.diffs.lines import split_lines
from sessions.changes.undo.files import read_file
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Session, StagedFile
from sessions.core.store import staging
from tests.sessions.changes.review.world import World


async def staged(world: World, session: Session, path: str, content: str | bytes | None) -> None:
    """The agent writes a file in review mode (None: removes it), as it sees it."""
    data = content.encode() if isinstance(content, str) else content
    rows = {row.path: row for row in await in_root(world, session)}
    now, put = read_file(world.root, path), world.tracker.objects.put
    base = put(now.content) if now else ""
    mode = now.mode if now else 0o100644
    edit = staging.Edit(
        project_id=world.project.id,
        path=path,
        expected=rows[path].content if path in rows else base,
        content="" if data is None else put(data),
        base=base,
        mode_base=now.mode if now else None,
        mode=None if data is None else mode,
    )
    call = staging.CallRef(ascending("msg"), ascending("prt"), "call")
    await in_db(staging.stage, session, [edit], call)


async def waiting(world: World, session: Session) -> dict[str, bytes | None]:
    """What the agent sees in place of the disk, by path."""
    get = world.tracker.objects.get
    return {row.path: get(row.content) if row.content else None for row in await in_root(world, session)}


async def in_root(world: World, session: Session) -> list[StagedFile]:
    return [row for row in await in_db(staging.files, session) if row.project_id == world.project.id]


async def keys(world: World, session: Session, path: str) -> list[str]:
    """The hunks that wait in a file, in order."""
    row = next((row for row in await in_root(world, session) if row.path == path), None)
    if row is None:
        return []
    old, new = (world.tracker.objects.get(oid) if oid else b"" for oid in (row.base, row.content))
    return [piece.key for piece in pieces(split_lines(old), split_lines(new))]
