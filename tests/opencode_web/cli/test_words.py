"""OpenCode's words for what is here under another name, or is only told."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from opencode_web.cli.arguments import parse
from tests.programs import without_javascript
from tests.server import ROOT, Server


@pytest.fixture
def server(tmp_path: Path) -> Server:
    for name in ("home", "project/.opencode/plugins", "project/.opencode/skills/look"):
        (tmp_path / name).mkdir(parents=True)
    return Server(tmp_path / "home", tmp_path / "project")


def out(server: Server, *arguments: str) -> str:
    done = server.command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_web_opens_the_page_as_no_command_does() -> None:
    words, bare = parse(["web", "./x", "--no-open"]), parse(["./x", "--no-open"])
    assert vars(words) == vars(bare)


def test_providers_is_another_name_of_auth(server: Server) -> None:
    assert out(server, "providers", "list") == out(server, "auth", "list")


def test_plugins_are_listed_loaded_or_not(server: Server, tmp_path: Path) -> None:
    server.environ = without_javascript(tmp_path / "programs")
    assert "no plugins" in out(server, "plugin")
    for name in ("mine.py", "guard.ts"):
        (server.project / ".opencode/plugins" / name).touch()
    own = server.home / ".config/opencode/tools/own.py"
    own.parent.mkdir(parents=True)
    own.touch()
    lines = out(server, "plugin").splitlines()
    for name, state in (
        ("own.py", "loaded"),
        ("mine.py", "waits until you trust"),
        ("guard.ts", "not loaded: it takes Bun"),
    ):
        [line] = [line for line in lines if name in line]
        assert state in line


def test_the_database_is_found_checked_and_backed_up(server: Server, tmp_path: Path) -> None:
    assert out(server, "session", "list") == ""
    assert out(server, "db", "path").strip() == str(server.data / "db.sqlite3")
    assert out(server, "db", "check") == out(server, "doctor")
    out(server, "db", "backup", str(tmp_path / "copy"))
    assert (tmp_path / "copy/db.sqlite3").is_file()


def test_upgrade_tells_how_and_does_nothing(server: Server) -> None:
    assert "does not upgrade itself" in out(server, "upgrade")
    assert not server.data.exists() or os.listdir(server.data) == ["log"]


def test_what_the_program_sees_is_json(server: Server) -> None:
    skill = "---\nname: look\ndescription: Looks.\n---\nLook well.\n"
    (server.project / ".opencode/skills/look/SKILL.md").write_text(skill)
    (server.project / "a.py").write_text("answer = 42\n")
    found = json.loads(out(server, "debug", "skill"))
    assert ("look", "Looks.") in [(item["name"], item["description"]) for item in found]
    [match] = json.loads(out(server, "debug", "rg", "search", "answ.r"))
    assert (match["path"]["text"], match["line_number"]) == ("a.py", 1)
    assert "a.py" in out(server, "debug", "rg", "files").splitlines()
    assert json.loads(out(server, "debug", "file", "read", "a.py"))["content"] == "answer = 42\n"
    assert "a.py" in [node["name"] for node in json.loads(out(server, "debug", "file", "list", "."))]
    assert json.loads(out(server, "debug", "file", "search", "ap")) == ["a.py"]
    assert server.command("debug", "file", "read", "../home").returncode == 1
    assert server.command("debug", "lsp", "document-symbols", "b.py").returncode == 1
    assert json.loads(out(server, "debug", "lsp", "document-symbols", "a.py")) == []
    assert json.loads(out(server, "debug", "lsp", "diagnostics", "a.py")) == {
        str(server.project / "a.py"): []
    }


def test_the_symbols_of_a_project_are_told_by_its_servers(server: Server) -> None:
    assert json.loads(out(server, "debug", "lsp", "symbols", "greet")) == []
    command = [sys.executable, str(ROOT / "tests/agents/servers/lsp/uses/finder.py")]
    server.config = {"lsp": {"finder": {"command": command, "extensions": [".find"]}}}
    (server.project / "a.find").write_text("something\ndef greet\n")
    (server.project / "b.txt").write_text("def greet_nobody\n")
    [found] = json.loads(out(server, "debug", "lsp", "symbols", "greet"))
    assert (found["name"], found["location"]["uri"]) == ("greet", (server.project / "a.find").as_uri())


def test_logs_are_printed_from_a_level_on(server: Server) -> None:
    (server.project / ".opencode/plugins/guard.ts").touch()
    assert " WARNING agents" in server.command("debug", "config", "--print-logs").stderr
    assert " WARNING " not in server.command("debug", "config", "--print-logs", "--log-level", "ERROR").stderr
