"""Everyday work goes on confined, and leaves nothing behind that is not its own."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
from pathlib import Path

import pytest

from agents.toolkit.sandbox import door, probe
from agents.toolkit.sandbox.policy import CannotConfine, policy
from sessions.core import paths
from tests.agents.toolkit.sandbox.scene import LOOT, Scene, is_gone

pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
SERVED = (
    "from http.server import *; from threading import Thread; from urllib.request import urlopen; "
    "s = HTTPServer(('127.0.0.1', 0), SimpleHTTPRequestHandler); Thread(target=s.handle_request).start(); "
    "print(urlopen(f'http://127.0.0.1:{s.server_port}').status)"
)
IDENTITY = "-c user.name=A -c user.email=a@example.org"


@pytest.fixture(autouse=True)
def laid_out(place: Scene) -> None:
    place.lay_out()


@pytest.mark.parametrize(
    "line",
    [
        f"echo a > a.txt && git add a.txt && git {IDENTITY} commit -qm Two && git log --oneline | grep Two",
        "git switch -qc topic && git branch | grep topic && git stash list && git gc -q",
        "git worktree add -q tree && cd tree && git status -sb",
        "printf 'all: a b\\na b:\\n\\techo $@ > $@\\n' > Makefile && make -sj2 && cat a b",
        "python3 -c \"import sqlite3; sqlite3.connect('x.db').execute('create table t (a)')\" && ls x.db",
        f'python3 -c "{SERVED}" | grep 200',
        "echo cached > ~/.cache/kept && cat ~/.cache/kept",
        'T=$(mktemp) && echo x > $T && cat $T && [ "$TMPDIR" = /tmp ]',
        "cat ~/.ssh/known_hosts | grep known",
        "mkdir -p .idea2 && echo x > .idea2/x && mkdir -p src && echo x > src/opencode.json",
        f"{sys.executable} -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'",
        "node -e 'console.log(1 + 1)' | grep 2",
        "id -un && test -w . && test ! -w /etc",
    ],
)
async def test_it_works(place: Scene, line: str) -> None:
    said, ended = await place.run(line, "offline")
    assert ended.exit_code == 0, said


async def test_the_environment_of_this_program_is_not_written(
    place: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.work / "env").mkdir()
    (place.work / "env" / "program").write_text("ours\n")
    monkeypatch.setattr(sys, "executable", os.path.realpath(sys.executable))
    monkeypatch.setattr(sys, "prefix", str(place.work / "env"))
    said, _ = await place.run(
        "cat env/program; echo theirs > env/program; touch env/other; mv env away", "offline"
    )
    assert said.startswith("ours\n")
    assert [path.name for path in (place.work / "env").iterdir()] == ["program"]
    assert (place.work / "env" / "program").read_text() == "ours\n"


async def test_a_linked_worktree_is_a_workspace(place: Scene) -> None:
    line = f"echo b > b && git add b && git {IDENTITY} commit -qm Three && git log --oneline | grep Three"
    said, ended = await place.run(line, "offline", folder="linked")
    assert ended.exit_code == 0, said
    said, ended = await place.run(f"echo x > {place.work}/x || git config a.b c", "offline", folder="linked")
    assert ended.exit_code != 0, "the other working tree, and git's configuration, are held"


async def test_what_stands_in_is_gone_with_the_last_program(place: Scene) -> None:
    before = sorted(os.listdir(place.work))
    waiting = "while [ ! -e go ]; do sleep 0.05; done; echo x > opencode.json; echo done > gone"
    line = f"ls -a; (setsid sh -c '{waiting}' &) ; true"
    said, _ = await place.run(line, "offline")
    assert "opencode.json" in said
    assert (place.work / "opencode.json").is_dir(), "a program in the background could still write it"
    other, _ = await place.run("echo x > .envrc; echo x > .vscode/tasks.json; true", "offline")
    assert "Is a directory" in other or "Read-only" in other
    (place.work / "go").touch()
    assert await asyncio.to_thread(is_gone, place.work / "opencode.json")
    assert sorted(set(os.listdir(place.work)) - {"go", "gone"}) == before
    assert not (place.work / ".git/commondir").exists()


async def test_what_stands_in_and_was_removed_meanwhile_stands_in_anew(place: Scene) -> None:
    waiting = "while [ ! -e go ]; do sleep 0.05; done"
    await place.run(f"(setsid sh -c '{waiting}' &) ; true", "offline")
    (place.work / ".claude").rmdir()  # as `git clean` of a person does
    said, ended = await place.run("echo x > .claude; test -d .claude && echo held", "offline")
    assert (ended.exit_code, said.splitlines()[-1]) == (0, "held")
    (place.work / "go").touch()
    assert await asyncio.to_thread(is_gone, place.work / ".claude")


async def test_nothing_outlives_a_stop(place: Scene) -> None:
    line = (
        "(setsid sh -c 'echo $$ > pid; sleep 3; echo x > survived' </dev/null >/dev/null 2>&1 &) ; sleep 30"
    )
    _, ended = await place.run(line, "offline", seconds=1)
    assert ended.ending == "timeout"
    assert (place.work / "pid").exists()
    assert await asyncio.to_thread(is_gone, place.work / "opencode.json"), (
        "what stands in, with the last of it"
    )
    assert not (place.work / "survived").exists()


async def test_the_next_server_takes_away_what_a_killed_one_left(place: Scene) -> None:
    (place.work / ".mcp.json").mkdir()
    (place.work / ".git/commondir").write_text(".\n")
    (place.work / ".envrc").write_text("a person's")
    left = [place.work / name for name in (".mcp.json", ".git/commondir", ".envrc")]
    note = paths.data_directory() / "standing-in" / "killed"
    note.parent.mkdir(exist_ok=True)
    note.write_text("\0".join(map(str, left)))
    with note.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        door.recover()
        assert [path.exists() for path in left] == [True, True, True], "its process lives"
    door.recover()
    assert [path.exists() for path in left] == [False, False, True]
    assert not note.exists()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("echo x > ../elsewhere/x", ("../elsewhere/x",)),
        ("echo x > .git/hooks/pre-commit", (".git/hooks/pre-commit",)),
        ("touch ../elsewhere/a '../elsewhere/b c'", ("../elsewhere/a", "../elsewhere/b c")),
        ("python3 -c \"open('/etc/made', 'w')\"", ("/etc/made",)),
        ("node -e \"require('fs').writeFileSync('/etc/made', '')\"", ("/etc/made",)),
        ("mkdir ~/made", ("$HOME/made",)),
        ("cp a.txt opencode.json/x; ls ../elsewhere/none; false", ("opencode.json/x",)),
        ("echo 'Read-only file system: ./a.txt' >&2; false", ()),
    ],
)
async def test_where_it_was_not_let_write_is_told(place: Scene, line: str, names: tuple[str, ...]) -> None:
    (place.work / "a.txt").write_text("a\n")
    _, ended = await place.run(line, "offline")
    assert ended.exit_code
    assert ended.unwritten == tuple(name.replace("$HOME", str(place.home)) for name in names)


async def test_git_says_that_ssh_does_not_get_out(place: Scene) -> None:
    said, ended = await place.run("git ls-remote git@git.example:a/b.git", "project")
    assert ended.exit_code != 0
    assert "Refused by the sandbox: SSH does not get out." in said


async def test_an_added_folder_is_seen_and_held_without_its_secrets(place: Scene) -> None:
    folder = place.home / ".config"
    (folder / "notes").write_text("seen\n")
    line = "cat ~/.config/notes ~/.config/gh/hosts.yml; echo x > ~/.config/notes"
    said, ended = await place.run(line, "offline", added=[folder])
    assert "seen" in said
    assert LOOT not in said
    assert (ended.exit_code, (folder / "notes").read_text()) == (1, "seen\n")


async def test_a_link_that_came_in_the_place_of_an_added_folder_shows_nothing(place: Scene) -> None:
    (place.home / "library").symlink_to(place.home / ".ssh")
    said, _ = await place.run("cat ~/library/id_ed25519", "offline", added=[place.home / "library"])
    assert LOOT not in said


async def test_a_home_is_no_workspace(place: Scene) -> None:
    for folder in (place.home, place.root, Path("/")):
        with pytest.raises(CannotConfine, match="home folder"):
            policy([folder], place.elsewhere)


def test_a_folder_of_ours_that_cannot_be_made_hinders_no_program(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "data")}
    (paths.data_home(environ) / "opencode-web").mkdir(parents=True)
    (paths.data_home(environ) / "opencode-web" / "tool-output").write_text("a file is in the way")
    (tmp_path / "project").mkdir()
    around = policy([tmp_path / "project"], tmp_path / "scratch", environ=environ)
    assert paths.skills(environ) in around.shown


async def test_without_a_sandbox_nothing_runs(place: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "found", lambda: probe.Found("none", words="there is none."))
    with pytest.raises(door.Refused, match="there is none"):
        await place.run("echo x > ran", "offline")
    assert not (place.work / "ran").exists()


async def test_its_exit_code_and_its_signal_are_told(place: Scene) -> None:
    _, ended = await place.run("exit 3", "offline")
    assert ended.exit_code == 3
    _, ended = await place.run(f"kill -{int(signal.SIGKILL)} $$", "offline")
    assert ended.exit_code == -signal.SIGKILL
