"""What of OpenCode's `keybinds` has a meaning here, and as which keys of a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.config.keybinds import MEANINGS, keybinds
from agents.config.loader import load
from sessions.core.above import Keybind
from sessions.web.keys import written
from sessions.web.shortcuts import SHORTCUTS


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "opencode").mkdir()
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}


def write(environ: dict[str, str], name: str, **keys: Any) -> None:
    (Path(environ["XDG_CONFIG_HOME"]) / "opencode" / name).write_text(json.dumps({"keybinds": keys}))


def one(environ: dict[str, str], value: Any, name: str = "session_new", **others: Any) -> Keybind:
    write(environ, "opencode.json", **{name: value}, **others)
    [found] = keybinds(environ)
    return found


def test_each_meaning_is_something_of_the_table_that_can_be_changed() -> None:
    assert {name for name in MEANINGS.values() if SHORTCUTS[name].fixed} == set()
    assert len(set(MEANINGS.values())) == len(MEANINGS)


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ("<leader>n", ("Ctrl+x n",)),
        ("ctrl+p,super+p", ("Ctrl+p", "Meta+p")),
        ("none", ()),
        (False, ()),
        ("", ()),
        (["<leader>y", "ctrl+shift+c"], ("Ctrl+x y", "Ctrl+Shift+c")),
        ({"key": "ctrl+v", "preventDefault": False}, ("Ctrl+v",)),
        ("shift+return", ("Shift+Enter",)),
        ("<leader>down", ("Ctrl+x ArrowDown",)),
        ("alt+meta+f2", ("Alt+F2",)),
        ("pageup,ctrl+alt+b", ("PageUp", "Ctrl+Alt+b")),
        ("shift+i", ("I",)),
        ("E", ("E",)),
    ],
    ids=str,
)
def test_values_are_read_as_opencode_reads_them(
    environ: dict[str, str], value: Any, keys: tuple[str, ...]
) -> None:
    found = one(environ, value)
    assert found == Keybind("new", keys, "opencode.json")
    assert [written(way) for way in found.keys] == list(keys)


def test_the_leader_is_what_the_configuration_says(environ: dict[str, str]) -> None:
    assert one(environ, "<leader>n", leader="ctrl+space").keys == ("Ctrl+Space n",)
    assert one(environ, "<leader>n", leader="none").strange == ("<leader>n",)


def test_what_no_browser_has_is_told(environ: dict[str, str]) -> None:
    assert one(environ, "hyper+n,ctrl+n") == Keybind("new", ("Ctrl+n",), "opencode.json", ("hyper+n",))


def test_escape_stops_when_it_is_pressed_twice_as_there(environ: dict[str, str]) -> None:
    assert one(environ, "escape,ctrl+g", "session_interrupt").keys == ("Escape Escape", "Ctrl+g")


def test_what_has_no_meaning_here_is_left_out(environ: dict[str, str]) -> None:
    write(environ, "opencode.json", theme_list="<leader>t", app_exit="ctrl+c")
    assert keybinds(environ) == ()


def test_the_nearest_file_counts_and_one_that_changed_is_read_again(environ: dict[str, str]) -> None:
    write(environ, "opencode.json", session_new="ctrl+a", model_list="ctrl+b", leader="ctrl+g")
    write(environ, "tui.json", session_new="<leader>q")
    found = {each.name: each for each in keybinds(environ)}
    assert found["new"] == Keybind("new", ("Ctrl+g q",), "tui.json")
    assert found["models"] == Keybind("models", ("Ctrl+b",), "opencode.json")
    write(environ, "tui.json", session_new="ctrl+shift+u")
    assert next(each for each in keybinds(environ) if each.name == "new").keys == ("Ctrl+Shift+u",)


def test_a_repository_says_nothing_of_keys(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "opencode.json").write_text(json.dumps({"keybinds": {"session_share": "a"}}))
    monkeypatch.chdir(project)
    assert keybinds(environ) == ()


@pytest.mark.parametrize("text", ["{", '{"keybinds": 1}', "[]", '{"keybinds": {"session_new": 3}}', "\xff"])
def test_what_cannot_be_read_says_nothing(environ: dict[str, str], text: str) -> None:
    folder = Path(environ["XDG_CONFIG_HOME"]) / "opencode"
    (folder / "tui.json").write_text(text, "latin-1")
    assert keybinds(environ) == ()


def test_they_are_no_longer_told_to_be_ignored(environ: dict[str, str]) -> None:
    write(environ, "opencode.json", session_new="ctrl+a")
    assert load(None, environ).problems == []
