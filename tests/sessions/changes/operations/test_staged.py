"""Keep, drop and take back, from rows to files, with all that may have happened meanwhile."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessions.changes.operations import lock
from sessions.changes.operations.engine import recover
from sessions.changes.operations.lock import Refused, project_lock
from sessions.changes.operations.staged import drop, keep, left_words, take_back
from sessions.changes.review.staged import seals
from sessions.changes.review.staged import waiting as waiting_rows
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import FileChange, Operation, StagedFile
from sessions.core.store import operations, staging
from tests.sessions.changes.operations.stage import keys, staged, waiting
from tests.sessions.changes.review.world import World

FAR = "".join(f"{number}\n" for number in range(40))
EDITED = FAR.replace("5\n", "five\n", 1).replace("35\n", "thirty-five\n")


async def outcomes(operation: Operation) -> dict[str, str]:
    return {entry["path"]: entry["outcome"] for entry in operation.outcome}


@pytest.mark.parametrize(
    ("before", "edit", "meanwhile", "outcome"),
    [
        ("old\n", "new\n", None, "missing"),
        ("old\n", "new\n", "mine\n", "conflict"),
        ("old\n", "new\n", "new\n", "already"),
        ("old\n", None, "mine\n", "conflict"),
        ("old\n", None, None, "already"),
        (None, "new\n", "mine\n", "conflict"),
        (None, "new\n", "new\n", "already"),
        (b"\0old", b"\0new", b"\0mine", "conflict"),
    ],
)
async def test_a_file_changed_meanwhile_is_never_overwritten(
    world: World,
    before: str | bytes | None,
    edit: str | bytes | None,
    meanwhile: str | bytes | None,
    outcome: str,
) -> None:
    session, file = await world.session(), world.root / "file"

    def put(content: str | bytes | None) -> None:
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    put(before)
    await staged(world, session, "file", edit)
    put(meanwhile)
    left = world.state()
    if outcome == "already":
        assert await outcomes(await keep(session, None)) == {"file": "already"}
        assert await waiting(world, session) == {}
        assert not await in_db(FileChange.objects.exists)
    else:
        with pytest.raises(Refused, match="file: "):
            await keep(session, None)
        assert list(await waiting(world, session)) == ["file"]
        assert not await in_db(Operation.objects.exists)
    assert world.state() == left


async def test_hunks_are_kept_and_dropped_one_by_one(world: World) -> None:
    world.write("file", FAR, 0o755)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    first, second = await keys(world, session, "file")
    operation = await keep(session, {"file": [second, "unknown"]}, words="Good.", actor="me")
    assert (operation.kind, operation.words, operation.actor) == ("keep", "Good.", "me")
    assert [(hunk["line"], hunk["removed"], hunk["added"]) for hunk in operation.hunks] == [
        (36, "35\n", "thirty-five\n")
    ]
    assert (world.root / "file").read_text() == FAR.replace("35\n", "thirty-five\n")
    assert stat.S_IMODE((world.root / "file").stat().st_mode) == 0o755
    change = await in_db(FileChange.objects.get)
    assert (change.origin, change.operation_id, change.call_id) == ("kept", None, "call")
    assert await keys(world, session, "file") == [first]
    with pytest.raises(Refused, match="Nothing of this waits"):
        await keep(session, {"file": [second]})
    dropped = await drop(session, {"file": [first]}, words="No.")
    assert dropped.hunks[0]["added"] == "five\n"
    assert await waiting(world, session) == {}


async def test_a_hunk_that_was_not_seen_is_not_kept(world: World) -> None:
    """A new file is one hunk: the click on it does not keep what the agent has added since."""
    session = await world.session()
    await staged(world, session, "new.txt", "seen\n")
    (seen,) = await keys(world, session, "new.txt")
    await staged(world, session, "new.txt", "seen\nunseen\n")
    with pytest.raises(Refused, match="Nothing of this waits"):
        await keep(session, {"new.txt": [seen]})
    await keep(session, {"new.txt": await keys(world, session, "new.txt")})
    assert (world.root / "new.txt").read_text() == "seen\nunseen\n"


@pytest.mark.parametrize("verdict", [keep, drop])
@pytest.mark.parametrize("everything", [True, False])
async def test_a_file_that_has_moved_since_it_was_drawn_waits_and_the_rest_is_done(
    world: World, verdict: Callable[..., Awaitable[Operation]], everything: bool
) -> None:
    session = await world.session()
    for name in ("a.py", "b.py", "gone.py"):
        await staged(world, session, name, "seen\n")
    drawn = seals(*await in_db(waiting_rows, session)).split()
    await staged(world, session, "b.py", "seen\nunseen\n")
    await staged(world, session, "later.py", "unseen\n")
    await staged(world, session, "gone.py", None)
    picks = None if everything else dict.fromkeys(("a.py", "b.py", "later.py"))
    operation = await verdict(session, picks, drawn=drawn)
    assert await outcomes(operation) == {"a.py": "restore", "b.py": "unsafe", "later.py": "unsafe"}
    assert "b.py: it has been edited since you looked." in left_words(operation.outcome)
    assert await waiting(world, session) == {"b.py": b"seen\nunseen\n", "later.py": b"unseen\n"}
    assert {path for path in world.state() if path.endswith(".py")} == (
        {"a.py"} if verdict is keep else set()
    )
    with pytest.raises(Refused, match="edited since you looked"):
        await verdict(session, {"b.py": None}, drawn=drawn)
    await verdict(session, {"b.py": None}, drawn=seals(*await in_db(waiting_rows, session)).split())
    assert list(await waiting(world, session)) == ["later.py"]


async def test_a_hunk_kept_elsewhere_and_taken_back_is_not_kept_unseen(world: World) -> None:
    """The same staged content, but more of it waits again than was shown."""
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    kept_elsewhere = await keep(session, {"file": (await keys(world, session, "file"))[:1]})
    drawn = seals(*await in_db(waiting_rows, session)).split()
    await take_back(session, kept_elsewhere.id)
    with pytest.raises(Refused, match="edited since you looked"):
        await keep(session, None, drawn=drawn)
    assert (world.root / "file").read_text() == FAR


async def test_what_the_agent_edits_after_a_keep_waits(world: World) -> None:
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    await keep(session, {"file": [(await keys(world, session, "file"))[0]]})
    again = EDITED.replace("20\n", "twenty\n")
    await staged(world, session, "file", again)
    await drop(session, {"file": [(await keys(world, session, "file"))[1]]})
    assert await waiting(world, session) == {"file": again.replace("thirty-five\n", "35\n").encode()}
    await keep(session, None)
    assert (world.root / "file").read_text() == again.replace("thirty-five\n", "35\n")


async def test_an_edit_that_is_taken_back_by_the_agent_no_longer_waits(world: World) -> None:
    session = await world.session()
    await staged(world, session, "kept.txt", "x\n")
    await staged(world, session, "kept.txt", "one\ntwo\nthree\n")
    await staged(world, session, "new.txt", "x\n")
    await staged(world, session, "new.txt", None)
    assert await waiting(world, session) == {}


async def test_a_move_is_kept_by_its_new_name(world: World) -> None:
    session = await world.session()
    await staged(world, session, "kept.txt", None)
    await staged(world, session, "sub/moved.txt", "one\ntwo\nthree\n")
    operation = await keep(session, {"sub/moved.txt": None})
    assert await outcomes(operation) == {"kept.txt": "restore", "sub/moved.txt": "restore"}
    assert sorted(world.state()) == ["sub", "sub/moved.txt"]
    await take_back(session, operation.id)
    assert sorted(world.state()) == ["kept.txt"]
    assert sorted(await waiting(world, session)) == ["kept.txt", "sub/moved.txt"]


async def test_taking_back_and_giving_again_is_identity(world: World) -> None:
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    await staged(world, session, "made/new.txt", "new\n")
    await staged(world, session, "kept.txt", None)
    disk, waits = world.state(), await waiting(world, session)
    operation = await keep(session, None)
    written = world.state()
    for _ in range(2):
        operation = await take_back(session, operation.id)
        assert (world.state(), await waiting(world, session)) == (disk, waits)
        with pytest.raises(Refused, match="already"):
            await take_back(session, str(operation.of_id))
        operation = await take_back(session, operation.id)
        assert (world.state(), await waiting(world, session)) == (written, {})


async def test_a_keep_taken_back_leaves_what_the_person_wrote_since(world: World) -> None:
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    operation = await keep(session, None)
    world.write("file", EDITED.replace("20\n", "mine\n"))
    await take_back(session, operation.id)
    assert (world.root / "file").read_text() == FAR.replace("20\n", "mine\n")
    assert await waiting(world, session) == {"file": EDITED.replace("20\n", "mine\n").encode()}
    world.write("file", (world.root / "file").read_text().replace("5\n", "other\n", 1))
    with pytest.raises(Refused, match="same lines"):
        await keep(session, None)


async def test_a_drop_taken_back_comes_onto_what_was_kept_since(world: World) -> None:
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    first, second = await keys(world, session, "file")
    dropped = await drop(session, {"file": [first]})
    await keep(session, {"file": [second]})
    await take_back(session, dropped.id)
    assert await waiting(world, session) == {"file": EDITED.encode()}
    assert await keys(world, session, "file") == [first]


async def test_others_cannot_take_it_back(world: World) -> None:
    session, other = await world.session(), await world.session()
    await staged(world, session, "new.txt", "x\n")
    operation = await drop(session, None)
    with pytest.raises(Refused, match="not known"):
        await take_back(other, operation.id)


async def test_a_stale_edit_changes_nothing(world: World) -> None:
    session = await world.session()
    await staged(world, session, "kept.txt", "a\n")
    edit = staging.Edit(
        world.project.id, "kept.txt", object_id(b"other"), object_id(b"b\n"), "", None, 0o100644
    )
    with pytest.raises(staging.StaleEdit):
        await in_db(staging.stage, session, [edit], staging.CallRef("msg", "prt", "call"))
    assert await waiting(world, session) == {"kept.txt": b"a\n"}


async def test_a_drop_while_the_agent_edits_is_planned_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    (first, _), real = await keys(world, session, "file"), operations.at_once
    more = EDITED.replace("20\n", "twenty\n")
    address = world.tracker.objects.put(more.encode())

    def while_it_edits(*args: Any, **noted: Any) -> Operation:
        StagedFile.objects.update(content=address)
        return real(*args, **noted)

    monkeypatch.setattr(operations, "at_once", while_it_edits)
    await drop(session, {"file": [first]})
    assert await waiting(world, session) == {"file": more.replace("five\n", "5\n", 1).encode()}


async def test_verdicts_wait_for_one_another(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await world.session()
    await staged(world, session, "new.txt", "x\n")
    monkeypatch.setattr(lock, "_VERDICT_TRIES", 1)
    with project_lock(world.project.id), pytest.raises(Refused, match="running in this project"):
        await keep(session, None)
    monkeypatch.undo()
    both = keep(session, {"new.txt": None}), drop(session, {"new.txt": None})
    await asyncio.gather(*both, return_exceptions=True)
    assert await waiting(world, session) == {}
    assert await in_db(Operation.objects.count) == 1


async def test_a_link_put_in_the_way_is_not_followed(world: World) -> None:
    session = await world.session()
    await staged(world, session, "sub/new.txt", "x\n")
    outside = world.root.parent / "outside"
    outside.mkdir()
    os.symlink(outside, world.root / "sub")
    with pytest.raises(Refused, match="leads out of the project"):
        await keep(session, None)
    assert list(outside.iterdir()) == []


async def test_a_keep_cut_short_leaves_a_file_that_was_changed_since(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person edits one of the files between the crash and the start: it goes on waiting."""
    world.write("file", FAR)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    await staged(world, session, "new.txt", "new\n")

    class Crash(Exception):
        pass

    def crash(*_: object, **__: object) -> None:
        raise Crash

    monkeypatch.setattr("sessions.changes.operations.engine._write", crash)
    with pytest.raises(Crash):
        await keep(session, None)
    monkeypatch.undo()
    world.write("file", "mine\n")
    await recover()
    assert (world.root / "file").read_text() == "mine\n"
    assert (world.root / "new.txt").read_text() == "new\n"
    assert list(await waiting(world, session)) == ["file"]
    operation = await in_db(Operation.objects.get)
    assert operation.state == "done"
    assert await outcomes(operation) == {"file": "conflict", "new.txt": "restore"}
    assert [change.path for change in await in_db(lambda: list(FileChange.objects.all()))] == ["new.txt"]
    await recover()
