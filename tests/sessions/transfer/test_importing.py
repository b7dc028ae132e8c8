"""Importing into the store: whole sessions with their ids, again and again, beside what happens here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from sessions.changes.operations.conversation import bring_back, preview
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import Event, Project, Session
from sessions.core.store import leases, messages, operations, projects, todos
from sessions.core.store import sessions as session_store
from sessions.core.store.rows import session_wire
from sessions.transfer import background
from sessions.transfer.importing import Import
from sessions.transfer.job import Busy, Job, Progress, in_words
from sessions.transfer.plan import Choice, survey
from sessions.transfer.reading import find
from sessions.transfer.reading.records import Problem
from sessions.transfer.writing.document import collect
from sessions.transfer.writing.forms import written
from tests.sessions.talk import Talk
from tests.sessions.transfer import making

pytestmark = pytest.mark.django_db(transaction=True)

GONE = "/home/me/flows"


@pytest.fixture(autouse=True)
def job_of_its_own(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


async def take(path: Path, choice: Choice | None = None, **how: Any) -> Progress:
    tell: Callable[[Progress, Problem | None], None] = how.pop("tell", lambda *_: None)
    return await Import(survey(find.sources(path)), choice or Choice(), tell, **how).run()


def files(tmp_path: Path, **more: Any) -> Path:
    making.files(tmp_path / "data", making.session(GONE, **more), making.conversation(GONE))
    return tmp_path / "data"


async def kept(session_id: str = making.SESSION) -> Session:
    row = await in_db(session_store.get, session_id)
    assert row is not None
    return row


async def test_everything_is_kept_as_it_was(tmp_path: Path) -> None:
    data = files(tmp_path, agent="build", model={"id": "claude", "providerID": "anthropic"})
    making.write(data / "storage" / "todo" / f"{making.SESSION}.json", [{"content": "Later", "id": "1"}])
    diff = {"file": "flows.py", "before": "", "after": "x\n", "additions": 1, "deletions": 0}
    making.write(data / "storage" / "session_diff" / f"{making.SESSION}.json", [diff])
    progress = await take(data)
    assert (progress.state, progress.outcomes, progress.messages) == ("done", {"imported": 1}, 2)
    row = await kept()
    info = session_wire(row)
    assert {"title": "Flows", "slug": "quiet-river", "directory": GONE}.items() <= info.items()
    assert (info["time"]["created"], info["time"]["updated"]) == (making.BEGUN, making.BEGUN + 60_000)
    assert info["tokens"] == {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 3, "write": 4}}
    assert (info["cost"], info["summary"]) == (0.5, {"additions": 1, "deletions": 0, "files": 1})
    history = await in_db(messages.history, row.id)
    expected = making.conversation(GONE)
    expected[0]["info"]["summary"] = {"diffs": [diff]}
    assert history == expected
    assert [todo.content for todo in await in_db(todos.listing, row.id)] == ["Later"]
    created = await in_db(lambda: Event.objects.get(type="session.created", session_id=row.id))
    assert created.project_id == row.project_id


async def test_a_session_belongs_to_the_project_of_its_folder(tmp_path: Path) -> None:
    there = tmp_path / "there"
    (there / ".git").mkdir(parents=True)
    known = await in_db(projects.open_project, there)
    making.files(tmp_path / "data", making.session(there / "src"), [])
    (there / "src").mkdir()
    await take(tmp_path / "data")
    assert (await kept()).project_id == known.id


async def test_a_folder_that_is_gone_can_still_be_read_and_found_again(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    making.files(tmp_path / "data", making.session(folder), making.conversation(folder))
    await take(tmp_path / "data")
    row = await kept()
    assert (row.project.worktree, row.project.name) == (str(folder), "gone")
    assert row.project.time_updated == row.time_updated
    folder.mkdir()
    assert (await in_db(projects.project_of, folder)).id == row.project_id


@pytest.mark.parametrize("folder", ["/", "", "flows", "C:\\flows", "/a\0b"])
async def test_a_session_of_no_folder_is_named(tmp_path: Path, folder: str) -> None:
    path = making.export(tmp_path / "x.json", making.session(folder), [])
    progress = await take(path)
    assert progress.outcomes == {"unreadable": 1}
    assert "folder" in progress.problems[0].reason
    assert await in_db(Project.objects.count) == 0


async def test_again_nothing_changes(tmp_path: Path) -> None:
    data = files(tmp_path)
    await take(data)
    before = await in_db(lambda: list(Event.objects.values_list("id", flat=True)))
    again = await take(data)
    assert (again.outcomes, again.messages, again.problems) == ({"same": 1}, 0, [])
    assert in_words(again) == ["1 here already"]
    assert await in_db(lambda: list(Event.objects.values_list("id", flat=True))) == before


async def test_what_opencode_went_on_with_is_added(tmp_path: Path) -> None:
    data = files(tmp_path)
    await take(data)
    await in_db(session_store.rename, making.SESSION, "My own title")
    later = {"info": making.prompt("msg_b6b", time={"created": now()}), "parts": []}
    making.files(data, making.session(GONE), [*making.conversation(GONE), later])
    assert (await take(data)).outcomes == {"updated": 1}
    assert len(await in_db(messages.history, making.SESSION)) == 3
    assert (await kept()).title == "My own title"
    fresh = {"created": making.BEGUN, "updated": now() + 1}
    making.files(data, making.session(GONE, title="Renamed there", time=fresh), [])
    assert (await take(data)).outcomes == {"updated": 1}
    assert (await kept()).title == "Renamed there"


async def test_what_was_continued_here_is_never_overwritten(tmp_path: Path) -> None:
    data = files(tmp_path)
    await take(data)
    row = await kept()
    talk = Talk(row.project, row)
    await talk.prompt("here")
    await in_db(session_store.update, making.SESSION, agent="plan")
    newer = await take(data)
    assert (newer.outcomes, newer.lost) == ({"newer": 1}, 0)
    later = {"info": making.prompt("msg_b6b"), "parts": []}
    making.files(data, making.session(GONE), [later])
    both = await take(data)
    assert both.outcomes == {"diverged": 1}
    (problem,) = both.problems
    assert (problem.where, problem.lost) == (f"session/{making.SESSION}", False)
    assert problem.reason.startswith("was continued here and in OpenCode; it stays as it is here")
    assert len(await in_db(messages.history, making.SESSION)) == 3


async def test_what_was_deleted_or_works_here_is_left_alone(tmp_path: Path) -> None:
    data = files(tmp_path)
    await take(data)
    lease = await in_db(leases.claim, making.SESSION, "a worker", 3600)
    assert lease is not None
    making.files(data, making.session(GONE, time={"created": 1, "updated": now() + 9}), [])
    assert (await take(data)).outcomes == {"running": 1}
    await in_db(leases.release, lease)
    await in_db(session_store.delete, making.SESSION)
    assert (await take(data)).outcomes == {"deleted": 1}
    named = await take(data, Choice(sessions=frozenset({making.SESSION})))
    assert named.outcomes == {"imported": 1}
    await kept()


async def test_a_file_cannot_take_what_is_another_sessions(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    mine = await talk.prompt("mine")
    stolen = making.prompt(mine)
    path = making.export(tmp_path / "x.json", making.session(GONE), [{"info": stolen, "parts": []}])
    progress = await take(path)
    assert progress.problems[0].reason == f"{mine} is of another session here"
    assert await in_db(session_store.get, making.SESSION) is None
    history = await in_db(messages.history, talk.session.id)
    assert history[0]["parts"][0]["text"] == "mine"


async def test_a_file_allows_nothing(tmp_path: Path) -> None:
    deny = {"permission": "edit", "pattern": "*", "action": "deny"}
    rules = [{"permission": "bash", "pattern": "*", "action": "allow"}, deny, "nonsense"]
    progress = await take(files(tmp_path, permission=rules))
    assert (await kept()).permission == [deny]
    assert "allow 'bash *' was left out" in progress.problems[0].reason
    assert progress.lost == 0


async def test_children_come_with_their_parent_and_a_missing_one_is_named(tmp_path: Path) -> None:
    data = files(tmp_path)
    making.files(data, making.session(GONE, making.CHILD, parentID=making.SESSION), [])
    making.files(data, making.session(GONE, "ses_lost", parentID="ses_nowhere"), [])
    progress = await take(data)
    assert (await kept(making.CHILD)).parent_id == making.SESSION
    assert (await kept("ses_lost")).parent_id is None
    assert [problem.reason for problem in progress.problems] == ["its parent ses_nowhere is missing"]


async def test_sessions_that_name_each_other_are_no_circle_here(tmp_path: Path) -> None:
    data = files(tmp_path, parentID=making.CHILD)
    making.files(data, making.session(GONE, making.CHILD, parentID=making.SESSION), [])
    for _ in range(2):
        await take(data)
        above = {(await kept(id)).parent_id for id in (making.SESSION, making.CHILD)}
        assert above in ({None, making.SESSION}, {None, making.CHILD})


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"id": "ses_../../etc"}, "is none of a session"),
        ({"id": "ses_" + "x" * 60}, "is none of a session"),
    ],
)
async def test_a_hostile_session_is_named(tmp_path: Path, info: dict[str, Any], reason: str) -> None:
    progress = await take(making.export(tmp_path / "x.json", making.session(GONE) | info, []))
    assert reason in progress.problems[0].reason
    assert await in_db(Session.objects.count) == 0


@pytest.mark.parametrize(
    ("info", "named"),
    [
        ({"cost": "NaN"}, "its cost is no number here: 'NaN'"),
        (
            {"time": {"created": 10**30, "updated": making.BEGUN}},
            f"its time.created is no number here: '{10**30}'",
        ),
        ({"tokens": {"input": "many", "cache": {"read": 1}}}, "its tokens.input is no number here: 'many'"),
    ],
)
async def test_a_wrong_number_is_left_out_alone(tmp_path: Path, info: dict[str, Any], named: str) -> None:
    path = making.export(tmp_path / "x.json", making.session(GONE) | info, making.conversation(GONE))
    progress = await take(path)
    assert (progress.outcomes, [problem.reason for problem in progress.problems]) == (
        {"imported": 1},
        [named],
    )
    row = await kept()
    assert row.time_created == making.BEGUN + (1 if "created" in named else 0)
    assert (row.cost, row.tokens["input"]) == (0.5, 1)


async def test_what_is_undone_there_is_undone_here(tmp_path: Path) -> None:
    """It is not among what a turn has; what it changed is not known, and a redo says so."""
    folder = tmp_path / "project"
    folder.mkdir()
    patch = making.part("04", making.ANSWER, "patch", hash="0" * 40, files=[str(folder / "flows.py")])
    entries = making.conversation(folder)
    entries[1]["parts"].append(patch)
    later = {"info": making.prompt("msg_b6b", time={"created": making.BEGUN + 20}), "parts": []}
    undone = {"messageID": making.PROMPT, "snapshot": "0" * 40}
    hostile = {**undone, "diff": REMOVED}
    path = making.export(tmp_path / "x.json", making.session(folder, revert=hostile), [*entries, later])
    await take(path)
    row = await kept()
    assert session_wire(row)["revert"] == undone
    assert json.loads(written(await in_db(collect, row), "json"))["info"]["revert"] == undone
    operation = await bring_back(row)
    assert operation is not None
    (told,) = operation.outcome
    assert (told["path"], told["outcome"]) == ("flows.py", "uncovered")
    assert "is not known" in told["reason"]
    assert (await kept()).revert is None
    preview_ = await preview(await kept(), making.PROMPT)
    assert [file.name for file in preview_.not_covered] == ["flows.py"]


REMOVED = """\
diff --git a/flows.py b/flows.py
deleted file mode 100644
index 7d4290a..0000000
--- a/flows.py
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
"""
CHANGED = """\
diff --git a/src/{name} b/src/{name}
index {before}..d7f7a96 100644
--- a/src/{name}
+++ b/src/{name}
@@ -1,2 +1,2 @@
-edited
+as it was
{blank}
"""
RENAMED = """\
diff --git a/old.py b/new.py
similarity index 100%
rename from old.py
rename to new.py
"""


async def test_a_redo_writes_what_an_undo_there_took_back(tmp_path: Path) -> None:
    """Where the file is as that undo left it, and the patch, which OpenCode trims, has what was before."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    words = "as it was\n\n"
    here = {"src/other.py": "mine\n", "src/white.py": words, "new.py": words, "src/same.py": words}
    for name, content in here.items():
        (folder / name).write_text(content)
    names = ("flows.py", *here)
    changed = making.part(
        "04", making.ANSWER, "patch", hash="0" * 40, files=[str(folder / name) for name in names]
    )
    entries = making.conversation(folder)
    entries[1]["parts"].append(changed)
    changes = [("other.py", "59c07bc"), ("white.py", "f7c9f99"), ("same.py", "59c07bc")]
    other, white, same = (CHANGED.format(name=name, before=oid, blank=" ") for name, oid in changes)
    diff = f"{REMOVED}{other}{white}{RENAMED}{same}"
    undone = {"messageID": making.PROMPT, "diff": diff.strip()}
    making.files(tmp_path / "data", making.session(folder, revert=undone), entries)
    await take(tmp_path / "data")
    operation = await bring_back(await kept())
    assert operation is not None
    outcome = {entry["path"]: entry["outcome"] for entry in operation.outcome}
    assert outcome == {
        "flows.py": "restore",
        "src/same.py": "restore",
        "src/other.py": "uncovered",
        "src/white.py": "uncovered",
        "new.py": "uncovered",
    }
    there = {name: (folder / name).read_text() for name in names}
    assert there == here | {"flows.py": "x = 1\n", "src/same.py": "edited\n\n"}


