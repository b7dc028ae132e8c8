"""What a person does to files by hand: it is written, it is in the log, and the log takes it back."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from sessions.changes.history.log import Asked, Entry, operation_context, operation_entry, page
from sessions.changes.operations import files
from sessions.changes.operations.engine import recover
from sessions.changes.operations.hunks import redo
from sessions.changes.operations.lock import Refused
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import FileChange, Operation, Session
from sessions.core.store import operations
from tests.sessions.changes.review.world import World


async def session_of(world: World) -> Session:
    session = await world.session("a session")
    return await in_db(lambda: Session.objects.select_related("project").get(id=session.id))


def tree(world: World) -> dict[str, str | None]:
    """Files with their contents, and folders."""
    found: dict[str, str | None] = {}
    for path in sorted(world.root.rglob("*")):
        name = str(path.relative_to(world.root))
        if not name.startswith(".git"):
            found[name] = path.read_text() if path.is_file() else None
    return found


async def logged(session: Session) -> Entry:
    """The one entry of the log that was made by hand."""
    [operation] = (await in_db(page, session.project, Asked(kind="hand"))).entries
    assert isinstance(operation, Operation)
    return operation_entry(operation, await in_db(operation_context, operation, "me"))


async def test_a_file_is_saved_as_it_was_seen_and_the_log_takes_that_back(world: World) -> None:
    session = await session_of(world)
    path = world.root / "kept.txt"
    path.chmod(0o755)
    seen = object_id(path.read_bytes())
    done = await files.save(session, "kept.txt", b"one\n2\nthree\n", seen, actor="me")
    assert done is not None
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("one\n2\nthree\n", 0o755)
    assert await files.save(session, "kept.txt", b"one\n2\nthree\n", object_id(b"one\n2\nthree\n")) is None
    entry = await logged(session)
    assert (entry.title, entry.who, entry.button, entry.additions) == ("Edited by hand", "You", "Undo", 1)
    assert not list((await listing(session, Scope())).files)
    await redo(session, done.id)
    assert path.read_text() == "one\ntwo\nthree\n"
    assert (await logged(session)).state.words == "Undone"


async def test_what_changed_on_the_disk_is_not_overwritten(world: World) -> None:
    session = await session_of(world)
    with pytest.raises(files.Changed):
        await files.save(session, "kept.txt", b"mine", object_id(b"what it was"))
    with pytest.raises(files.Changed):
        await files.save(session, "kept.txt", b"mine", "")
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"
    assert not await in_db(Operation.objects.exists)


async def test_an_edit_beside_the_agents_is_none_of_its_changes(world: World) -> None:
    session = await session_of(world)
    await world.turn(session, {"kept.txt": "one\ntwo\nthree\nagent\n"})
    content = b"me\none\ntwo\nthree\nagent\n"
    await files.save(session, "kept.txt", content, object_id((world.root / "kept.txt").read_bytes()))
    [file] = (await listing(session, Scope())).files
    [step] = file.steps
    assert step.after == object_id(b"one\ntwo\nthree\nagent\n")


async def test_a_folder_moves_with_all_that_is_in_it_and_back(world: World) -> None:
    session = await session_of(world)
    world.write("a/b/one", "1")
    world.write("a/two", "2")
    (world.root / "a/none").mkdir()
    os.symlink("two", world.root / "a/link")
    before = tree(world)
    done = await files.move(session, "a", "c/d")
    assert done is not None
    assert tree(world) == {
        "c": None,
        "c/d": None,
        "c/d/b": None,
        "c/d/b/one": "1",
        "c/d/link": "2",
        "c/d/none": None,
        "c/d/two": "2",
        "kept.txt": "one\ntwo\nthree\n",
    }
    assert os.readlink(world.root / "c/d/link") == "two"
    await redo(session, done.id)
    assert {**before, "c": None, "c/d": None, "c/d/none": None} == {**tree(world), "a/none": None}


async def test_what_is_copied_removed_and_made_comes_and_goes(world: World) -> None:
    session = await session_of(world)
    world.write("a/one", "1")
    await files.copy(session, "a", "b")
    await files.make(session, {"b/new": b"new", "deep/er": b"\0"})
    await files.new_folder(session, "empty/er")
    assert (world.root / "empty/er").is_dir()
    assert await files.remove(session, "empty") is None
    assert not (world.root / "empty").exists()
    removed = await files.remove(session, "b")
    assert removed is not None
    assert sorted(tree(world)) == ["a", "a/one", "deep", "deep/er", "kept.txt"]
    await redo(session, removed.id)
    assert (world.root / "b/new").read_text() == "new"
    assert [row.scope["act"] for row in await in_db(lambda: list(Operation.objects.filter(kind="edit")))] == [
        "copy",
        "make",
        "remove",
    ]


Refusal = Callable[[Session], Coroutine[Any, Any, object]]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda session: files.move(session, "kept.txt", "a/one"), "There is a a/one already"),
        (lambda session: files.move(session, "a", "a/b"), "cannot go into itself"),
        (lambda session: files.move(session, "gone", "b"), "no gone any more"),
        (lambda session: files.move(session, "kept.txt", "../out"), "leads out of the project"),
        (lambda session: files.make(session, {"a": b""}), "There is a a already"),
        (lambda session: files.make(session, {".git/hooks/x": b""}), "own folder"),
        (lambda session: files.make(session, {"kept.txt/x": b""}), "kept.txt"),
        (lambda session: files.new_folder(session, "a"), "There is a a already"),
        (lambda session: files.remove(session, "nested"), "git repository in it"),
        (lambda session: files.remove(session, ""), "leads out of the project"),
        (lambda session: files.remove(session, "a/../../other"), "leads out of the project"),
        (lambda session: files.remove(session, "away/x"), "leads out of the project"),
        (lambda session: files.save(session, "/etc/passwd", b"", ""), "leads out of the project"),
    ],
)
async def test_what_cannot_be_done_is_refused_in_words(world: World, act: Refusal, words: str) -> None:
    session = await session_of(world)
    world.write("a/one", "1")
    world.write("nested/.git/HEAD", "ref: refs/heads/main\n")
    (world.root.parent / "other/x").mkdir(parents=True)
    (world.root.parent / "other/x/y").touch()
    os.symlink(world.root.parent / "other", world.root / "away")
    before = tree(world)
    with pytest.raises(Refused) as refused:
        await act(session)
    assert words in str(refused.value)
    assert tree(world) == before


async def test_more_than_can_be_kept_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await session_of(world)
    monkeypatch.setattr(files, "MOST_FILES", 3)
    for number in range(4):
        world.write(f"many/{number}", "x")
    with pytest.raises(Refused, match="3 files"):
        await files.remove(session, "many")
    assert (world.root / "many/3").exists()


async def test_what_a_crash_cut_short_is_finished(world: World) -> None:
    """The first of two files had gone to its new place when the process died."""
    session = await session_of(world)
    world.write("a/one", "1")
    world.write("a/two", "2")
    put = world.tracker.objects.put
    intents = [
        FileChange(
            session_id=session.id, path=path, before=put(old) if old else "", after=put(new) if new else ""
        )
        for path, old, new in (
            ("b/one", b"", b"1"),
            ("a/one", b"1", b""),
            ("b/two", b"", b"2"),
            ("a/two", b"2", b""),
        )
    ]
    for change in intents:
        change.mode_before = 0o100644 if change.before else None
        change.mode_after = 0o100644 if change.after else None
    outcome = [
        {"path": change.path, "outcome": "restore", "reason": "", "additions": 0, "deletions": 0}
        for change in intents
    ]
    noted: dict[str, Any] = {"outcome": outcome, "scope": {"kind": "hand", "act": "move"}}
    await in_db(operations.begin, session, operations.Kind.EDIT, intents, **noted)
    world.write("b/one", "1")
    (world.root / "b/one").chmod(0o644)
    for path in ("a/one", "a/two"):
        (world.root / path).chmod(0o644)
    await recover()
    assert sorted(name for name, content in tree(world).items() if content) == ["b/one", "b/two", "kept.txt"]
