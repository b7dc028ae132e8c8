"""`keybinds` of OpenCode's configuration: the keys that have a meaning in a browser too.

They stand in `opencode.json` or in `tui.json` beside it, and count from the person's own files alone: the
keys are those of all projects, and no repository is to say what a key does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agents.config import jsonc
from agents.config.loader import sources
from agents.config.reader import MAX_FILE
from sessions.core import paths, variables
from sessions.core.above import Keybind
from sessions.core.bounded import Bounded
from sessions.core.confined import read_whole
from sessions.core.platform.stamps import Stamp, stamp

MEANINGS = {
    "agent_cycle": "next-agent",
    "agent_list": "agents",
    "command_list": "palette",
    "diff_next_file": "file-next",
    "diff_next_hunk": "hunk-next",
    "diff_open": "changes",
    "diff_previous_file": "file-previous",
    "diff_previous_hunk": "hunk-previous",
    "diff_toggle_view": "review-split",
    "help_show": "help",
    "input_newline": "new-line",
    "input_submit": "send",
    "mcp_list": "mcp",
    "messages_copy": "copy",
    "messages_redo": "redo",
    "messages_undo": "undo",
    "model_favorite_toggle": "favourite",
    "model_list": "models",
    "session_compact": "compact",
    "session_export": "export",
    "session_fork": "fork",
    "session_interrupt": "stop",
    "session_list": "sessions",
    "session_new": "new",
    "session_rename": "rename",
    "session_share": "share",
    "session_timeline": "timeline",
    "sidebar_toggle": "fold-list",
}
"""OpenCode's names with those of `sessions.web.shortcuts`."""
_LEADER = "ctrl+x"
_HELD = {
    "ctrl": "Ctrl",
    "control": "Ctrl",
    "alt": "Alt",
    "meta": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "super": "Meta",
    "cmd": "Meta",
    "command": "Meta",
}
"""`meta` is what terminals call Alt."""
_ORDER = ("Ctrl", "Meta", "Alt", "Shift")
_KEYS = {
    "return": "Enter",
    "enter": "Enter",
    "escape": "Escape",
    "esc": "Escape",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Delete",
    "del": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "plus": "Plus",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}
_TWICE = "stop"
"""OpenCode asks for two presses of it whatever it is; here Escape alone closes things, and twice it stops."""

_cache: Bounded[tuple[Path, ...], tuple[dict[Path, Stamp], tuple[Keybind, ...]]] = Bounded(8)


def keybinds(environ: Mapping[str, str] = os.environ) -> tuple[Keybind, ...]:
    """Of the person's own files, the nearest last. Unchanged files are not read again."""
    files = tuple(_files(environ))
    stamps = {file: stamp(file) for file in files}
    known = _cache.get(files)
    if known is None or known[0] != stamps:
        known = _cache[files] = stamps, tuple(_read(file for file in files if stamps[file] is not None))
    return known[1]


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    yield from (source.path for source in sources(None, environ) if source.is_file)
    first, *beside = (
        [folder / "tui.json", folder / "tui.jsonc"] for folder in paths.config_directories(environ)
    )
    yield from first
    if named := variables.TUI_CONFIG.read(environ):
        yield Path(named).absolute()
    yield from (file for files in beside for file in files)


def _read(files: Iterator[Path]) -> Iterator[Keybind]:
    found: dict[str, tuple[Any, str]] = {}
    for file in files:
        found |= {name: (value, file.name) for name, value in _written(file).items()}
    leader = found.get("leader", (_LEADER, ""))[0]
    for name, meaning in MEANINGS.items():
        value, origin = found.get(name, (None, ""))
        if value is False or isinstance(value, (str, list, dict)):
            yield _keybind(meaning, value, origin, leader if isinstance(leader, str) else _LEADER)


def _written(file: Path) -> Mapping[str, Any]:
    try:
        value = jsonc.Document(read_whole(file, None, MAX_FILE).decode()).value
    except (OSError, UnicodeDecodeError, jsonc.JsoncError, RecursionError):
        return {}  # said where the configuration is read
    section = value.get("keybinds") if isinstance(value, dict) else None
    return section if isinstance(section, dict) else {}


def _keybind(meaning: str, value: Any, origin: str, leader: str) -> Keybind:
    texts = [text for text in _texts(value) if text not in ("", "none")]
    ways = {text: [_way(start, text) for start in _alternatives(leader)] for text in texts}
    strange = tuple(text for text, found in ways.items() if None in found)
    keys = dict.fromkeys(way for found in ways.values() for way in found if way)
    if meaning == _TWICE:
        keys = dict.fromkeys("Escape Escape" if way == "Escape" else way for way in keys)
    return Keybind(meaning, tuple(keys), origin, strange)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _alternatives(value)
    elif isinstance(value, dict):
        yield from _texts(value.get("key"))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _alternatives(value: str) -> list[str]:
    return [text.strip() for text in value.split(",")]


def _way(leader: str, text: str) -> str | None:
    """As the table has it; None for what no browser gives."""
    presses = [leader, text.removeprefix("<leader>")] if text.startswith("<leader>") else [text]
    chords = [_chord(press) for press in presses]
    return None if None in chords else " ".join(filter(None, chords))


def _chord(press: str) -> str | None:
    *held, key = press.strip().split("+")
    names = {_HELD.get(name.lower(), "") for name in held}
    named = _KEYS.get(key.lower()) or (key if len(key) == 1 and key.isprintable() and key != " " else "")
    if not named or "" in names:
        return None
    if len(named) == 1 and named.isalpha():
        if names - {"Shift"}:
            named = named.lower()
        elif names:  # held with a letter alone, Shift gives the capital
            names, named = set(), named.upper()
    return "+".join([*(name for name in _ORDER if name in names), named])