async def test_a_prompt_makes_an_undo_from_there_final(tmp_path: Path) -> None:
    await take(files(tmp_path, revert={"messageID": making.ANSWER}))
    assert await in_db(operations.make_final, making.SESSION)
    assert [entry["info"]["id"] for entry in await in_db(messages.history, making.SESSION)] == [making.PROMPT]
    assert (await kept()).revert is None


async def test_an_undo_from_a_message_that_is_missing_is_named(tmp_path: Path) -> None:
    progress = await take(files(tmp_path, revert={"messageID": "msg_gone"}))
    assert (await kept()).revert is None
    assert "counts again" in progress.problems[0].reason


async def test_what_opencode_shares_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    progress = await take(files(tmp_path, share={"url": "https://opncd.example/s/1"}))
    (problem,) = progress.problems
    assert "shared by OpenCode at https://opncd.example/s/1" in problem.reason
    assert (progress.lost, (await kept()).share_token) == (0, "")


async def test_the_other_side_comes_beside_it_when_asked(tmp_path: Path) -> None:
    data = files(tmp_path)
    await take(data)
    row = await kept()
    await Talk(row.project, row).prompt("here")
    await in_db(session_store.update, making.SESSION, agent="plan")
    later = {"info": making.prompt("msg_b6b", parentID=making.PROMPT), "parts": []}
    making.files(data, making.session(GONE), [*making.conversation(GONE), later])
    assert (await take(data, copies=True)).outcomes == {"imported": 1}
    copy = await kept(f"{making.SESSION}-2")
    assert copy.title == "Flows (from OpenCode)"
    theirs = await in_db(messages.history, copy.id)
    assert [entry["info"]["id"] for entry in theirs] == [
        f"{id}-2" for id in (making.PROMPT, making.ANSWER, "msg_b6b")
    ]
    assert theirs[1]["info"]["parentID"] == f"{making.PROMPT}-2"
    assert len(await in_db(messages.history, making.SESSION)) == 3
    assert (await take(data, copies=True)).outcomes == {"same": 1}


