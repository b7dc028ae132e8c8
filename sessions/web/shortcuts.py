"""Keyboard shortcuts of the pages: the one table that static/js/shortcuts.js and the help read.

A key has its name of the DOM (`KeyboardEvent.key`). Keys that are held together are joined by `+`, keys that
are pressed one after the other by a space: `Shift+F6`, `g i`. `Mod` is Ctrl, or Cmd where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_FACES: Final = {
    "ArrowUp": "↑",
    "ArrowDown": "↓",
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "Escape": "Esc",
    "Mod": "Ctrl",
}


@dataclass(frozen=True, slots=True)
class Shortcut:
    """`keys` are alternatives; `does` says to a person what they do."""

    name: str
    keys: tuple[str, ...]
    does: str

    @property
    def faces(self) -> list[list[str]]:
        """Each alternative as the labels of its keys in the order in which they are pressed."""
        return [[face for chord in way.split(" ") for face in _faces(chord)] for way in self.keys]


@dataclass(frozen=True, slots=True)
class Group:
    """Shortcuts of one place. Those `in_text` are what a field does with keys by itself; scripts act on all
    others by their names."""

    title: str
    shortcuts: tuple[Shortcut, ...]
    note: str = ""
    in_text: bool = False


def _faces(chord: str) -> list[str]:
    keys = chord.split("+")
    return [_FACES.get(key, key.upper() if len(keys) > 1 and len(key) == 1 else key) for key in keys]


def _by(name: str, keys: str, does: str) -> Shortcut:
    """`keys` with ` | ` between alternatives."""
    return Shortcut(name, tuple(keys.split(" | ")), does)


GROUPS: Final = (
    Group(
        "In the text",
        (
            _by(
                "send",
                "Enter",
                "Send. While the agent works, as chosen at the send button: “Steer now” joins the running "
                "turn at its next step, “Queue” waits until the turn has ended",
            ),
            _by("send-other", "Alt+Enter | Ctrl+Enter", "Send the other way"),
            _by("new-line", "Shift+Enter", "New line"),
            _by("next-agent", "Tab", "The next agent"),
            _by(
                "leave",
                "Shift+Tab | Escape Tab",
                "Leave the text, backwards or forwards; neither stops a turn",
            ),
            _by("stop", "Escape Escape", "Stop the running turn"),
            _by("mention", "@", "Mention a file or an agent"),
            _by("command", "/", "Commands"),
            _by(
                "shell",
                "!",
                "In an empty text: the shell. Enter runs the line in the project, without the model; Esc, or "
                "Backspace at its start, leaves",
            ),
            _by(
                "recall", "ArrowUp | ArrowDown", "In an empty text: the last prompts of the session, and back"
            ),
            _by("suggestion", "ArrowUp | ArrowDown | Tab", "Choose a suggestion"),
        ),
        "A prompt that waits is listed above the text. Until the agent takes it up it can be edited, moved, "
        "switched between the two ways, and withdrawn.",
        in_text=True,
    ),
    Group(
        "Anywhere outside of a text",
        (
            _by("inbox", "g i | !", "What waits for your answer, in all sessions; in the text: /inbox"),
            _by("search", "g s", "Search in all that was said; in the text: /search"),
            _by("problems", "g d", "The problems that language servers find; in the text: /problems"),
            _by("help", "?", "This help"),
        ),
    ),
    Group(
        "Anywhere",
        (
            _by("palette", "Mod+k", "Do something, or go to a session, a file, a setting: the palette"),
            _by("models", "Ctrl+m", "Choose the model, its variant or the agent"),
            _by(
                "terminals",
                "Ctrl+`",
                "Show the terminals and type in one; again to hide them, what runs goes on",
            ),
            _by("fold-list", "Mod+b", "Fold the list of sessions, and show it again"),
            _by("asked", "Mod+.", "Go to what the agent asks; at a question digits choose and Enter answers"),
        ),
    ),
    Group(
        "In what waits for your answer",
        (
            _by("inbox-next", "ArrowDown", "Next request"),
            _by("inbox-previous", "ArrowUp", "Previous request"),
            _by("inbox-allow", "a", "Allow once"),
            _by("inbox-reject", "x", "Reject, with words"),
            _by("inbox-open", "o", "Open the session"),
        ),
        "Enter shows a request whole.",
    ),
    Group(
        "In the problems",
        (
            _by("problem-next", "ArrowDown", "Next problem"),
            _by("problem-previous", "ArrowUp", "Previous problem"),
            _by("problem-fix", "f", "Put it into the prompt for the agent to fix"),
        ),
        "Enter shows the lines of a problem.",
    ),
    Group("In the choice of a model", (_by("favourite", "Ctrl+d", "Mark a favourite"),)),
    Group(
        "In a terminal",
        (
            _by("terminal-leave", "Shift+F6", "Leave it for its tab"),
            _by("terminal-left", "ArrowLeft", "At a tab: the one before"),
            _by("terminal-right", "ArrowRight", "At a tab: the one after"),
            _by("terminal-rename", "F2", "At a tab: rename"),
            _by("terminal-close", "Delete", "At a tab: close"),
        ),
    ),
    Group(
        "In the review",
        (
            _by("hunk-next", "j", "Next hunk"),
            _by("hunk-previous", "k", "Previous hunk"),
            _by("file-next", "n", "Next file"),
            _by("file-previous", "p", "Previous file"),
            _by("hunk-undo", "u", "Undo the hunk, or the file whose name has the focus"),
            _by("hunk-redo", "r", "Redo what was undone"),
            _by("hunk-keep", "y", "Keep it; once more unmarks it"),
            _by("file-viewed", "v", "Viewed"),
            _by("hunk-comment", "c", "Comment"),
            _by("review-wide", "e", "Full review over the conversation; Esc goes back"),
            _by("review-split", "s", "Side by side, or one below the other"),
            _by("review-space", "w", "Ignore white space"),
        ),
        "These keys work while the focus is in the review, and never while you type. What is undone stays in "
        "the operations log of the project, and can be redone at any time.",
    ),
)

SHORTCUTS: Final = {one.name: one for group in GROUPS for one in group.shortcuts}
KEYS: Final = {one.name: one.keys for group in GROUPS if not group.in_text for one in group.shortcuts}
