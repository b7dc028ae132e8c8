"""Remotes that take their time, ask for a password, or are locked."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sessions.changes.git import branches, remotes, tags
from sessions.changes.git.command import Git, GitError, Watch
from sessions.changes.git.status import status
from tests.sessions.changes.git.conftest import git

ASKED = "Basic " + base64.b64encode(b"ada:secret").decode()


class Guarded(SimpleHTTPRequestHandler):
    """Files for whoever knows the password: git's "dumb" protocol."""

    def do_GET(self) -> None:
        if self.headers.get("Authorization") == ASKED:
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def url(top: Path, tmp_path: Path) -> Iterator[str]:
    """A repository behind a password."""
    git(top, "clone", "-q", "--bare", str(top), str(tmp_path / "far.git"))
    git(tmp_path / "far.git", "update-server-info")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Guarded, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/far.git"
        server.shutdown()
        thread.join()


def test_a_password_is_had_from_a_helper_and_asked_of_nobody(
    top: Path, ours: Git, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    git(top, "remote", "add", "origin", url)
    with pytest.raises(GitError, match=r"(?s)could not read Username.*credential helpers"):
        remotes.fetch(ours)
    helper = "!f() { echo username=ada; echo password=secret; }; f"
    own = str(tmp_path / "home" / ".gitconfig")
    git(top, "config", "--file", own, "credential.helper", helper)
    remotes.fetch(Git(top))
    assert git(top, "rev-parse", "origin/main") == git(top, "rev-parse", "main")
    git(top, "config", "--file", own, "credential.helper", helper.replace("secret", "wrong"))
    with pytest.raises(GitError, match="credential helpers"):
        remotes.fetch(Git(top))


@pytest.fixture
def slow(top: Path, tmp_path: Path) -> Path:
    """A remote that says something, and then waits until it is let on (the fifo)."""
    far = tmp_path / "far.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(far))
    git(top, "remote", "add", "origin", str(far))
    os.mkfifo(tmp_path / "fifo")
    hook = far / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\necho 'looking it over'\nread line < {tmp_path}/fifo\necho \"$line\"\n")
    hook.chmod(0o755)
    return tmp_path / "fifo"


def test_words_of_a_remote_are_heard_as_they_come(top: Path, ours: Git, slow: Path) -> None:
    heard: list[str] = []

    def hear(said: str) -> None:
        if "looking it over" in said and not heard:
            heard.append(said)
            slow.write_text("go on\n")

    said = remotes.push(ours, Watch(hear))
    assert "remote: go on" in said
    assert "go on" not in heard[0]
    assert status(ours).upstream == "origin/main"


def test_a_push_is_stopped(top: Path, ours: Git, slow: Path) -> None:
    def hear(said: str) -> None:
        if "looking it over" in said:
            watch.stop()

    watch = Watch(hear)
    with pytest.raises(GitError, match=r"^Stopped\.$"):
        remotes.push(ours, watch)
    assert git(slow.parent / "far.git", "for-each-ref") == ""


def test_what_was_stopped_before_it_began(top: Path, ours: Git, slow: Path) -> None:
    watch = Watch(lambda _: None)
    watch.stop()
    with pytest.raises(GitError, match=r"^Stopped\.$"):
        remotes.push(ours, watch)


@pytest.mark.proc
def test_a_lock_of_the_configuration_says_who_holds_it(top: Path, ours: Git) -> None:
    (top / ".git" / "config.lock").touch()
    with pytest.raises(GitError, match=r"could not lock config file(.*\n)+No running program has it open"):
        ours.write("config", "user.name", "x")


def test_a_tag_is_pushed_and_deleted_there_alone(top: Path, ours: Git, far: Path) -> None:
    for name in ("v1", "v2"):
        tags.make(ours, name, "With a message")
    seen = {tag.name: tag.address for tag in tags.tags(ours)}
    with pytest.raises(GitError, match="or it is another"):
        remotes.push_tags(ours, ref="refs/tags/v1", seen=seen["v2"])
    remotes.push_tags(ours, ref="refs/tags/v1", seen=seen["v1"])
    assert git(far, "tag").split() == ["v1"]
    remotes.push_tags(ours)
    assert git(far, "tag").split() == ["v1", "v2"]
    remotes.delete(ours, ref="refs/tags/v1", seen=seen["v1"])
    assert git(far, "tag").split() == ["v2"]
    assert git(top, "tag").split() == ["v1", "v2"]


def test_what_is_another_there_is_neither_replaced_nor_deleted(top: Path, ours: Git, far: Path) -> None:
    git(top, "push", "-q", "origin", "main", "main:refs/tags/v1", "main:refs/heads/topic")
    git(top, "fetch", "-q", "--no-tags")
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    git(top, "push", "-q", "origin", "main:topic")
    git(top, "update-ref", "refs/remotes/origin/topic", "main~1")  # what was heard of it last
    tags.make(ours, "v1")
    (tag,) = tags.tags(ours)
    before = git(far, "for-each-ref")
    for ref, seen, act in (
        (tag.ref, tag.address, remotes.push_tags),
        (tag.ref, tag.address, remotes.delete),
        ("refs/remotes/origin/topic", git(top, "rev-parse", "main~1").strip(), remotes.delete),
    ):
        with pytest.raises(GitError, match=r"already exists|stale info"):
            act(ours, ref=ref, seen=seen)
    assert git(far, "for-each-ref") == before


def test_a_branch_is_deleted_at_its_remote(top: Path, ours: Git, far: Path) -> None:
    git(top, "switch", "-qc", "topic/deep")
    git(top, "commit", "-q", "--allow-empty", "-m", "Only there")
    git(top, "push", "-q", "origin", "main", "topic/deep")
    git(top, "switch", "-q", "main")
    ref, seen = "refs/remotes/origin/topic/deep", git(top, "rev-parse", "topic/deep").strip()
    assert branches.only_there(ours, ref) == []
    git(top, "branch", "-qD", "topic/deep")
    assert [line.split(" ", 1)[1] for line in branches.only_there(ours, ref)] == ["Only there"]
    remotes.delete(ours, ref=ref, seen=seen)
    assert git(far, "branch", "--format=%(refname:short)").split() == ["main"]
    assert git(top, "branch", "--remotes", "--format=%(refname:short)").split() == ["origin/main"]
    for ref in ("refs/remotes/origin/topic/deep", "refs/remotes/none/main", "refs/heads/main", "--all", ""):
        with pytest.raises(GitError, match="no such branch"):
            remotes.delete(ours, ref=ref, seen=seen)


def test_without_a_remote_no_tag_is_pushed(ours: Git) -> None:
    tags.make(ours, "v1")
    with pytest.raises(GitError, match="no remote"):
        remotes.push_tags(ours)
