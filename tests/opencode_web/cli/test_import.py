"""`opencode-web import`: what it says and asks, and how it ends."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opencode_web.cli.arguments import parse
from opencode_web.cli.commands import transfer
from opencode_web.cli.commands.transfer import Bar
from opencode_web.cli.terminal import Stop
from sessions.transfer.job import Progress
from sessions.transfer.reading.records import Problem
from tests.server import ROOT, Server
from tests.sessions.transfer import making

pytestmark = pytest.mark.django_db(transaction=True)

GONE = "/home/me/flows"


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.DATA_DIR = tmp_path / "ours"
    settings.DATA_DIR.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path


def run(*arguments: object) -> None:
    transfer.import_sessions(parse(["import", *map(str, arguments)]), Path())


def stopped(*arguments: object) -> tuple[int, str]:
    """The exit status and the reason."""
    with pytest.raises(Stop) as caught:
        run(*arguments)
    return caught.value.status, str(caught.value)


def test_it_shows_what_it_found_and_asks(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stopped() == (
        1,
        "no data of OpenCode is in the usual places; name its folder, its database or an export",
    )
    data = home / ".local" / "share" / "opencode"
    making.files(data, making.session(GONE), making.conversation(GONE))
    status, reason = stopped()
    assert (status, reason) == (2, "nothing was imported: nobody can be asked here, so add --yes")
    shown = capsys.readouterr().out
    assert "1 project, 1 session, 2 messages" in shown
    assert f"1  {GONE}" in shown
    run("--dry-run")
    assert capsys.readouterr().out.endswith("Dry run; sessions: 1 imported. Messages: 2.\n")
    run("--yes")
    assert capsys.readouterr().out.endswith("Sessions: 1 imported. Messages: 2.\n")
    run("--yes", "--project", GONE)
    assert capsys.readouterr().out.endswith("Sessions: 1 here already. Messages: 0.\n")
    assert stopped("--yes", "--project", "/elsewhere") == (1, "there is no such session to import")


def test_the_person_at_the_terminal_may_say_no(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = making.export(home / "x.json", making.session(GONE), [])
    answers = iter(["n", "y"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    assert stopped(path) == (1, "nothing was imported")
    run(path)
    assert "1 imported" in capsys.readouterr().out


def test_what_could_not_be_read_is_named_and_tells_by_the_status(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = making.files(home / "data", making.session(GONE), making.conversation(GONE))
    (storage / "part" / making.ANSWER / "prt_01.json").write_text('{"type": "to')
    (storage / "session" / "p1" / "ses_torn\x1b[31m.json").write_text("{")
    assert stopped(home / "data", "--yes")[0] == transfer.INCOMPLETE
    named = capsys.readouterr().err
    assert f"storage/part/{making.ANSWER}/prt_01.json: truncated JSON" in named
    assert "ses_torn?[31m.json: truncated JSON" in named
    assert "\x1b" not in named
    assert "1 of 1 sessions" in named


def test_a_source_that_is_none_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason, once."""
    (home / "x.json").write_text('{"hello": 1}')
    assert stopped(home / "gone")[0] == 2
    status, reason = stopped(home / "x.json", "--yes")
    assert status == 1
    assert "is no export of OpenCode" in reason
    assert capsys.readouterr() == ("", "")


def test_a_data_folder_that_cannot_be_written(home: Path) -> None:
    path = making.export(home / "x.json", making.session(GONE), [])
    (home / "ours" / "import.lock").mkdir()  # also for root, whom a mode does not stop
    status, reason = stopped(path, "--yes")
    assert (status, reason) == (1, f"{home / 'ours'} cannot be written: Is a directory")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_anything_else_lines() -> None:
    progress = Progress(total=4, done=2, current="Flows\x1b[31m\n")
    terminal, pipe = Terminal(), io.StringIO()
    for out in (terminal, pipe):
        bar = Bar(out)
        bar.tell(progress, None)
        bar.tell(progress, Problem("a", "is odd"))
        bar.end()
    assert f"{'█' * 12}{'·' * 12} 2/4 Flows?[31m?" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K  a: is odd\n")
    assert pipe.getvalue() == "  a: is odd\n"


@pytest.mark.long
def test_an_interrupted_one_goes_on(tmp_path: Path) -> None:
    for index in range(400):
        making.files(tmp_path / "data", making.session(GONE, f"ses_{index:04}"), [])
    environ = Server(tmp_path, tmp_path).environment()
    command = [sys.executable, "-m", "opencode_web", "import", str(tmp_path / "data"), "--yes"]
    background = ["sh", "-c", "trap '' INT; exec \"$@\"", "-"]  # as a script starts it with &
    process = subprocess.Popen(
        [*background, *command], env=environ, cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "100 of 400 sessions\n"
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait() == 130, rest
    assert "start it again" in rest
    again = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "here already" in again.stdout
    assert " imported, " in again.stdout
