"""Undo of what OpenCode's steps changed, from its own snapshots."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sessions.changes.operations.conversation import bring_back, preview, revert
from sessions.changes.snapshots.changes import SIZE_LIMIT
from sessions.core.db import in_db
from sessions.core.models import FileChange, Session
from sessions.core.store import sessions as session_store
from sessions.transfer.importing import Import
from sessions.transfer.plan import Choice, survey
from sessions.transfer.reading import find
from sessions.transfer.reading.layouts import objects_of
from tests.sessions.transfer import making

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = ("msg_b6b1", "msg_b6b2")
"""A prompt and its answer, after those of `making`."""


@pytest.fixture(autouse=True)
def job_of_its_own(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "ours"


class OpenCode:
    """A project, and OpenCode's data folder with the snapshots of it."""

    def __init__(self, base: Path, place: str = "snapshot/p1/a1b2") -> None:
        self.project, self.data, self._store = base / "project", base / "data", base / "data" / place
        self.project.mkdir()
        self._store.mkdir(parents=True)
        self._git("init", "--quiet")

    def steps(self, message: str, *changes: Mapping[str, str | None]) -> list[making.Wire]:
        """The parts of steps that each wrote some files, or removed them (None)."""
        return [part for at, change in enumerate(changes) for part in self._step(message, at, change)]

    def takes(self, *entries: making.Wire, **more: Any) -> None:
        making.files(self.data, making.session(self.project, **more), list(entries))

    def forgets(self) -> None:
        """What no index names, as after some days."""
        self._git("read-tree", "--empty")
        self._git("prune", "--expire=now")

    def _step(self, message: str, at: int, change: Mapping[str, str | None]) -> list[making.Wire]:
        before = self._tree()
        for name, content in change.items():
            file = self.project / name
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(exist_ok=True)
                file.write_text(content)
        id, files = f"{message[4:]}{at}", [str(self.project / name) for name in change]
        return [
            making.part(f"{id}1", message, "step-start", snapshot=before),
            making.part(f"{id}2", message, "step-finish", reason="stop", snapshot=self._tree()),
            making.part(f"{id}3", message, "patch", hash=before, files=files),
        ]

    def _tree(self) -> str:
        self._git("add", ".")
        return self._git("write-tree")

    def _git(self, *arguments: str) -> str:
        environ = {**os.environ, "GIT_DIR": str(self._store), "GIT_WORK_TREE": str(self.project)}
        ran = subprocess.run(
            ["git", *arguments], cwd=self.project, env=environ, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()


@pytest.fixture
def theirs(tmp_path: Path) -> OpenCode:
    return OpenCode(tmp_path)


def turn(
    theirs: OpenCode, *changes: Mapping[str, str | None], prompt: str = "", answer: str = ""
) -> list[Any]:
    asked, answered = prompt or making.PROMPT, answer or making.ANSWER
    return [
        {"info": making.prompt(asked), "parts": []},
        {"info": making.answer(theirs.project, answered), "parts": theirs.steps(answered, *changes)},
    ]


async def take(theirs: OpenCode, *sessions: str) -> Session:
    """It is only read."""
    before = making.snapshot(theirs.data)
    choice = Choice(sessions=frozenset(sessions))
    await Import(survey(find.sources(theirs.data)), choice, lambda *_: None).run()
    assert making.snapshot(theirs.data) == before
    row = await in_db(session_store.get, making.SESSION)
    assert row is not None
    return row


def content(theirs: OpenCode, name: str) -> str | None:
    file = theirs.project / name
    return file.read_text() if file.exists() else None


@pytest.mark.parametrize("place", ["snapshot/p1/a1b2", "snapshot/p1"])
async def test_an_imported_turn_is_taken_back_and_brought_back(tmp_path: Path, place: str) -> None:
    theirs = OpenCode(tmp_path, place)
    for name, words in (("kept.py", "one\ntwo\nthree\n"), ("gone.py", "gone\n")):
        (theirs.project / name).write_text(words)
    first = {"kept.py": "ONE\ntwo\nthree\n", "src/new.py": "x = 1\n"}
    entries = turn(theirs, first, {"gone.py": None, "src/new.py": "x = 2\n"})
    theirs.takes(*entries)
    (theirs.project / "kept.py").write_text("ONE\ntwo\nthree\nmine\n")
    row = await take(theirs)
    theirs.forgets()
    assert (await preview(row, making.PROMPT)).not_covered == ()
    await revert(row, making.PROMPT)
    found = [content(theirs, name) for name in ("kept.py", "gone.py", "src/new.py")]
    assert found == ["one\ntwo\nthree\nmine\n", "gone\n", None]
    assert (theirs.project / "gone.py").stat().st_mode & 0o111 == 0
    await bring_back(await take(theirs))
    found = [content(theirs, name) for name in ("kept.py", "gone.py", "src/new.py")]
    assert found == ["ONE\ntwo\nthree\nmine\n", None, "x = 2\n"]


async def test_what_its_snapshots_no_longer_have_is_named(theirs: OpenCode) -> None:
    """Also where a later step of the same file is known."""
    (theirs.project / "a.py").write_text("0\n")
    early = turn(theirs, {"a.py": "1\n"})
    theirs.forgets()
    (theirs.project / "a.py").write_text("mine\n")
    theirs.takes(*early, *turn(theirs, {"a.py": "2\n"}, prompt=SECOND[0], answer=SECOND[1]))
    row = await take(theirs)
    seen = await preview(row, making.PROMPT)
    assert [file.path for file in seen.files] == ["a.py"]
    assert [file.name for file in seen.not_covered] == ["a.py"]
    assert "is not known" in seen.not_covered[0].reason
    assert (await preview(row, SECOND[0])).not_covered == ()
    await revert(row, making.PROMPT)
    assert content(theirs, "a.py") == "mine\n"


async def test_it_is_put_into_the_ledger_once_and_not_where_it_is_undone(theirs: OpenCode) -> None:
    early = turn(theirs, {"a.py": "1\n"})
    entries = [*early, *turn(theirs, {"b.py": "2\n"}, prompt=SECOND[0], answer=SECOND[1])]

    def paths() -> list[str]:
        return list(FileChange.objects.order_by("id").values_list("path", flat=True))

    theirs.takes(*early)
    await take(theirs)
    assert await in_db(paths) == ["a.py"]
    later = {"created": making.BEGUN, "updated": making.BEGUN + 90_000}
    theirs.takes(*entries, time=later)
    await take(theirs)
    assert await in_db(paths) == ["a.py", "b.py"]
    undone = {"messageID": SECOND[0]}
    theirs.takes(*entries, time={**later, "updated": making.BEGUN + 99_000}, revert=undone)
    row = await take(theirs)
    assert await in_db(paths) == ["a.py"]
    assert row.revert == undone
    await take(theirs, making.SESSION)
    assert await in_db(paths) == ["a.py"]


async def test_a_file_that_was_moved_goes_back(theirs: OpenCode) -> None:
    """OpenCode's patch names its new place alone."""
    (theirs.project / "old.py").write_text("1\n")
    entries = turn(theirs, {"old.py": None, "new.py": "1\n"})
    entries[1]["parts"][-1]["files"] = [str(theirs.project / "new.py")]
    theirs.takes(*entries)
    await revert(await take(theirs), making.PROMPT)
    assert (content(theirs, "old.py"), content(theirs, "new.py")) == ("1\n", None)


async def test_what_is_too_large_is_named(theirs: OpenCode) -> None:
    theirs.takes(*turn(theirs, {"large.txt": "x" * (SIZE_LIMIT + 1), "a.py": "1\n"}))
    seen = await preview(await take(theirs), making.PROMPT)
    assert [file.path for file in seen.files] == ["a.py"]
    assert [file.name for file in seen.not_covered] == ["large.txt"]


async def test_what_is_outside_of_the_project_is_passed_over(theirs: OpenCode) -> None:
    entries = turn(theirs, {"a.py": "1\n"})
    entries[1]["info"]["path"]["root"] = str(theirs.project.parent)
    theirs.takes(*entries)
    await take(theirs)
    assert not await in_db(FileChange.objects.exists)


@pytest.mark.parametrize("project", ["", ".", "..", "../snapshot/p1", "p2"])
def test_a_project_is_a_name(theirs: OpenCode, project: str) -> None:
    assert objects_of(theirs.data, project) == ()
