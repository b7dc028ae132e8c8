"""The keys in force: what the person chose, else what OpenCode's configuration says, else those of the table.

No key means two things in a place: it is theirs who come first in that order, and the other's row says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from sessions.core.above import Keybind, agents
from sessions.core.store import keys as store
from sessions.web.shortcuts import SHORTCUTS, TITLES, Place, Shortcut

MOST_ALTERNATIVES = 4
_HELD = ("Mod", "Ctrl", "Meta", "Alt", "Shift")
"""In the order in which they are written."""
_NAMED = re.compile(
    r"Enter|Tab|Escape|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Space|Plus|Arrow(?:Up|Down|Left|Right)"
    r"|F(?:[1-9]|1\d|2[0-4])"
)
_LABELS = {
    "Mod": "Ctrl",
    "Escape": "Esc",
    "Plus": "+",
    "ArrowUp": "↑",
    "ArrowDown": "↓",
    "ArrowLeft": "←",
    "ArrowRight": "→",
}


@dataclass(frozen=True, slots=True)
class Chord:
    """Keys that are held together."""

    held: tuple[str, ...]
    key: str

    def __str__(self) -> str:
        return "+".join((*self.held, self.key))

    @property
    def character(self) -> bool:
        """Whether the last of them is one that types."""
        return len(self.key) == 1 or self.key in ("Space", "Plus")

    @property
    def commands(self) -> bool:
        """Whether a text leaves it alone: with Ctrl or Cmd, or a key that is for nothing else."""
        return bool({"Mod", "Ctrl", "Meta"} & set(self.held)) or bool(re.match(r"F\d|Escape$", self.key))


def parse(way: str) -> tuple[Chord, ...]:
    """One or two chords, in the one way of writing them. Raises ValueError for what no keyboard gives."""
    chords = tuple(map(_chord, way.split(" ")))
    if len(chords) > 2:
        raise ValueError(way)
    return chords


def _chord(text: str) -> Chord:
    *held, key = text.split("+")
    if len(key) == 1 and held and key.isascii():
        key = key.lower()
    known = bool(_NAMED.fullmatch(key)) or (len(key) == 1 and key.isprintable() and key != " ")
    if not known or not set(held) <= set(_HELD) or len(set(held)) < len(held):
        raise ValueError(text)
    return Chord(tuple(sorted(held, key=_HELD.index)), key)


def written(way: str) -> str:
    """In the one way of writing it. Raises ValueError."""
    return " ".join(map(str, parse(way)))


def label(way: str) -> str:
    """As words say it: `Ctrl+B`, `g i`."""
    return " ".join(_label(chord) for chord in parse(way))


def _label(chord: Chord) -> str:
    key = chord.key.upper() if chord.held and len(chord.key) == 1 else chord.key
    return "+".join(_LABELS.get(one, one) for one in (*chord.held, key))


# What cannot be had.

_BROWSERS: Final = {
    "anywhere": {
        "Mod+w": "closes the tab",
        "Mod+Shift+w": "closes the window",
        "Mod+t": "opens a tab",
        "Mod+Shift+t": "brings a closed tab back",
        "Mod+n": "opens a window",
        "Mod+Shift+n": "opens a private window",
        "Mod+Shift+p": "opens a private window in Firefox",
        "Mod+l": "goes to the address",
        "Mod+r": "loads the page again",
        "Mod+Shift+r": "loads the page again",
        "Ctrl+Tab": "goes to another tab",
        "Ctrl+Shift+Tab": "goes to another tab",
        "Ctrl+PageUp": "goes to another tab",
        "Ctrl+PageDown": "goes to another tab",
        **{f"Mod+{digit}": "goes to a tab" for digit in range(1, 10)},
        "Mod+0": "sets the size back",
        "Mod+Plus": "makes the page larger",
        "Mod+-": "makes the page smaller",
    },
    "on Windows and Linux": {
        "F5": "loads the page again",
        "Ctrl+F5": "loads the page again",
        "F6": "goes to the address",
        "F11": "fills the screen",
        "F12": "opens the developer's tools",
        "Ctrl+Shift+i": "opens the developer's tools",
        "Alt+F4": "closes the window",
        "Ctrl+F4": "closes the tab",
        "Alt+ArrowLeft": "goes back",
        "Alt+ArrowRight": "goes forward",
        "Alt+Tab": "goes to another window",
        "Ctrl+q": "ends the browser",
    },
    "on macOS": {
        "Meta+q": "ends the browser",
        "Meta+h": "hides the browser",
        "Meta+m": "puts the window away",
        "Meta+,": "opens the browser's settings",
        "Meta+Space": "opens the search of the system",
        "Meta+Tab": "goes to another program",
        "Meta+ArrowLeft": "goes to the beginning of the line",
        "Meta+ArrowRight": "goes to the end of the line",
        "Meta+`": "goes to another window",
    },
}
"""By where; a page hears nothing of most of them."""
_EDITS: Final = {
    "Mod+c": "copies",
    "Mod+x": "cuts",
    "Mod+v": "pastes",
    "Mod+Shift+v": "pastes",
    "Mod+a": "selects all",
    "Mod+z": "takes back what was typed",
    "Mod+Shift+z": "brings back what was typed",
    "Mod+y": "brings back what was typed",
}
_LEADS: Final = "Mod+x"
"""With nothing selected there is nothing to cut: as the first of two keys it may be had."""
_PRESSES: Final = {
    "Enter": "presses what has the focus",
    "Space": "presses what has the focus",
    "Tab": "goes to the next field or button",
    "Shift+Tab": "goes to the field or button before",
    "Escape": "closes what is open",
}
_WRITTEN: Final[frozenset[Place]] = frozenset(("text", "picker", "tree", "editor", "terminal"))
"""Places in which one types."""
_OF_A_TEXT: Final = frozenset(("Enter", "Tab", "Shift+Tab"))
"""What may be had in a text, and nowhere else."""


def refusal(shortcut: Shortcut, way: str) -> str:
    """Why a way cannot be had for it, in words; empty where it can. Of no way that `parse` refuses."""
    chords = parse(way)
    if len(chords) > 1 and shortcut.single:
        return "Only one press is heard here, no sequence."
    return next((words for words in _refusals(shortcut, chords) if words), "")


def _refusals(shortcut: Shortcut, chords: tuple[Chord, ...]) -> Iterator[str]:
    first, leads = chords[0], len(chords) > 1
    for chord in chords:
        yield _kept(chord, leads=leads and chord is first)
        if {"Ctrl", "Mod"} & set(chord.held) and "Alt" in chord.held and chord.character:
            yield f"{_label(chord)} types a letter on many keyboards."
    if shortcut.place in _WRITTEN and not first.commands:
        if first.character:
            yield f"{_label(first)} types where this is heard: begin with Ctrl, Cmd or a key F1 to F12."
        if shortcut.place == "text" and first.key in ("Backspace", "Delete", "Home", "End"):
            yield f"{_label(first)} edits the text."
    if not leads and first.key == "Escape":
        yield f"{_label(first)} {_PRESSES['Escape']}."
    if not leads and shortcut.place != "text" and str(first) in _PRESSES:
        yield f"{_label(first)} {_PRESSES[str(first)]}."


def _kept(chord: Chord, *, leads: bool) -> str:
    presses = _presses(str(chord))
    for where, known in _BROWSERS.items():
        for way, what in known.items():
            if presses & _presses(way):
                at = "" if where == "anywhere" else f" {where}"
                return f"{_label(chord)} is the browser's{at}: it {what}."
    for way, what in _EDITS.items():
        if presses & _presses(way) and not (leads and way == _LEADS):
            return f"{_label(chord)} {what}."
    return ""


# What means two things.


@lru_cache(maxsize=1024)
def _presses(way: str) -> frozenset[str]:
    """What a keyboard gives for it: Ctrl on one, Cmd on another."""
    return frozenset(way.replace("Mod+", f"{held}+") for held in ("Ctrl", "Meta"))


def clash(one: Shortcut, way: str, other: Shortcut, its: str) -> bool:
    """Whether a press means both: the same keys, or the first of one is the other, where both are heard."""
    if not _meet(one, way, other, its):
        return False
    return any(
        mine == yours or mine.startswith(f"{yours} ") or yours.startswith(f"{mine} ")
        for mine in _presses(way)
        for yours in _presses(its)
    )


def _meet(one: Shortcut, way: str, other: Shortcut, its: str) -> bool:
    if one.place == other.place:
        return True
    if "page" not in (one.place, other.place):
        return False
    page, place = (way, other.place) if one.place == "page" else (its, one.place)
    return place not in (*_WRITTEN, "suggestions") or parse(page)[0].commands


Origin = Literal["table", "person"] | str


@dataclass(frozen=True, slots=True)
class Binding:
    """The keys of one shortcut that are in force, and who gave them: `table`, `person`, or the name of a
    configuration file. `notes` say of others that they are not in force, and why."""

    shortcut: Shortcut
    keys: tuple[str, ...]
    origin: Origin
    notes: tuple[str, ...] = ()


Chosen = tuple[tuple[str, tuple[str, ...]], ...]


@lru_cache(maxsize=8)
def bindings(chosen: Chosen, keybinds: tuple[Keybind, ...]) -> Mapping[str, Binding]:
    """By name, in the order of the table. What was chosen comes first, and before that what is fixed."""
    person, files = dict(chosen), {one.name: one for one in keybinds}
    wanted: dict[str, tuple[Sequence[str], Origin, list[str]]] = {}
    for name, shortcut in SHORTCUTS.items():
        if shortcut.fixed:
            wanted[name] = (shortcut.keys, "table", [])
        elif name in person:
            wanted[name] = (person[name], "person", [])
        elif found := files.get(name):
            notes = [f"“{key}” of {found.origin} is no key of a browser." for key in found.strange]
            wanted[name] = (found.keys, found.origin, notes)
        else:
            wanted[name] = (shortcut.keys, "table", [])
    taken: list[tuple[Shortcut, str]] = []
    made: dict[str, Binding] = {}
    ranks = {"person": 1, "table": 3}
    for name in sorted(
        wanted, key=lambda name: 0 if SHORTCUTS[name].fixed else ranks.get(wanted[name][1], 2)
    ):
        keys, origin, notes = wanted[name]
        shortcut = SHORTCUTS[name]
        force = []
        for way in keys:
            if words := _barred(shortcut, way, origin, taken):
                notes.append(words)
            else:
                force.append(way)
        taken += ((shortcut, way) for way in force)
        made[name] = Binding(shortcut, tuple(force), origin, tuple(notes))
    return {name: made[name] for name in SHORTCUTS}


def _barred(shortcut: Shortcut, way: str, origin: Origin, taken: Sequence[tuple[Shortcut, str]]) -> str:
    if shortcut.fixed:
        return ""
    try:
        words = "" if origin == "table" else refusal(shortcut, way)
    except ValueError:  # of a newer or an older version of this program
        return f"“{way}” is no key."
    if not words:
        found = next((other for other, its in taken if clash(shortcut, way, other, its)), None)
        words = f"{label(way)} is {named(found)} now." if found else ""
    return words if origin in ("table", "person") or not words else f"From {origin}: {words}"


def named(shortcut: Shortcut) -> str:
    """What it does and where, in the middle of a sentence."""
    place = TITLES[shortcut.name]
    return f"“{shortcut.does.partition(';')[0]}” ({place[0].lower()}{place[1:]})"


def in_force() -> Mapping[str, Binding]:
    """By name, as it is now. Runs on the ORM's thread; reads configuration files that have changed."""
    return bindings(tuple(store.chosen().items()), agents().keybinds())