async def test_it_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    for index in range(6):
        making.files(tmp_path / "data", making.session(GONE, f"ses_{index}"), [])

    def stop(progress: Progress, _: Problem | None) -> None:
        if progress.done == 2:
            Job().cancel()

    first = await take(tmp_path / "data", tell=stop)
    assert (first.state, first.outcomes, first.total) == ("cancelled", {"imported": 2}, 6)
    shown = Job().progress()
    assert shown is not None
    assert (shown.state, shown.done) == ("cancelled", 2)
    second = await take(tmp_path / "data")
    assert (second.state, second.outcomes) == ("done", {"same": 2, "imported": 4})


async def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    data = files(tmp_path)
    assert (await take(data, dry=True)).outcomes == {"imported": 1}
    assert await in_db(Session.objects.count) == 0


async def test_two_at_once_are_refused(tmp_path: Path) -> None:
    data = files(tmp_path)
    with Job().alone():
        assert Job().runs()
        with pytest.raises(Busy):
            await take(data)
        with pytest.raises(Busy):
            await background.begin(survey(find.sources(data)), Choice())
    assert not Job().runs()
    assert (await take(data)).state == "done"


async def test_the_progress_of_a_process_that_died_says_so(tmp_path: Path) -> None:
    Job().write(Progress(total=9, done=3))
    progress, runs = background.state()
    assert progress is not None
    assert (progress.state, runs) == ("failed", False)
    assert "interrupted" in progress.error
    (tmp_path / "import.json").write_text('{"total": ')
    assert background.state() == (None, False)


