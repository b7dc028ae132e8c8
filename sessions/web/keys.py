"""The keys in force: what the person chose, else what OpenCode's configuration says, else those of the table.

No key means two things in a place: it is theirs who come first in that order, and the other's row says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from django.utils.translation import get_language, gettext
from django.utils.translation.trans_null import gettext_noop

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
    gettext_noop("%(keys)s is the browser's: it %(does)s."): {
        "Mod+w": gettext_noop("closes the tab"),
        "Mod+Shift+w": gettext_noop("closes the window"),
        "Mod+t": gettext_noop("opens a tab"),
        "Mod+Shift+t": gettext_noop("brings a closed tab back"),
        "Mod+n": gettext_noop("opens a window"),
        "Mod+Shift+n": gettext_noop("opens a private window"),
        "Mod+Shift+p": gettext_noop("opens a private window in Firefox"),
        "Mod+l": gettext_noop("goes to the address"),
        "Mod+r": gettext_noop("loads the page again"),
        "Mod+Shift+r": gettext_noop("loads the page again"),
        "Ctrl+Tab": gettext_noop("goes to another tab"),
        "Ctrl+Shift+Tab": gettext_noop("goes to another tab"),
        "Ctrl+PageUp": gettext_noop("goes to another tab"),
        "Ctrl+PageDown": gettext_noop("goes to another tab"),
        **{f"Mod+{digit}": gettext_noop("goes to a tab") for digit in range(1, 10)},
        "Mod+0": gettext_noop("sets the size back"),
        "Mod+Plus": gettext_noop("makes the page larger"),
        "Mod+-": gettext_noop("makes the page smaller"),
    },
    gettext_noop("%(keys)s is the browser's on Windows and Linux: it %(does)s."): {
        "F5": gettext_noop("loads the page again"),
        "Ctrl+F5": gettext_noop("loads the page again"),
        "F6": gettext_noop("goes to the address"),
        "F11": gettext_noop("fills the screen"),
        "F12": gettext_noop("opens the developer's tools"),
        "Ctrl+Shift+i": gettext_noop("opens the developer's tools"),
        "Alt+F4": gettext_noop("closes the window"),
        "Ctrl+F4": gettext_noop("closes the tab"),
        "Alt+ArrowLeft": gettext_noop("goes back"),
        "Alt+ArrowRight": gettext_noop("goes forward"),
        "Alt+Tab": gettext_noop("goes to another window"),
        "Ctrl+q": gettext_noop("ends the browser"),
    },
    gettext_noop("%(keys)s is the browser's on macOS: it %(does)s."): {
        "Meta+q": gettext_noop("ends the browser"),
        "Meta+h": gettext_noop("hides the browser"),
        "Meta+m": gettext_noop("puts the window away"),
        "Meta+,": gettext_noop("opens the browser's settings"),
        "Meta+Space": gettext_noop("opens the search of the system"),
        "Meta+Tab": gettext_noop("goes to another program"),
        "Meta+ArrowLeft": gettext_noop("goes to the beginning of the line"),
        "Meta+ArrowRight": gettext_noop("goes to the end of the line"),
        "Meta+`": gettext_noop("goes to another window"),
    },
}
"""By what is said of them; a page hears nothing of most of them."""
_EDITS: Final = {
    "Mod+c": gettext_noop("copies"),
    "Mod+x": gettext_noop("cuts"),
    "Mod+v": gettext_noop("pastes"),
    "Mod+Shift+v": gettext_noop("pastes"),
    "Mod+a": gettext_noop("selects all"),
    "Mod+z": gettext_noop("takes back what was typed"),
    "Mod+Shift+z": gettext_noop("brings back what was typed"),
    "Mod+y": gettext_noop("brings back what was typed"),
}
_LEADS: Final = "Mod+x"
"""With nothing selected there is nothing to cut: as the first of two keys it may be had."""
_PRESSES: Final = {
    "Enter": gettext_noop("presses what has the focus"),
    "Space": gettext_noop("presses what has the focus"),
    "Tab": gettext_noop("goes to the next field or button"),
    "Shift+Tab": gettext_noop("goes to the field or button before"),
    "Escape": gettext_noop("closes what is open"),
}
_WRITTEN: Final[frozenset[Place]] = frozenset(("text", "picker", "tree", "editor", "terminal"))
"""Places in which one types."""
_OF_A_TEXT: Final = frozenset(("Enter", "Tab", "Shift+Tab"))
"""What may be had in a text, and nowhere else."""


def refusal(shortcut: Shortcut, way: str) -> str:
    """Why a way cannot be had for it, in words; empty where it can. Of no way that `parse` refuses."""
    chords = parse(way)
    if len(chords) > 1 and shortcut.single:
        return gettext("Only one press is heard here, no sequence.")
    return next((words for words in _refusals(shortcut, chords) if words), "")


def _refusals(shortcut: Shortcut, chords: tuple[Chord, ...]) -> Iterator[str]:
    first, leads = chords[0], len(chords) > 1
    for chord in chords:
        yield _kept(chord, leads=leads and chord is first)
        if {"Ctrl", "Mod"} & set(chord.held) and "Alt" in chord.held and chord.character:
            yield gettext("%(keys)s types a letter on many keyboards.") % {"keys": _label(chord)}
    if shortcut.place in _WRITTEN and not first.commands:
        if first.character:
            typed = gettext("%(keys)s types where this is heard: begin with Ctrl, Cmd or a key F1 to F12.")
            yield typed % {"keys": _label(first)}
        if shortcut.place == "text" and first.key in ("Backspace", "Delete", "Home", "End"):
            yield _does(first, gettext("edits the text"))
    if not leads and first.key == "Escape":
        yield _does(first, gettext(_PRESSES["Escape"]))
    if not leads and shortcut.place != "text" and str(first) in _PRESSES:
        yield _does(first, gettext(_PRESSES[str(first)]))


def _does(chord: Chord, does: str) -> str:
    return gettext("%(keys)s %(does)s.") % {"keys": _label(chord), "does": does}


def _kept(chord: Chord, *, leads: bool) -> str:
    presses = _presses(str(chord))
    for said, known in _BROWSERS.items():
        for way, what in known.items():
            if presses & _presses(way):
                return gettext(said) % {"keys": _label(chord), "does": gettext(what)}
    for way, what in _EDITS.items():
        if presses & _presses(way) and not (leads and way == _LEADS):
            return _does(chord, gettext(what))
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


def bindings(chosen: Chosen, keybinds: tuple[Keybind, ...]) -> Mapping[str, Binding]:
    """By name, in the order of the table. What was chosen comes first, and before that what is fixed."""
    return _bindings(chosen, keybinds, get_language())


@lru_cache(maxsize=32)
def _bindings(chosen: Chosen, keybinds: tuple[Keybind, ...], language: str | None) -> Mapping[str, Binding]:
    person, files = dict(chosen), {one.name: one for one in keybinds}
    wanted: dict[str, tuple[Sequence[str], Origin, list[str]]] = {}
    for name, shortcut in SHORTCUTS.items():
        if shortcut.fixed:
            wanted[name] = (shortcut.keys, "table", [])
        elif name in person:
            wanted[name] = (person[name], "person", [])
        elif found := files.get(name):
            said = gettext("“%(key)s” of %(origin)s is no key of a browser.")
            notes = [said % {"key": key, "origin": found.origin} for key in found.strange]
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
        return gettext("“%(key)s” is no key.") % {"key": way}
    if not words:
        found = next((other for other, its in taken if clash(shortcut, way, other, its)), None)
        words = gettext("%(keys)s is %(other)s now.") % _with(way, found) if found else ""
    if origin in ("table", "person") or not words:
        return words
    return gettext("From %(origin)s: %(words)s") % {"origin": origin, "words": words}


def _with(way: str, other: Shortcut) -> dict[str, str]:
    return {"keys": label(way), "other": named(other)}


def named(shortcut: Shortcut) -> str:
    """What it does and where, in the middle of a sentence."""
    place, does = gettext(TITLES[shortcut.name]), gettext(shortcut.does).partition(";")[0]
    return gettext("“%(does)s” (%(place)s)") % {"does": does, "place": f"{place[0].lower()}{place[1:]}"}


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
        raise Unfit(gettext("Press one or two keys.")) from None
    if refusal(shortcut, way) and own in ("Ctrl", "Meta"):
        way = way.replace("Mod", own)
    if words := refusal(shortcut, way):
        raise Unfit(words)
    mine = now[name].keys
    if way in mine:
        raise Unfit(gettext("%(keys)s does this already.") % {"keys": label(way)})
    if len(mine) >= MOST_ALTERNATIVES:
        said = gettext("There are %(count)s ways to press this already: remove one first.")
        raise Unfit(said % {"count": MOST_ALTERNATIVES})
    held = [(one.shortcut, its) for one in now.values() for its in one.keys]
    clashes = [(other, its) for other, its in held if clash(shortcut, way, other, its)]
    for other, its in clashes:
        if other is shortcut:
            said = gettext("%(keys)s and %(other)s begin alike: remove the other one first.")
            raise Unfit(said % {"keys": label(way), "other": label(its)})
        if other.fixed:
            raise Unfit(gettext("%(keys)s is %(other)s, which goes by nothing else.") % _with(way, other))
        if not instead:
            raise Unfit(gettext("%(keys)s is %(other)s.") % _with(way, other), other)
    lost = {its for _, its in clashes}
    chosen = [now[other.name] for other, _ in clashes if now[other.name].origin == "person"]
    changed = {one.shortcut.name: tuple(key for key in one.keys if key not in lost) for one in chosen}
    store.choose({**changed, name: (*mine, way)})


def remove(name: str, way: str) -> None:
    """One way less. Runs on the ORM's thread."""
    store.choose({name: tuple(key for key in in_force()[name].keys if key != way)})
