"""The keys in force: whose come first, what cannot be had and why, and what means two things."""

from __future__ import annotations

import pytest

from sessions.core import bus
from sessions.core.above import Keybind
from sessions.core.db import in_db
from sessions.core.store import keys as store
from sessions.web import keys
from sessions.web.keys import bindings, clash, refusal, written
from sessions.web.shortcuts import SHORTCUTS

NOTHING: tuple[Keybind, ...] = ()


@pytest.mark.parametrize(
    ("pressed", "as_written"),
    [
        ("Shift+Ctrl+K", "Ctrl+Shift+k"),
        ("Mod+Enter", "Mod+Enter"),
        ("Ctrl+x n", "Ctrl+x n"),
        ("G", "G"),
        ("Alt+Plus", "Alt+Plus"),
        ("ä", "ä"),
    ],
)
def test_there_is_one_way_of_writing_keys(pressed: str, as_written: str) -> None:
    assert written(pressed) == as_written


@pytest.mark.parametrize(
    "pressed", ["", " ", "Ctrl+", "Ctrl", "Hyper+x", "Ctrl+Ctrl+x", "Dead", "a b c", "Ctrl+\x00", "<b>", "+"]
)
def test_what_no_keyboard_gives_is_no_key(pressed: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        written(pressed)


@pytest.mark.parametrize(
    ("name", "way", "words"),
    [
        ("new", "Mod+n", "Ctrl+N is the browser's: it opens a window."),
        ("new", "Ctrl+Tab", "Ctrl+Tab is the browser's: it goes to another tab."),
        ("new", "F5", "F5 is the browser's on Windows and Linux: it loads the page again."),
        ("new", "Meta+q", "Meta+Q is the browser's on macOS: it ends the browser."),
        ("new", "Ctrl+x Ctrl+w", "Ctrl+W is the browser's: it closes the tab."),
        ("new", "Mod+c", "Ctrl+C copies."),
        ("new", "Mod+x", "Ctrl+X cuts."),
        ("new", "Escape", "Esc closes what is open."),
        ("new", "Enter", "Enter presses what has the focus."),
        ("new", "Tab", "Tab goes to the next field or button."),
        ("new", "Ctrl+Alt+e", "Ctrl+Alt+E types a letter on many keyboards."),
        ("send", "s", "s types where this is heard: begin with Ctrl, Cmd or a key F1 to F12."),
        ("send", "g s", "g types where this is heard: begin with Ctrl, Cmd or a key F1 to F12."),
        ("send", "Alt+s", "Alt+S types where this is heard: begin with Ctrl, Cmd or a key F1 to F12."),
        ("send", "Backspace", "Backspace edits the text."),
        ("favourite", "Ctrl+d Ctrl+f", "Only one press is heard here, no sequence."),
    ],
)
def test_what_cannot_be_had_is_refused_with_a_reason(name: str, way: str, words: str) -> None:
    assert refusal(SHORTCUTS[name], way) == words


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("new", "Ctrl+x n"),  # a leader that cuts, where something is selected
        ("new", "g n"),
        ("new", "F9"),
        ("new", "Mod+p"),
        ("send", "Mod+Enter"),
        ("send", "Enter"),
        ("next-agent", "Tab"),
        ("next-agent", "Alt+ArrowUp"),
        ("stop", "Escape Escape"),
        ("hunk-next", "x"),
    ],
)
def test_what_takes_nothing_from_anybody_can_be_had(name: str, way: str) -> None:
    assert refusal(SHORTCUTS[name], way) == ""


@pytest.mark.parametrize(
    ("one", "way", "other", "its", "both"),
    [
        ("new", "Mod+b", "fold-list", "Ctrl+b", True),
        ("new", "Meta+b", "models", "Ctrl+b", False),
        ("new", "g", "inbox", "g i", True),
        ("new", "g n", "inbox", "g i", False),
        ("new", "j", "hunk-next", "j", True),
        ("inbox-open", "j", "hunk-next", "j", False),
        ("new", "Mod+Enter", "send-other", "Mod+Enter", True),
        ("new", "!", "shell", "!", False),
        ("new", "ArrowDown", "recall", "ArrowDown", False),
    ],
)
def test_keys_clash_where_both_are_heard(one: str, way: str, other: str, its: str, both: bool) -> None:
    assert clash(SHORTCUTS[one], way, SHORTCUTS[other], its) is both
    assert clash(SHORTCUTS[other], its, SHORTCUTS[one], way) is both


