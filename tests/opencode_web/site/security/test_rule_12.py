"""Rule 12 of docs/security.md for pages: what belongs to another session or project is not there (404)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from sessions.changes.operations import hunks
from sessions.changes.operations.staged import drop
from sessions.changes.review.verdicts import Scope
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import FileChange, Operation, ReviewComment, SavedRule, Session, StagedFile
from sessions.core.store import comments, permissions
from sessions.core.store import sessions as session_store
from tests.sessions.changes.diffs.test_images import PNG
from tests.sessions.changes.operations.stage import staged
from tests.sessions.changes.review.world import World
from tests.sessions.conftest import world
from tests.sessions.web.approvals.asking import ask_edit

__all__ = ["world"]

Case = tuple[str, str, dict[str, str]]
"""Method, path, form."""

OF_A_SESSION: tuple[Case, ...] = (
    ("GET", "comments/{comment}", {}),
    ("POST", "comments/{comment}", {"text": "changed"}),
    ("POST", "comments/{comment}/remove", {}),
    ("POST", "staging/back/{dropped}", {"noted": "1"}),
    ("GET", "undo/{message}", {}),
    ("POST", "undo/{message}", {"what": "both"}),
    ("GET", "fork?before={message}", {}),
    ("GET", "fork?after={message}", {}),
    ("POST", "fork", {"before": "{message}"}),
    ("POST", "fork", {"before": "{message}", "with": "files"}),
    ("GET", "fork/files?before={message}", {}),
    ("GET", "review/file?path=mine.txt", {}),
    ("GET", "review/image/{oid}?path=image.png", {}),
    ("GET", "timeline/review/file?change={change}&path=mine.txt", {}),
    ("GET", "timeline/review/image/{oid}?change={change}&path=image.png", {}),
)
OF_A_PROJECT: tuple[Case, ...] = (
    ("POST", "s/{there}/review/redo", {"operation": "{undone}"}),
    ("GET", "log/operations/{undone}/invert", {}),
    ("POST", "log/operations/{undone}/invert", {}),
    ("POST", "log/operations/{dropped}/invert", {}),
    ("GET", "log/calls/{session}/{part}/invert", {}),
    ("POST", "log/calls/{session}/{part}/invert", {}),
    ("POST", "rules/{rule}/revoke", {}),
    ("POST", "rules/{revoked}/restore", {}),
    ("POST", "rules/decisions/{denied}/pass", {}),
)
WHOLE: tuple[Case, ...] = (
    ("GET", "review?scope=session", {}),
    ("GET", "review/files?path=mine.txt", {}),
    ("GET", "review/undo", {}),
    ("POST", "review/undo", {"path": "mine.txt"}),
    ("POST", "review/redo", {"operation": "{undone}"}),
    ("POST", "review/keep", {"on": "1", "path": "mine.txt"}),
    ("POST", "review/view", {"on": "1", "path": "mine.txt"}),
    ("POST", "review/resolve", {"path": "mine.txt"}),
    ("GET", "staging/files", {}),
    ("POST", "staging/keep", {"file": "waits.txt"}),
    ("POST", "staging/drop", {"file": "waits.txt"}),
    ("POST", "staging/resolve", {"file": "waits.txt"}),
    ("POST", "staging/mode", {"on": "1"}),
    ("GET", "comments/form?start=1&end=1", {}),
    ("POST", "comments", {"path": "mine.txt", "start": "1", "end": "1", "text": "x"}),
    ("POST", "comments/send", {}),
    ("GET", "timeline", {}),
    ("GET", "timeline/moments", {}),
    ("GET", "timeline/at?change={change}", {}),
    ("GET", "timeline/point?change={change}", {}),
    ("GET", "fork", {}),
    ("GET", "export", {}),
    ("GET", "export.json", {}),
    ("GET", "export.html", {}),
    ("GET", "share", {}),
    ("POST", "share/begin", {}),
    ("POST", "share/end", {}),
    ("POST", "redo", {}),
    ("POST", "delete", {}),
)
"""With the session under another project."""
REQUEST: tuple[Case, ...] = (
    ("GET", "/permissions/{request}/card", {}),
    ("GET", "/permissions/{request}/file?file=0", {}),
    ("GET", "/permissions/{request}/matches?pattern=*", {}),
    ("POST", "/permissions/{request}/edit", {"file": "0"}),
    ("POST", "/permissions/{request}/preview", {"file": "0"}),
    ("POST", "/permissions/{request}/reply", {"answer": "once", "hash": "seen"}),
)
"""Of a session that was deleted."""
NOWHERE: tuple[Case, ...] = (
    ("GET", "/settings/store/{there}", {}),
    ("GET", "/settings?project={there}", {}),
    ("GET", "/worktrees/{project}/remove", {}),
    ("POST", "/worktrees/{project}/remove", {"seen": ""}),
    ("GET", "/p/{there}/log", {}),
    ("GET", "/p/{there}/rules", {}),
    ("GET", "/p/{there}/rules/decisions", {}),
    ("GET", "/p/{there}/rules/export.json", {}),
)
"""Of a project that is not known, or is no worktree of ours."""


def cases() -> list[Any]:
    made = [(f"other session {path}", method, f"{{there_base}}/{path}", form, "session")
            for method, path, form in OF_A_SESSION]  # fmt: skip
    made += [(f"other project {path}", method, f"{{far_base}}/{path}", form, "project")
             for method, path, form in OF_A_SESSION]  # fmt: skip
    made += [(f"other project {path}", method, f"/p/{{far}}/{path}", form, "project")
             for method, path, form in OF_A_PROJECT]  # fmt: skip
    made += [(f"under another project {path}", method, f"/p/{{far}}/s/{{session}}/{path}", form, "under")
             for method, path, form in WHOLE]  # fmt: skip
    made += [(f"deleted {path}", method, path, form, "deleted") for method, path, form in REQUEST]
    made += [(f"unknown {path}", method, path, form, "unknown") for method, path, form in NOWHERE]
    return [pytest.param(*rest, id=f"{rest[0]} {name}") for name, *rest in made]


async def things(world: World, own: Session) -> dict[str, str]:
    """Everything that a session can own, by the names in the paths above."""
    part = ascending("prt")
    prompt = await world.turn(own)
    await world.edit(own, prompt, "mine.txt", "mine\n", part_id=part)
    await world.edit(own, prompt, "image.png", PNG)
    await world.edit(own, prompt, "back.txt", "x\n")
    undone = await hunks.undo(own, Scope(), {"back.txt": None})
    await staged(world, own, "dropped.txt", "x\n")
    dropped = await drop(own, None)
    await staged(world, own, "waits.txt", "x\n")
    lines = {"path": "mine.txt", "side": "new", "start": 1, "end": 1, "code": "mine\n", "scope": {}}
    comment = await in_db(comments.add, own, **lines, text="secret", actor="")
    request = await ask_edit(own, "", "x\n")
    for pattern in ("a.txt", "a*"):
        row = await ask_edit(own, "", "x\n")
        await in_db(permissions.reply, row.id, "always", patterns=[pattern])
    rule, revoked = await in_db(permissions.rules, own.project_id)
    await in_db(permissions.revoke, revoked.id, "")
    refused = await ask_edit(own, "", "x\n")
    await in_db(permissions.reply, refused.id, "reject")
    (denied, *_) = await in_db(permissions.decisions, own.project_id)
    change = await in_db(lambda: FileChange.objects.order_by("-id").values_list("id", flat=True)[0])
    return {
        "project": own.project_id, "session": own.id, "message": prompt, "part": part, "change": str(change),
        "undone": undone.id, "dropped": dropped.id, "comment": comment.id, "request": request.id,
        "denied": str(denied.id), "rule": str(rule.id), "revoked": str(revoked.id), "oid": object_id(PNG),
    }  # fmt: skip


def rows() -> list[Any]:
    """What the attacks are after; the order of columns is that of the models."""
    models = (Operation, ReviewComment, StagedFile, FileChange)
    rules = list(SavedRule.every.order_by("id").values())
    sessions = [
        {name: value for name, value in row.items() if name != "lease_epoch"}  # counts each look at a session
        for row in Session.objects.order_by("pk").values()
    ]
    return [rules, *(list(model.objects.order_by("pk").values()) for model in models), sessions]


@pytest.mark.parametrize(("method", "path", "form", "kind"), cases())
async def test_rule_12_what_belongs_to_others_is_not_there(
    world: World,
    async_client: AsyncClient,
    tmp_path: Path,
    method: str,
    path: str,
    form: dict[str, str],
    kind: str,
    settings: Settings,
) -> None:
    settings.WORKTREE_DIR = tmp_path / "worktrees"
    own, there = await world.session(), await world.session()
    names = await things(world, own)
    (tmp_path / "second").mkdir()
    far = await World.open(tmp_path / "second")
    away = await far.session()
    home = {"far": own.project_id, "there_base": f"/p/{own.project_id}/s/{own.id}", "there": own.id}
    home |= {"far_base": home["there_base"]}
    foreign = {
        "far": far.project.id, "far_base": f"/p/{far.project.id}/s/{away.id}",
        "there_base": f"/p/{own.project_id}/s/{there.id}",
        "there": away.id if kind == "project" else "0" * 40,
    }  # fmt: skip
    if kind == "deleted":
        await in_db(session_store.delete, own.id)
    before, files = await in_db(rows), world.state()

    async def answer(at: dict[str, str]) -> int:
        url = path.format(**names, **at)
        sent = {key: value.format(**names) for key, value in form.items()}
        response = await (async_client.get(url) if method == "GET" else async_client.post(url, sent))
        return int(response.status_code)

    assert await answer(foreign) == 404
    assert (await in_db(rows), world.state()) == (before, files)
    if kind == "deleted":
        await in_db(session_store.restore, own.id)
    if kind != "unknown":
        assert await answer(home) in (200, 204, 422), "its owner has it: the path is no other than theirs"
