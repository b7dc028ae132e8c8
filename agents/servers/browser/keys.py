"""Keys by the names of the DOM (`Enter`, `Control+a`) as Chromium wants to be told them."""

from __future__ import annotations

from typing import Any

_MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_OTHERWISE = {"Ctrl": "Control", "Cmd": "Meta", "Command": "Meta", "Esc": "Escape", "Return": "Enter"}
_NUMBERS = {
    **{"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35},
    **{"Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46},
    **{f"F{number}": 111 + number for number in range(1, 13)},
}
"""Of Windows, by which scripts still tell them apart (UI Events, `keyCode`)."""
NAMES = (*_NUMBERS, "Space")


class NoKey(Exception):
    """There is no such key; the text says so."""


def strokes(name: str) -> list[dict[str, Any]]:
    """The events of one press, as `Input.dispatchKeyEvent` takes them. Raises NoKey."""
    given, _, last = name.rpartition("+")
    if name.endswith("+"):
        given, last = given.removesuffix("+"), "+"
    held = 0
    for modifier in (_OTHERWISE.get(one, one) for one in filter(None, given.split("+"))):
        if modifier not in _MODIFIERS:
            raise NoKey(f"There is no key {modifier!r} to be held; there are {', '.join(_MODIFIERS)}.")
        held |= _MODIFIERS[modifier]
    key = _OTHERWISE.get(last, last)
    event = {**_event(key), "modifiers": held}
    text = {"Enter": "\r"}.get(key) or (event["key"] if len(event["key"]) == 1 else "")
    typed = text if not held & ~_MODIFIERS["Shift"] else ""
    down = {"type": "keyDown", "text": typed} if typed else {"type": "rawKeyDown"}
    return [{**event, **down}, {**event, "type": "keyUp"}]


def _event(key: str) -> dict[str, Any]:
    if key in _NUMBERS:
        return {"key": key, "code": key, "windowsVirtualKeyCode": _NUMBERS[key]}
    if key in ("Space", " "):
        return {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32}
    if len(key) != 1:
        raise NoKey(f"There is no key {key!r}; there are single characters, {', '.join(NAMES)}.")
    kind = "Key" if key.isascii() and key.isalpha() else "Digit" if key.isdigit() else ""
    number = {"windowsVirtualKeyCode": ord(key.upper())} if kind else {}
    return {"key": key, "code": f"{kind}{key.upper()}" if kind else "", **number}