def test_the_person_comes_before_the_configuration_and_that_before_the_table() -> None:
    files = (
        Keybind("new", ("Ctrl+x n",), "opencode.json"),
        Keybind("models", ("Ctrl+x m",), "tui.json"),
        Keybind("compact", (), "tui.json"),
    )
    known = bindings((("models", ("Mod+;",)),), files)
    found = {name: (known[name].keys, known[name].origin) for name in ("new", "models", "compact", "help")}
    assert found == {
        "new": (("Ctrl+x n",), "opencode.json"),
        "models": (("Mod+;",), "person"),
        "compact": ((), "tui.json"),
        "help": (("?",), "table"),
    }


def test_what_somebody_before_has_is_not_in_force_and_its_row_says_so() -> None:
    files = (Keybind("new", ("Ctrl+k", "Ctrl+n"), "opencode.json", ("hyper+n",)),)
    known = bindings((), files)
    assert known["new"].keys == ("Ctrl+k",)
    assert known["new"].notes == (
        "“hyper+n” of opencode.json is no key of a browser.",
        "From opencode.json: Ctrl+N is the browser's: it opens a window.",
    )
    assert known["palette"].keys == ()
    assert known["palette"].notes == ("Ctrl+K is “Start a new session” (anywhere) now.",)
    assert bindings((("palette", ("Mod+k",)),), files)["new"].keys == ()


def test_what_was_kept_and_is_no_key_any_more_is_said() -> None:
    known = bindings((("new", ("Hyper+x", "g n")), ("gone", ("x",))), NOTHING)
    assert known["new"].keys == ("g n",)
    assert known["new"].notes == ("“Hyper+x” is no key.",)


@pytest.mark.django_db(transaction=True)
class TestChoosing:
    def test_a_way_is_added_removed_and_reset(self) -> None:
        keys.add("compact", "Shift+Ctrl+K")
        keys.add("compact", "g q")
        assert keys.table()["compact"] == ("Ctrl+Shift+k", "g q")
        keys.remove("compact", "g q")
        assert store.chosen() == {"compact": ("Ctrl+Shift+k",)}
        keys.remove("help", "?")
        assert keys.table()["help"] == ()
        store.reset("help")
        assert keys.table()["help"] == ("?",)
        store.reset()
        assert store.chosen() == {}

    def test_what_another_has_is_refused_unless_it_is_to_be_had_instead(self) -> None:
        with pytest.raises(
            keys.Unfit, match=r"Ctrl\+B is “Fold the list of sessions, or show it” \(any"
        ) as refused:
            keys.add("new", "Mod+b")
        assert refused.value.other is SHORTCUTS["fold-list"]
        keys.add("new", "Mod+b", instead=True)
        assert keys.table()["fold-list"] == ()
        assert keys.in_force()["fold-list"].notes
        keys.add("compact", "Mod+b", instead=True)
        assert keys.table()["compact"] == ("Mod+b",)
        assert keys.table()["new"] == ("g n",)
        store.reset("compact")
        assert keys.table()["fold-list"] == ("Mod+b",)

    def test_what_a_field_goes_by_cannot_be_taken(self) -> None:
        with pytest.raises(keys.Unfit, match="goes by nothing else") as refused:
            keys.add("new-line", "ArrowUp", instead=True)
        assert refused.value.other is None

    @pytest.mark.parametrize(
        ("way", "words"),
        [("nothing", "Press one"), ("?", "already"), ("? ?", "begin alike"), ("Mod+w", "the browser")],
    )
    def test_what_cannot_be_had_is_not_kept(self, way: str, words: str) -> None:
        with pytest.raises(keys.Unfit, match=words):
            keys.add("help", way, instead=True)
        assert store.chosen() == {}

    def test_what_is_another_systems_can_be_had_at_this_keyboard(self) -> None:
        keys.add("compact", "Mod+m", own="Ctrl", instead=True)
        assert keys.table()["compact"] == ("Ctrl+m",)
        with pytest.raises(keys.Unfit, match="on macOS"):
            keys.add("fork", "Mod+m", own="Meta")

    async def test_every_change_is_told(self) -> None:
        async with bus.subscribe() as mailbox:
            await in_db(keys.add, "compact", "g q")
            await in_db(store.reset, "compact")
            assert {event.type for event in await mailbox.take()} == {store.CHANGED}
