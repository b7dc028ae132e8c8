"""`opencode-web session search`: what it finds in the folder's project, and in all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencode_web.cli.arguments import parse
from opencode_web.cli.commands import conversations
from opencode_web.cli.terminal import Stop
from sessions.core.db import in_db_sync
from sessions.core.store import index
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


def run(folder: Path, *arguments: str) -> None:
    conversations.search(parse(["session", "search", *arguments]), folder)


async def talked(folder: Path) -> str:
    talk = await Talk.begin(folder, title=folder.name)
    await talk.prompt("Where is\x1b[31m the quokka?")
    return talk.session.id


async def test_of_the_folder_and_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = await talked(tmp_path / "here"), await talked(tmp_path / "there")
    await index_is_behind()
    run(tmp_path / "here", "quokka")
    out = capsys.readouterr().out
    assert here in out
    assert there not in out
    assert "\x1b" not in out
    run(tmp_path / "here", "--all", "--format", "json", "the quokka")
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [match["sessionID"] for match in found] == [there, here]
    assert [piece["text"] for piece in found[0]["snippet"] if piece["marked"]] == ["the quokka"]


async def index_is_behind() -> None:
    in_db_sync(index.start_over)


async def test_nothing_and_nonsense(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await talked(tmp_path / "here")
    run(tmp_path / "here", "wombat")
    assert "nothing was found" in capsys.readouterr().err
    with pytest.raises(Stop, match="No project is called"):
        run(tmp_path / "here", "project:nowhere")