@pytest.mark.sqlite
async def test_a_database_that_cannot_be_written_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making.files(tmp_path / "data", making.session(GONE), [])
    await in_db(_query_only, True)
    try:
        progress = await take(tmp_path / "data")
    finally:
        await in_db(_query_only, False)
    assert progress.state == "failed"
    assert "cannot be written" in progress.error


def _query_only(on: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA query_only={int(on)}")


async def test_a_session_that_was_at_work_is_settled_and_looked_at_again(tmp_path: Path) -> None:
    state = {"status": "running", "input": {"command": "sleep 9"}, "time": {"start": making.BEGUN}}
    call = making.part("1", making.ANSWER, "tool", tool="bash", callID="c", state=state)
    open_answer = making.answer(GONE, time={"created": making.BEGUN})
    entries: list[making.Wire] = [
        {"info": making.prompt(), "parts": []},
        {"info": open_answer, "parts": [call]},
    ]
    making.files(tmp_path / "data", making.session(GONE), entries)
    await take(tmp_path / "data")
    (_, said) = await in_db(messages.history, making.SESSION)
    assert said["info"]["time"]["completed"]
    assert said["parts"][0]["state"]["status"] == "error"
    entries[1] = {"info": making.answer(GONE), "parts": []}
    making.files(tmp_path / "data", making.session(GONE), entries)
    (tmp_path / "data" / "storage" / "part" / making.ANSWER / "prt_1.json").write_text(
        json.dumps({**call, "state": {**state, "status": "completed", "output": "done"}})
    )
    assert (await take(tmp_path / "data")).outcomes == {"updated": 1}
    (_, said) = await in_db(messages.history, making.SESSION)
    assert said["parts"][0]["state"]["output"] == "done"
