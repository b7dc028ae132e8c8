"""`opencode-web export`: its forms, where they go, and what it refuses."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from opencode_web.cli.arguments import parse
from opencode_web.cli.commands import transfer
from opencode_web.cli.terminal import Stop
from sessions.core.db import in_db_sync
from sessions.core.store import importing
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status
from tests.sessions.transfer import making

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {"info": making.prompt(), "parts": [making.part("0", making.PROMPT, text="password=abcdefgh")]}


@pytest.fixture(autouse=True)
def imported() -> None:
    in_db_sync(importing.put, making.session("/home/me/flows"), [ASKED], [])


def run(*arguments: object) -> None:
    transfer.export_session(parse(["export", *map(str, arguments)]), Path())


def test_it_prints_json_or_another_form(capsys: pytest.CaptureFixture[str]) -> None:
    run(making.SESSION)
    assert json.loads(capsys.readouterr().out)["messages"] == [ASKED]
    run(making.SESSION, "--format", "markdown", "--redact")
    out = capsys.readouterr().out
    assert out.startswith("# Flows\n")
    assert "password=[redacted]" in out


def test_a_file_is_its_owners_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "out.html"
    page.write_text("before")
    run(making.SESSION, "--format", "html", "--output", page)
    assert "password=abcdefgh" in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [page]
    assert capsys.readouterr().out == ""


def test_into_a_folder_each_session_is_a_file(tmp_path: Path) -> None:
    child = making.session("/home/me/flows", making.CHILD, parentID=making.SESSION)
    in_db_sync(importing.put, child, [], [])
    run(making.SESSION, "--output", tmp_path)
    files = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert set(files) == {f"{making.SESSION}.json", f"{making.CHILD}.json"}
    assert files[f"{making.CHILD}.json"]["info"]["parentID"] == making.SESSION
    assert all("children" not in file for file in files.values())
    words = files[f"{making.CHILD}.json"]["info"]["title"]
    run(making.SESSION, "--output", tmp_path, "--sanitize")
    assert all(words not in path.read_text() for path in tmp_path.iterdir())


def test_a_file_system_without_modes_takes_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """vfat refuses the modes that it cannot show."""

    def only_what_it_has(file: int, mode: int) -> None:
        if mode != stat.S_IMODE(os.fstat(page).st_mode):
            raise PermissionError(errno.EPERM, "Operation not permitted")

    out = tmp_path / "out.md"
    out.touch(0o644)
    page = os.open(out, os.O_RDONLY)
    monkeypatch.setattr(os, "fchmod", only_what_it_has)
    run(making.SESSION, "--format", "markdown", "--output", out)
    run(making.SESSION, "--format", "markdown", "--output", tmp_path / "new.md")
    os.close(page)
    assert out.read_text().startswith("# Flows\n")
    assert (tmp_path / "new.md").read_text() == out.read_text()


def test_a_session_at_work_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    in_db_sync(session_store.set_status, making.SESSION, Status(type="busy"))
    run(making.SESSION)
    captured = capsys.readouterr()
    assert "at work" in captured.err
    json.loads(captured.out)


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="there is no session ses_nothing"):
        run("ses_nothing")
    with pytest.raises(Stop, match="cannot be written: No such file"):
        run(making.SESSION, "--output", tmp_path / "gone" / "x.json")
