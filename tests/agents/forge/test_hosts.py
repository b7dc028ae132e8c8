"""Which forges are known, and where their tokens come from."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from agents.forge import hosts
from agents.forge.hosts import Host
from agents.forge.shapes import ForgeError


def test_the_public_ones_are_known_without_a_token() -> None:
    assert {name: host.kind for name, host in hosts.hosts().items()} == {
        "github.com": "github",
        "gitlab.com": "gitlab",
        "codeberg.org": "forgejo",
    }
    assert not any(host.token for host in hosts.hosts().values())


def test_a_token_of_the_environment_goes_to_one_host_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "gh-token")
    monkeypatch.setenv("GITEA_TOKEN", "tea-token")
    known = hosts.hosts()
    assert (known["github.com"].token, known["github.com"].detail) == ("gh-token", "GITHUB_TOKEN")
    assert known["codeberg.org"].token == "tea-token"
    own = "forgejo=https://git.example.org/ github=ftp://no gitlab nonsense=https://x.example"
    monkeypatch.setenv("OPENCODE_WEB_FORGES", own)
    known = hosts.hosts()
    assert known["git.example.org"].token == "tea-token"
    assert known["codeberg.org"].token == "", "which the token was not given for"
    assert set(known) == {"github.com", "gitlab.com", "codeberg.org", "git.example.org"}


def test_a_kept_token_is_in_a_private_file_and_can_be_forgotten(nobody_is_signed_in: Path) -> None:
    hosts.keep(hosts.checked("gitlab", "git.example.org/", " a-secret-token "))
    file = nobody_is_signed_in / "forges.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {
        "git.example.org": {"kind": "gitlab", "address": "https://git.example.org", "token": "a-secret-token"}
    }
    host = hosts.hosts()["git.example.org"]
    assert (host.by, host.token) == ("kept", "a-secret-token")
    assert "a-secret-token" not in repr(host)
    hosts.forget("git.example.org")
    assert "git.example.org" not in hosts.hosts()


def test_a_kept_token_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "of-the-environment")
    hosts.keep(hosts.checked("github", "https://github.com", "kept"))
    assert hosts.hosts()["github.com"].token == "kept"


@pytest.mark.parametrize(
    ("kind", "address", "token", "words"),
    [
        ("svn", "https://git.example.org", "t", "what kind"),
        ("github", "", "t", "no address"),
        ("github", "https://me:secret@git.example.org", "t", "no address"),
        ("github", "https://git.example.org?x=1", "t", "no address"),
        ("github", "http://git.example.org", "t", "https://"),
        ("github", "https://git.example.org:port", "t", "no address"),
        ("github", "https://git.example.org", " ", "empty"),
        ("github", "https://git.example.org", "a\nb", "no token"),
    ],
)
def test_what_is_no_forge_is_refused(kind: str, address: str, token: str, words: str) -> None:
    with pytest.raises(ForgeError, match=words):
        hosts.checked(kind, address, token)


SCRIPTS = {
    "gh": 'test "$*" = "auth token --hostname github.com" && echo gh-secret',
    "glab": 'test "$*" = "config get token --host gitlab.com" && echo glab-secret',
    "tea": 'read a; read b; test "$*" = "login helper get" && test "$b" = host=git.acme.example && '
    'printf "protocol=https\\n%s\\nusername=me\\npassword=tea-secret\\n" "$b"',
}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The forges' own programs, each signed in at one host."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in SCRIPTS.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.usefixtures("programs")
def test_programs_are_asked_where_there_is_no_other_token() -> None:
    known = hosts.hosts()
    assert hosts.with_token(known["github.com"]).token == "gh-secret"
    assert hosts.with_token(known["gitlab.com"]).detail == "glab"
    assert hosts.with_token(known["codeberg.org"]) == known["codeberg.org"]
    own = Host("github", "https://github.com", "mine", "kept")
    assert hosts.with_token(own) is own
    found = hosts.by_program("git.acme.example")
    assert found == Host("forgejo", "https://git.acme.example", "tea-secret", "program", "tea")
    assert hosts.by_program("elsewhere.example") is None


def test_programs_are_given_no_token_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gh gives `GH_ENTERPRISE_TOKEN` for whichever host it is asked about, and a remote may name any."""
    script = tmp_path / "gh"
    script.write_text('#!/bin/sh\necho "$GH_ENTERPRISE_TOKEN"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "secret")
    assert hosts.by_program("git.evil.example") is None
