"""Sources: files of both layouts, a database, an export; what cannot be read is named."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sessions.transfer.plan import Choice, counts, plan, survey
from sessions.transfer.reading import database, find, folder
from sessions.transfer.reading.records import MAX_RECORD, Conversation, Source, Unreadable
from tests.sessions.transfer import making

HOME = "/home/me/flows"


def only(source: Source) -> Conversation:
    (header,) = source.headers()
    return source.read(header)


def reasons(read: Conversation) -> dict[str, str]:
    return {problem.where: problem.reason for problem in read.problems}


def every_form(data: Path) -> list[Source]:
    info, entries = making.session(HOME), making.conversation(HOME)
    making.files(data / "files", info, entries)
    making.first_layout(data / "first", info, entries)
    making.database(data / "database" / "opencode.db", info, entries).close()
    making.export(data / "export.json", info, entries)
    return [
        source
        for name in ("files", "first", "database", "export.json")
        for source in find.sources(data / name)
    ]


def test_every_form_gives_the_same_conversation(tmp_path: Path) -> None:
    sources = every_form(tmp_path)
    assert [source.kind for source in sources] == ["file storage", "file storage", "database", "export"]
    expected = making.conversation(HOME)
    for source in sources:
        (header,) = source.headers()
        assert (header.id, header.directory, header.messages) == (making.SESSION, HOME, 2)
        read = source.read(header)
        assert (read.entries, read.problems) == (expected, [])
        assert list(source.leftovers([header])) == []
        source.close()


def test_nothing_is_written_to_a_source(tmp_path: Path) -> None:
    sources = every_form(tmp_path)
    before = making.snapshot(tmp_path)
    for source in sources:
        only(source)
        source.size()
        source.close()
    assert making.snapshot(tmp_path) == before


def test_a_database_is_read_while_opencode_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    writer = making.database(path, making.session(HOME), making.conversation(HOME))
    before = making.snapshot(tmp_path)
    assert before[f"{path}-wal"][1], "what was written is in the log alone"
    source = database.Database(path)
    assert len(only(source).entries) == 2
    assert making.snapshot(tmp_path) == before
    later = {"info": making.prompt("msg_b6a82fb5d001"), "parts": []}
    making.add(writer, making.session(HOME), [later])
    assert len(only(source).entries) == 3
    source.close()
    writer.close()


def test_the_log_of_a_crash_is_read_from_a_copy(tmp_path: Path) -> None:
    alive = tmp_path / "alive" / "opencode.db"
    writer = making.database(alive, making.session(HOME), making.conversation(HOME))
    left = tmp_path / "left"
    left.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{alive}{suffix}", left / f"opencode.db{suffix}")
    writer.close()
    before = making.snapshot(left)
    source = database.Database(left / "opencode.db")
    assert len(only(source).entries) == 2
    source.close()
    assert making.snapshot(left) == before


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return making.files(tmp_path, making.session(HOME), making.conversation(HOME))


def test_broken_files_are_named_and_the_rest_is_read(tmp_path: Path, storage: Path) -> None:
    making.write(storage / "part" / making.ANSWER / "prt_01.json", '{"id": "prt_01", "type": "to')
    making.write(storage / "part" / making.ANSWER / "prt_02.json", "")
    making.write(storage / "part" / making.ANSWER / "prt_04.json", '{"cost": NaN}')
    making.write(storage / "part" / making.ANSWER / "prt_05.json", "[1]")
    making.write(storage / "message" / making.SESSION / "msg_b6b.json", '{"id": }')
    os.mkfifo(storage / "part" / making.ANSWER / "prt_06.json")
    read = only(folder.Folder(tmp_path))
    found = {Path(where).name: reason for where, reason in reasons(read).items()}
    assert found == {
        "prt_01.json": "truncated JSON (line 1, column 26)",
        "prt_02.json": "empty",
        "prt_04.json": "NaN is no JSON",
        "prt_05.json": "holds no JSON object",
        "prt_06.json": "this is no file",
        "msg_b6b.json": "broken JSON (line 1, column 8)",
    }
    assert [part["id"] for part in read.entries[1]["parts"]] == ["prt_03"]


def test_records_without_what_they_belong_to_are_named(tmp_path: Path, storage: Path) -> None:
    making.write(storage / "session" / "p1" / "ses_torn.json", '{"id": "ses_torn", "ti')
    making.write(storage / "message" / "ses_torn" / "msg_1.json", making.prompt("msg_1"))
    making.write(storage / "part" / "msg_gone" / "prt_9.json", making.part("9", "msg_gone"))
    source = folder.Folder(tmp_path)
    headers = source.headers()
    assert [(problem.where, problem.reason[:9]) for problem in source.problems] == [
        ("storage/session/p1/ses_torn.json", "truncated")
    ]
    left = {problem.where: problem.reason for problem in source.leftovers(headers)}
    assert left == {
        "storage/message/ses_torn": "messages of a session that is missing or cannot be read",
        "storage/part/msg_gone": "parts of a message that is missing",
    }


def test_orphans_of_a_database_are_named(tmp_path: Path) -> None:
    writer = making.database(tmp_path / "a.db", making.session(HOME), making.conversation(HOME))
    writer.execute("INSERT INTO part VALUES ('prt_x', 'msg_gone', ?, '{}')", (making.SESSION,))
    writer.execute("INSERT INTO message VALUES ('msg_y', 'ses_gone', 1, '{}')")
    writer.execute("UPDATE part SET data = '{\"type\": ' WHERE id = 'prt_03'")
    source = database.Database(tmp_path / "a.db")
    read = only(source)
    assert reasons(read) == {
        "part/prt_x": "its message is missing or unreadable",
        "part/prt_03": "truncated JSON (line 1, column 10)",
    }
    assert {problem.where for problem in source.leftovers(source.headers())} == {
        "message/msg_y",
        "part/prt_x",
    }
    source.close()


def test_what_is_too_large_is_named_and_left_out(tmp_path: Path) -> None:
    text = "x" * (MAX_RECORD + 1)
    big = {"info": making.prompt(), "parts": [making.part("00", making.PROMPT, text=text)]}
    making.files(tmp_path / "files", making.session(HOME), [big])
    making.database(tmp_path / "opencode.db", making.session(HOME), [big]).close()
    making.export(tmp_path / "export.json", making.session(HOME), [big])
    for name in ("files", "opencode.db", "export.json"):
        (source,) = find.sources(tmp_path / name)
        read = only(source)
        assert read.entries[0]["parts"] == []
        (reason,) = reasons(read).values()
        assert reason.startswith("larger than")
        source.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"not json", "broken JSON"),
        (b'{"info": {"id": "ses_1"}, "mess', "truncated JSON"),
        (b'{"hello": 1}', "is no export of OpenCode"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 10_000, "broken JSON"),
    ],
)
def test_a_file_that_is_no_export(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    (found,) = survey(find.sources(tmp_path / "x.json"))
    assert reason in found.error


def test_a_database_of_another_program_or_version(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    sqlite3.connect(other).executescript("CREATE TABLE session (id text); CREATE TABLE cat (name text);")
    (found,) = survey(find.sources(other))
    assert "`session` lacks directory, time_updated" in found.error
    torn = tmp_path / "torn.db"
    torn.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    (found,) = survey(find.sources(torn))
    assert "cannot be read" in found.error


def test_damaged_pages_cost_only_what_is_on_them(tmp_path: Path) -> None:
    path, wide = tmp_path / "opencode.db", "x" * 3000
    connection = making.database(path, making.session(HOME), making.conversation(HOME))
    for index in range(12):
        session = f"ses_{index}"
        parts = [
            making.part(f"{index}_{half}", f"msg_{index}", text=f"text {index}.{half}.{wide}")
            for half in (0, 1)
        ]
        entry: making.Wire = {"info": making.prompt(f"msg_{index}", session), "parts": parts}
        making.add(connection, making.session(HOME, session, title=f"title {index}.{wide}"), [entry])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(path.read_bytes())
    for mark in (b"text 4.1.", b"title 7."):
        page = content.index(mark) // 4096 * 4096
        content[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(content)
    (found,) = survey(find.sources(path))
    assert found.error == ""
    (named,) = found.source.problems
    assert "on damaged pages of the database" in named.reason
    headers = {header.id: header for header in found.headers}
    assert "ses_7" not in headers
    assert len(headers) > 9
    read = {id: found.source.read(header) for id, header in headers.items()}
    assert [problem.reason for problem in read["ses_4"].problems] == [
        "1 part is on damaged pages of the database"
    ]
    assert [part["id"] for part in read["ses_4"].entries[0]["parts"]] == ["prt_4_0"]
    whole = [one for one in read.values() if not one.problems]
    assert len(whole) >= len(read) - 2
    assert read[making.SESSION].entries == making.conversation(HOME)


def test_what_a_database_knows_beside_the_messages(tmp_path: Path) -> None:
    """Sums have one place each; what is undone is told as it is in the files."""
    path, undone = tmp_path / "opencode.db", {"messageID": making.ANSWER, "snapshot": "0" * 40}
    connection = making.database(path, making.session(HOME), making.conversation(HOME))
    connection.execute("UPDATE session SET tokens_cache_read = 3, revert = ?", (json.dumps(undone),))
    connection.close()
    (source,) = find.sources(path)
    (header,) = source.headers()
    info = source.read(header).info
    assert info["tokens"] == {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 3, "write": 0}}
    assert info["revert"] == undone
    source.close()


def test_each_clone_of_a_project_is_listed(tmp_path: Path) -> None:
    """To OpenCode two with the same first commit are one project."""
    connection = making.database(tmp_path / "opencode.db", making.session(HOME), [])
    making.add(connection, making.session(f"{HOME}/src", "ses_below"), [])
    making.add(connection, making.session("/home/me/clone", "ses_clone"), [])
    connection.close()
    (found,) = survey(find.sources(tmp_path / "opencode.db"))
    assert found.projects() == [(HOME, 2), ("/home/me/clone", 1)]


def test_a_path_that_is_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, reason in (("gone", "No such file"), (".", "holds neither"), ("fifo", "neither a file nor")):
        with pytest.raises(Unreadable, match=reason):
            find.sources(tmp_path / name)


def test_the_usual_places(tmp_path: Path) -> None:
    making.files(tmp_path / "share" / "opencode", making.session(HOME), making.conversation(HOME))
    making.database(tmp_path / "share" / "opencode" / "opencode.db", making.session(HOME), []).close()
    making.database(tmp_path / "share" / "opencode" / "mine.sqlite", making.session(HOME), []).close()
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share"), "OPENCODE_DB": "mine.sqlite"}
    found = find.found(environ)
    assert [source.kind for source in found] == ["file storage", "database", "database"]
    assert find.found({"HOME": str(tmp_path / "elsewhere")}) == []
    (surveyed, *_) = survey(found)
    assert counts(surveyed).startswith("1 project, 1 session, 2 messages, ")
    assert counts(surveyed).endswith(" kB, 2025-12-29")


def test_the_plan_takes_each_session_once_and_parents_first(tmp_path: Path) -> None:
    child: dict[str, Any] = making.session(HOME, making.CHILD, parentID=making.SESSION)
    older = making.session("/home/me/other", "ses_other")
    for name, info in (("a", child), ("b", making.session(HOME)), ("c", older)):
        making.files(tmp_path / "files" / name, info, [])
    stale = making.session(HOME, title="stale", time={"created": 1, "updated": 2})
    making.export(tmp_path / "old.json", stale, [])
    surveyed = survey(
        [*(folder.Folder(tmp_path / "files" / name) for name in "abc"), *find.sources(tmp_path / "old.json")]
    )
    whole = plan(surveyed, Choice())
    assert [item.header.id for item in whole].index(making.SESSION) < [
        item.header.id for item in whole
    ].index(making.CHILD)
    assert len(whole) == 3
    assert "stale" not in [item.header.title for item in whole]
    by_id = plan(surveyed, Choice(sessions=frozenset({making.SESSION})))
    assert [item.header.id for item in by_id] == [making.SESSION, making.CHILD]
    by_folder = plan(surveyed, Choice(projects=frozenset({"/home/me/other"})))
    assert [item.header.id for item in by_folder] == ["ses_other"]
    assert len(plan(surveyed, Choice(projects=frozenset({"/home/me"})))) == 3
    assert plan(surveyed, Choice(folders=frozenset({"/home/me"}))) == []


def test_sessions_that_name_each_other_as_parents_are_all_taken(tmp_path: Path) -> None:
    for name, above in (("ses_a", "ses_b"), ("ses_b", "ses_a"), ("ses_c", "ses_c")):
        making.files(tmp_path, making.session(HOME, name, parentID=above), [])
    found = plan(survey([folder.Folder(tmp_path)]), Choice())
    assert {item.header.id for item in found} == {"ses_a", "ses_b", "ses_c"}


def test_invalid_utf_8_is_replaced(tmp_path: Path) -> None:
    making.files(tmp_path, making.session(HOME), making.conversation(HOME))
    path = tmp_path / "storage" / "part" / making.PROMPT / "prt_00.json"
    path.write_bytes(
        json.dumps(making.part("00", making.PROMPT, text="Lis_t")).encode().replace(b"_t", b"\xfft")
    )
    assert only(folder.Folder(tmp_path)).entries[0]["parts"][0]["text"] == "Lis\ufffdt"


NEVER = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS directory FROM n"
)


@pytest.mark.parametrize(
    "harm",
    [
        f"DROP TABLE session; CREATE VIEW session AS {NEVER}",
        f"CREATE VIEW Project AS {NEVER}",
        "DROP TABLE todo; CREATE VIRTUAL TABLE todo USING fts5(session_id)",
        "ALTER TABLE message ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(100000000)))",
    ],
)
def test_a_database_that_would_run_something_is_not_read(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "opencode.db"
    making.database(path, making.session(HOME), making.conversation(HOME)).close()
    changed = sqlite3.connect(path)
    changed.executescript(f"DROP TABLE IF EXISTS project; {harm}" if "Project" in harm else harm)
    changed.close()
    (source,) = find.sources(path)
    with pytest.raises(Unreadable, match="no plain table"):
        source.headers()


def test_reading_a_database_ends_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "opencode.db"
    making.database(path, making.session(HOME), making.conversation(HOME)).close()
    monkeypatch.setattr(database, "PATIENCE", 0.0)
    with database.opened(path) as connection, pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(NEVER).fetchall()