def table() -> dict[str, tuple[str, ...]]:
    """What the page's scripts go by: the keys of each name. Runs where `in_force` does."""
    return {name: one.keys for name, one in in_force().items()}


class Unfit(Exception):
    """A way that cannot be had; says why. `other` has it now and could give it up."""

    def __init__(self, words: str, other: Shortcut | None = None) -> None:
        super().__init__(words)
        self.other = other


def add(name: str, way: str, *, own: str = "Ctrl", instead: bool = False) -> None:
    """One more way, for the person. `instead` of what has it now. `own` is what `Mod` is at their keyboard:
    what can be had there alone is. Runs on the ORM's thread; raises Unfit."""
    shortcut, now = SHORTCUTS[name], in_force()
    try:
        way = written(way)
    except ValueError:
        raise Unfit("Press one or two keys.") from None
    if refusal(shortcut, way) and own in ("Ctrl", "Meta"):
        way = way.replace("Mod", own)
    if words := refusal(shortcut, way):
        raise Unfit(words)
    mine = now[name].keys
    if way in mine:
        raise Unfit(f"{label(way)} does this already.")
    if len(mine) >= MOST_ALTERNATIVES:
        raise Unfit(f"There are {MOST_ALTERNATIVES} ways to press this already: remove one first.")
    held = [(one.shortcut, its) for one in now.values() for its in one.keys]
    clashes = [(other, its) for other, its in held if clash(shortcut, way, other, its)]
    for other, its in clashes:
        if other is shortcut:
            raise Unfit(f"{label(way)} and {label(its)} begin alike: remove the other one first.")
        if other.fixed:
            raise Unfit(f"{label(way)} is {named(other)}, which goes by nothing else.")
        if not instead:
            raise Unfit(f"{label(way)} is {named(other)}.", other)
    lost = {its for _, its in clashes}
    chosen = [now[other.name] for other, _ in clashes if now[other.name].origin == "person"]
    changed = {one.shortcut.name: tuple(key for key in one.keys if key not in lost) for one in chosen}
    store.choose({**changed, name: (*mine, way)})


def remove(name: str, way: str) -> None:
    """One way less. Runs on the ORM's thread."""
    store.choose({name: tuple(key for key in in_force()[name].keys if key != way)})
