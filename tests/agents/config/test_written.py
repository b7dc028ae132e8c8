"""The sources of a configuration, each by itself: who may write it, and what of it waits for trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.config.problem import Refused
from agents.config.writing import change, preview
from agents.config.written import written

SERVER = {"mcp": {"x": {"type": "local", "command": ["{env:WHICH}"]}}}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    for name in ("project", "config/opencode"):
        (tmp_path / name).mkdir(parents=True)
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    return {**home, "XDG_DATA_HOME": str(tmp_path / "data"), "WHICH": "server"}


def test_each_source_as_it_is_written(tmp_path: Path, environ: dict[str, str]) -> None:
    own, project = tmp_path / "config" / "opencode", tmp_path / "project"
    (own / "config.json").write_text('{"model": "far"}')
    (own / "opencode.jsonc").write_text('{"model": "near"} // comment')
    (project / "opencode.json").write_text(json.dumps(SERVER))
    environ["OPENCODE_CONFIG_CONTENT"] = '{"model": "nearest"}'
    found = [
        (item.file, item.own, item.writable, item.held, item.values) for item in written(project, environ)
    ]
    assert found == [
        (own / "config.json", True, False, False, {"model": "far"}),
        (own / "opencode.jsonc", True, True, False, {"model": "near"}),
        (project / "opencode.json", False, True, True, SERVER),
        (Path("OPENCODE_CONFIG_CONTENT"), True, False, False, {"model": "nearest"}),
    ]


def test_what_the_person_wrote_is_not_held(tmp_path: Path, environ: dict[str, str]) -> None:
    change(tmp_path / "project", SERVER, environ)
    (item,) = written(tmp_path / "project", environ)
    assert (item.writable, item.held) == (True, False)


def test_what_cannot_be_read_is_left_out(tmp_path: Path, environ: dict[str, str]) -> None:
    own, project = tmp_path / "config" / "opencode", tmp_path / "project"
    (own / "opencode.json").write_text("[1]")
    (project / "opencode.json").write_bytes(b"\xff{")
    (project / "opencode.jsonc").write_text("[" * 5000)
    environ["OPENCODE_CONFIG_CONTENT"] = "{"
    assert written(project, environ) == []
    assert written(tmp_path / "nowhere", environ) == []


def test_a_preview_says_what_would_count_and_writes_nothing(tmp_path: Path, environ: dict[str, str]) -> None:
    file = tmp_path / "config" / "opencode" / "opencode.json"
    file.write_text('{"mcp": {"x": {"type": "local", "command": ["a"], "environment": {"KEY": "secret"}}}}')
    before = file.read_text()
    patch = {"mcp": {"x": {"command": ["{env:WHICH}"], "environment": {"KEY": "…"}}}}
    values = preview(None, patch, environ)
    assert values["mcp"]["x"]["command"] == ["server"]
    assert values["mcp"]["x"]["environment"] == {"KEY": "secret"}
    with pytest.raises(Refused, match="command"):
        preview(None, {"mcp": {"x": {"command": "no list"}}}, environ)
    assert file.read_text() == before
