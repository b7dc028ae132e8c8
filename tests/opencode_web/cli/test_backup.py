"""Backup, restore and doctor from the command line, each on a data folder of its own."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from opencode_web.cli.commands import backup
from sessions.changes.snapshots.objects import ObjectStore
from sessions.core import paths
from tests.opencode_web.damaged import MESSAGE, PART, add, conversations, count, leaves, spoil
from tests.server import ROOT
from tests.sessions.changes.worktrees.conftest import git

SERVER = """
import django; django.setup()
from opencode_web.site import database
database.prepare()
print("ready", flush=True)
input()
"""
FAULTS = {
    "changed": "is not as it was backed up",
    "missing": "is missing",
    "a link": "is missing",
    "outside": "names files that no backup has",
    "newer": "made by a newer opencode-web .*9999_from_the_future",
    "unfinished": "is no whole backup",
}
CHANGE = "opencode_sessions_filechange"


class Place:
    """A data folder with conversations in it, two contents and credentials."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "opencode-web"

    def fill(self) -> None:
        self.data.mkdir(parents=True, mode=0o700)
        conversations(self.data / "db.sqlite3")
        store = ObjectStore(self.data / "snapshots" / ("p" * 40))
        before, after = store.put(b"before\n"), store.put(b"after\n")
        with closing(sqlite3.connect(self.data / "db.sqlite3")) as db, db:
            add(
                db,
                CHANGE,
                project_id="p" * 40,
                session_id="ses_000",
                path="a.txt",
                before=before,
                after=after,
            )
            whole = json.dumps({"messageID": "", "text": "x", "time": {"start": 1, "end": 1}})
            db.execute(f"UPDATE {PART} SET data = ?", (whole,))  # noqa: S608
            made = {"time": {"created": 1}, "agent": "build", "model": {"providerID": "a", "modelID": "b"}}
            db.execute(f"UPDATE {MESSAGE} SET data = ?", (json.dumps(made),))  # noqa: S608
        for name in ("plans/1-a.md", "tool-output/tool_1"):
            (self.data / name).parent.mkdir(mode=0o700)
            (self.data / name).write_text("kept")
        (self.data / "trust.json").write_text("{}")
        (self.data / "auth.json").write_text('{"example": {"type": "api", "key": "sk-hush"}}')

    def content(self, text: bytes) -> Path:
        oid = ObjectStore(self.data / "snapshots" / ("p" * 40)).put(text)
        return self.data / "snapshots" / ("p" * 40) / "objects" / oid[:2] / oid[2:]

    def run(self, *arguments: str, **environ: str) -> tuple[int, str]:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder),
        } | environ
        done = subprocess.run(
            [sys.executable, "-m", "opencode_web", *arguments],
            cwd=ROOT, env=environ, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def place(db: None, tmp_path: Path) -> Place:
    made = Place(tmp_path / "pins" / "share")  # the name of a folder in stores that is left out
    made.fill()
    return made


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Somebody adds two rows at a time meanwhile."""
    ended = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(file, timeout=20)) as db:
            while not ended.is_set():
                with db:
                    for _ in range(2):
                        add(db, "opencode_sessions_todo", session_id="ses_000")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_backup_is_restored_whole(place: Place, tmp_path: Path) -> None:
    target, secret = tmp_path / "backup", {"OPENCODE_WEB_PASSPHRASE": "open sesame"}
    with writing(place.data / "db.sqlite3"):
        status, said = place.run("backup", "--credentials", str(target), **secret)
    assert status == 0, said
    assert not any(b"sk-hush" in path.read_bytes() for path in target.rglob("*") if path.is_file())
    other = Place(tmp_path / "other")
    assert other.run("restore", "--credentials", str(target), OPENCODE_WEB_PASSPHRASE="wrong")[0] == 1
    status, said = other.run("restore", "--credentials", str(target), **secret)
    assert status == 0, said
    assert count(other.data / "db.sqlite3", PART) == 144
    assert count(other.data / "db.sqlite3", "opencode_sessions_todo") % 2 == 0, "a part of a transaction"
    for name in ("plans/1-a.md", "tool-output/tool_1", "trust.json", "auth.json"):
        assert (other.data / name).read_bytes() == (place.data / name).read_bytes()
        assert (other.data / name).stat().st_mode & 0o077 == 0
    status, said = other.run("doctor", "--verify")
    assert status == 0, said
    well, sandbox, *_ = said.splitlines()
    assert well == "All is well: every row can be read, and every content that one names is there."
    assert sandbox.startswith("Sandbox")


def test_a_backup_without_credentials_has_none(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place.folder))
    backup.back_up(tmp_path / "backup")
    names = {path.name for path in (tmp_path / "backup").rglob("*")}
    assert names & {"auth.json", "mcp-auth.json", "forges.json", "secret", "credentials.json"} == set()
    with pytest.raises(backup.Refused, match="is there already"):
        backup.back_up(tmp_path / "backup")
    with pytest.raises(backup.Refused, match="is within"):
        backup.back_up(place.data / "backup")
    spoil(place.data / "db.sqlite3", leaves(place.data / "db.sqlite3", PART)[5])
    with pytest.raises(backup.Refused, match="the database is damaged"):
        backup.back_up(tmp_path / "another")
    assert not (tmp_path / "another").exists()


def test_what_only_a_worktree_has_is_told(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place.folder))
    root, worktrees = tmp_path / "project", place.data / "worktrees" / "p"
    git(tmp_path, "init", "-q", str(root))
    git(root, "commit", "-qm", "first", "--allow-empty")
    for name in ("clean", "used"):
        git(root, "worktree", "add", "-q", str(worktrees / name))
    (worktrees / "used" / "new.txt").write_text("mine")
    backup.make_backup(Namespace(target=str(tmp_path / "backup"), credentials=False), root)
    said = capsys.readouterr().out
    assert f"1 file that is not committed in the worktree {worktrees / 'used'}" in said
    assert "clean" not in said
    assert "permissions" not in said


def test_a_place_without_permissions_takes_a_backup(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def chmod(path: Path, mode: int, **_: Any) -> None:
        """As of vfat."""
        raise PermissionError(errno.EPERM, "Operation not permitted", str(path))

    monkeypatch.setenv("XDG_DATA_HOME", str(place.folder))
    paths.worktrees()
    monkeypatch.setattr("os.chmod", chmod)
    backup.make_backup(Namespace(target=str(tmp_path / "backup"), credentials=False), tmp_path)
    assert "has no permissions: others may read the backup" in capsys.readouterr().out
    assert (tmp_path / "backup" / "manifest.json").exists()


def test_what_is_no_whole_backup_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, other = tmp_path / "whole", Place(tmp_path / "other")
    monkeypatch.setenv("XDG_DATA_HOME", str(place.folder))
    backup.back_up(whole)
    monkeypatch.setenv("XDG_DATA_HOME", str(other.folder))
    for fault, words in FAULTS.items():
        source = tmp_path / fault
        shutil.copytree(whole, source)
        manifest = json.loads((source / "manifest.json").read_text())
        match fault:
            case "changed":
                (source / "plans/1-a.md").write_text("made up")
            case "missing":
                (source / "plans/1-a.md").unlink()
            case "a link":
                (source / "plans/1-a.md").unlink()
                (source / "plans/1-a.md").symlink_to("/etc/hostname")
            case "outside":
                manifest["files"]["../../evil"] = manifest["files"].pop("plans/1-a.md")
            case "newer":
                manifest["migrations"].append("opencode_sessions.9999_from_the_future")
        (source / "manifest.json").write_text(json.dumps(manifest))
        if fault == "unfinished":
            (source / "manifest.json").unlink()
        with pytest.raises(backup.Refused, match=words):
            backup.restore(source)
        assert not list(other.data.iterdir()), fault
    log = other.data / "db.sqlite3-wal"  # which SQLite would play over the restored database
    log.write_bytes(b"left by a crash")
    with pytest.raises(backup.Refused, match=r"is not empty: it has db.sqlite3-wal"):
        backup.restore(whole)
    log.unlink()
    backup.restore(whole)
    assert count(other.data / "db.sqlite3", PART) == 144
    with pytest.raises(backup.Refused, match=r"is not empty: it has db.sqlite3"):
        backup.restore(whole)


def test_the_doctor_marks_what_is_gone_and_takes_out_what_cannot_be_read(place: Place) -> None:
    content = place.content(b"before\n")
    content.unlink()
    with closing(sqlite3.connect(place.data / "db.sqlite3")) as db, db:
        db.execute(f"UPDATE {MESSAGE} SET data = '{{\"another\": \"shape\"}}' WHERE id = 'msg_003003'")  # noqa: S608
    (place.data / "db-x.partial").write_text("")
    status, said = place.run("doctor")
    assert status == 1
    assert "1 change of files (a.txt) lack a content" in said
    assert "message msg_003003 cannot be read" in said
    assert "db-x.partial" in said
    assert place.run("doctor", "--repair")[0] == 2, "nobody can be asked"
    status, said = place.run("doctor", "--repair", "--yes")
    assert (status, "Mended." in said) == (0, True), said
    with closing(sqlite3.connect(place.data / "db.sqlite3")) as db:
        marked = db.execute(f"SELECT before, skipped FROM {CHANGE}").fetchall()  # noqa: S608
    assert marked == [("", "it is gone from the store")]
    (taken,) = place.data.glob("unreadable-*.jsonl")
    assert [json.loads(line)["table"] for line in taken.read_text().splitlines()] == [PART, PART, MESSAGE]
    assert place.run("doctor", "--verify")[0] == 0


@pytest.mark.long
def test_the_doctor_reads_contents_when_asked(place: Place) -> None:
    content = place.content(b"after\n")
    content.chmod(0o600)
    content.write_bytes(place.content(b"before\n").read_bytes())
    assert place.run("doctor")[0] == 0
    status, said = place.run("doctor", "--verify")
    assert (status, "lack a content" in said) == (1, True), said


def test_the_doctor_salvages_when_asked_and_then_removes_the_damaged_file(place: Place) -> None:
    file = place.data / "db.sqlite3"
    spoil(file, leaves(file, PART)[5])
    status, said = place.run("doctor")
    assert (status, "The database is damaged" in said) == (1, True), said
    assert not list(place.data.glob("*.corrupt-*"))
    status, said = place.run("doctor", "--repair", "--yes")
    assert (status, "Saved: 6 conversations, 72 messages" in said) == (1, True), said
    assert list(place.data.glob("*.corrupt-*")), "what was just put aside is not removed unseen"
    status, said = place.run("doctor", "--repair", "--yes")
    assert (status, "Mended." in said) == (0, True), said
    assert not list(place.data.glob("*.corrupt-*"))


@pytest.mark.long
def test_a_damaged_database_in_use_is_not_moved(place: Place) -> None:
    file = place.data / "db.sqlite3"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(place.folder), "XDG_DATA_HOME": str(place.folder),
             "DJANGO_SETTINGS_MODULE": "opencode_web.settings"},
    )  # fmt: skip
    assert server.stdin
    assert server.stdout
    with server:
        assert server.stdout.readline() == "ready\n"
        spoil(file, leaves(file, PART)[5])
        status, said = place.run("session", "list")
        assert (status, "a server uses it" in said) == (1, True), said
        server.stdin.write("\n")
    assert "Saved: 6 conversations" in place.run("session", "list")[1]
