"""What a real server says goes into the rows, from which pages and diffs read it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.servers.lsp import telling
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Diagnostic, Position, Range, Update
from agents.toolkit.children.loop import close_all
from sessions.changes.snapshots.objects import object_id
from sessions.core import bus
from sessions.core.bus import Subscription
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import problems, projects
from sessions.web.problems.current import current

pytestmark = pytest.mark.django_db(transaction=True)

RUFF = str(Path(sys.executable).parent / "ruff")
WRONG, RIGHT = b"import os\n\nprint(missing)\n", b"print(1)\n"


@pytest.fixture
async def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Project]:
    lsp = {"own": {"command": [RUFF, "server"], "extensions": [".py"]}}
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"lsp": lsp}))
    (tmp_path / "project").mkdir()
    telling.register()
    yield await in_db(projects.open_project, tmp_path / "project")
    await close_all()


async def told(mailbox: Subscription, path: Path) -> None:
    """Until something else is known of the file."""
    async with asyncio.timeout(30):
        while not any(event.properties.get("path") == str(path) for event in await mailbox.take()):
            pass


async def test_an_error_comes_into_the_rows_and_goes_again(project: Project) -> None:
    file = Path(project.worktree) / "a.py"
    async with bus.subscribe(project=project.id) as mailbox:
        file.write_bytes(WRONG)
        await service.touch(Path(project.worktree), file, wait=20)
        await told(mailbox, file)
        (found,) = await current(project, {"own"})
        assert (found.path, {one.code for one in found.problems}) == ("a.py", {"F401", "F821"})
        assert await current(project, {"another"}) == [], "a server that is no longer configured"

        file.write_bytes(RIGHT)
        assert await current(project, {"own"}) == [], "nothing was said of this content yet"
        await service.touch(Path(project.worktree), file, wait=20)
        await told(mailbox, file)
        assert await current(project, {"own"}) == []
    both = [("a.py", object_id(content)) for content in (WRONG, RIGHT)]
    known = await in_db(problems.of_contents, project.id, both)
    assert [len(known[place]["own"]) for place in both] == [2, 0]


async def test_a_content_that_is_not_said_is_what_is_on_the_disk(project: Project) -> None:
    file = Path(project.worktree) / "a.py"
    at = Range(Position(0, 0), Position(0, 1))
    wrong = (Diagnostic(at, 1, "Wrong.", server="own"),)
    file.write_bytes(WRONG)
    teller = telling.Teller()
    async with bus.subscribe(project=project.id) as mailbox:
        for path in (Path("/nowhere/a.py"), file.with_name("gone.py"), file):
            teller.hear(Update(path.parent, "own", path, wrong, None))
        await told(mailbox, file)
        place = ("a.py", object_id(WRONG))
        assert await in_db(problems.suspects, project.id, 10) == {place}

        teller.hear(Update(file.parent, "own", file, (), None))
        await told(mailbox, file)
    assert await in_db(problems.suspects, project.id, 10) == set(), "it took that back"
    assert place in await in_db(problems.of_contents, project.id, [place]), "for diffs it is known"
