"""What OpenCode or another program reads and this one does not is named, wherever that would read it from."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from agents.config import javascript, unused
from agents.config.javascript import Runtime
from agents.config.loader import load
from agents.config.unused import told_of


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The user's own configuration folder."""
    return tmp_path / "home/.config/opencode"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither Bun nor Node.js is there."""
    monkeypatch.setattr(javascript, "found", lambda: None)


def write(file: Path, text: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.usefixtures("alone")
def test_each_plugin_and_tool_is_named(
    project: Path, own: Path, environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    files = [
        own / "plugin/own.js",
        project / ".opencode/plugins/guard.ts",
        project / ".opencode/tool/adder.ts",
        project / ".opencode/tools/.hidden.js",
    ]
    for file in (*files, project / ".opencode/plugins/ours.py", project / ".opencode/plugins/package.json"):
        write(file)
    named = ["opencode-wakatime", ["./local.ts", {"key": "secret-of-mine"}], 7]
    write(project / "opencode.json", json.dumps({"model": "a/b", "plugin": named}))
    with caplog.at_level(logging.WARNING):
        loaded = load(project, environ)
    assert [item.file for item in loaded.unused if not item.key] == files
    entries = [item for item in loaded.unused if item.key]
    assert [(item.file.name, item.line) for item in entries] == [("opencode.json", 1)] * 2
    said = "\n".join(map(str, loaded.unused))
    assert "opencode-wakatime" in said
    assert "./local.ts" in said
    assert "secret-of-mine" not in said
    assert {item.level for item in loaded.unused} == {"warning"}
    assert set(loaded.unused) <= set(loaded.problems)
    assert all(str(item) in caplog.text for item in loaded.unused)
    assert not loaded.unreadable


def test_only_what_nothing_here_can_run_is_named(
    project: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(javascript, "found", lambda: Runtime(("node",), typescript=False))
    for name in ("one.js", "two.mjs", "three.ts"):
        write(project / ".opencode/plugins" / name)
    write(project / "opencode.json", json.dumps({"plugin": ["opencode-wakatime@1.0.0", "./local.js"]}))
    found = [told_of(item) for item in load(project, environ).unused]
    assert [(file.name, entry) for file, entry, _ in found] == [
        ("opencode.json", "'./local.js'"),
        ("three.ts", ""),
    ]
    assert ["there is no file" in found[0][2], "22.18" in found[1][2]] == [True, True]


def test_what_guards_nothing_is_noted(project: Path, own: Path, environ: dict[str, str]) -> None:
    home = Path(environ["HOME"])
    places = [own / "themes/mine.json", own / "tui.json", project / ".opencode/tui.json"]
    others = [home / ".claude/agents/a.md", project / ".claude/commands/go.md"]
    for file in (*places, *others, own / "themes/notes.txt", project / ".opencode/agents/a.md"):
        write(file)
    loaded = load(project, environ)
    noted = {item.file: item.message for item in loaded.unused}
    assert noted.keys() == {*places, *(file.parent for file in others)}
    assert noted[own / "tui.json"] != noted[project / ".opencode/tui.json"]
    assert {item.level for item in loaded.problems} == {"note"}


@pytest.mark.usefixtures("alone")
def test_one_that_is_added_or_removed_is_seen(project: Path, environ: dict[str, str]) -> None:
    file = project / ".opencode/plugin/late.ts"
    assert load(project, environ).unused == []
    write(file)
    assert [item.file for item in load(project, environ).unused] == [file]
    file.unlink()
    assert load(project, environ).unused == []


@pytest.mark.usefixtures("alone")
def test_what_was_dismissed_comes_back_when_the_list_changes(
    project: Path, tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    write(project / ".opencode/plugin/one.ts")
    found = load(project, environ).unused
    assert not unused.is_dismissed(project, found)
    unused.dismiss(project, unused.fingerprint(found))
    assert unused.is_dismissed(project, found)
    assert not unused.is_dismissed(tmp_path, found)
    write(project / ".opencode/plugin/two.ts")
    assert not unused.is_dismissed(project, load(project, environ).unused)


@pytest.mark.usefixtures("alone")
def test_a_broken_file_of_dismissals_hides_nothing(
    project: Path, tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    write(tmp_path / "data/opencode-web/unused.json", "no json")
    write(project / ".opencode/plugin/one.ts")
    assert not unused.is_dismissed(project, load(project, environ).unused)
