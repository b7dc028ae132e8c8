"""What can be done by keys: the one table of which the menu of `/`, the palette, the help, the settings page
and static/js/shortcuts.js are made. The keys in it are those that nobody has changed (`sessions.web.keys`).

A key has its name of the DOM (`KeyboardEvent.key`), but `Space` and `Plus`. Keys that are held together are
joined by `+`, keys that are pressed one after the other by a space: `Shift+F6`, `g i`. `Mod` is Ctrl, or Cmd
where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from django.http import HttpRequest
from django.utils.translation.trans_null import gettext_noop

from sessions.core.principal import may

Place = Literal[
    "text",
    "suggestions",
    "conversation",
    "page",
    "sessions",
    "inbox",
    "problems",
    "picker",
    "tree",
    "editor",
    "terminal",
    "tab",
    "review",
]
"""Where keys are heard. `page` is anywhere: in every other place too, and in a text those that neither type
nor edit."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """`keys` are alternatives; `does` says to a person what they do.

    With an `icon` the palette offers it, and as a `command` also `/name` in the prompt. `fixed` are the
    keys that a field acts on by itself. `single`: what hears it knows no sequences.
    """

    name: str
    keys: tuple[str, ...]
    does: str
    icon: str = ""
    command: bool = False
    fixed: bool = False
    single: bool = False
    place: Place = "page"


@dataclass(frozen=True, slots=True)
class Group:
    """Shortcuts of one place."""

    title: str
    shortcuts: tuple[Shortcut, ...]
    note: str = ""


def _by(name: str, keys: str, does: str, *, fixed: bool = False, single: bool = False) -> Shortcut:
    """`keys` with ` | ` between alternatives; empty for none."""
    return Shortcut(name, tuple(keys.split(" | ")) if keys else (), does, fixed=fixed, single=single)


def _command(name: str, icon: str, keys: str, does: str) -> Shortcut:
    return replace(_by(name, keys, does), icon=icon, command=True)


def _action(name: str, icon: str, keys: str, does: str) -> Shortcut:
    """One that is no command."""
    return replace(_command(name, icon, keys, does), command=False)


def _at(place: Place, title: str, *shortcuts: Shortcut, note: str = "") -> Group:
    return Group(title, tuple(replace(one, place=place) for one in shortcuts), note)


GROUPS: Final = (
    _at(
        "text",
        gettext_noop("In the text"),
        _by(
            "send",
            "Enter",
            gettext_noop(
                "Send. While the agent works, as chosen at the send button: “Steer now” joins the running "
                "turn at its next step, “Queue” waits until the turn has ended"
            ),
        ),
        _by("send-other", "Alt+Enter | Mod+Enter", gettext_noop("Send the other way")),
        _by("new-line", "Shift+Enter", gettext_noop("New line")),
        _by("next-agent", "Tab", gettext_noop("The next agent")),
        _by("next-mode", "Shift+Tab", gettext_noop("The next mode: how much is asked")),
        _by(
            "leave",
            "Escape Tab",
            gettext_noop("Leave the text; that stops no turn"),
            fixed=True,
        ),
        _by("mention", "@", gettext_noop("Mention a file or an agent"), fixed=True),
        _by("command", "/", gettext_noop("Commands"), fixed=True),
        _by("snippet", ";", gettext_noop("Put in a snippet; Tab goes through its places"), fixed=True),
        _by(
            "paste-as-it-is",
            "Mod+Shift+v",
            gettext_noop("Paste into the text, however long it is"),
            fixed=True,
        ),
        _by(
            "shell",
            "!",
            gettext_noop(
                "In an empty text: the shell. Enter runs the line in the project, without the model; Esc, or "
                "Backspace at its start, leaves"
            ),
            fixed=True,
        ),
        _by(
            "recall",
            "ArrowUp | ArrowDown",
            gettext_noop("In an empty text: the last prompts, of the session and then of others, and back"),
            fixed=True,
        ),
        note=gettext_noop(
            "A prompt that waits is listed above the text. Until the agent takes it up it can be edited, "
            "moved, switched between the two ways, and withdrawn."
        ),
    ),
    _at(
        "conversation",
        gettext_noop("In the conversation, and in the text"),
        _action("find-within", "search", "Mod+f", gettext_noop("Find in the conversation")),
        note=gettext_noop(
            "Enter and Shift+Enter go from place to place. Pressed there again, it is the browser's own."
        ),
    ),
    _at(
        "suggestions",
        gettext_noop("While something is suggested"),
        _by("suggestion", "ArrowUp | ArrowDown | Tab", gettext_noop("Choose a suggestion"), fixed=True),
    ),
    _at(
        "page",
        gettext_noop("Anywhere"),
        _by(
            "palette",
            "Mod+k",
            gettext_noop("Do something, or go to a session, a file, a setting: the palette"),
        ),
        _action("prompt", "edit", "g p", gettext_noop("Write in the prompt")),
        _command("new", "plus", "g n", gettext_noop("Start a new session")),
        _action("next-session", "chevron", "g j", gettext_noop("Go to the next session of the list")),
        _action(
            "previous-session", "chevron", "g k", gettext_noop("Go to the session before it in the list")
        ),
        _action("sessions", "search", "g f", gettext_noop("Look for a session in the list")),
        _action("overview", "layers", "g o", gettext_noop("All sessions of all projects: the overview")),
        _command("glance", "list", "g w", gettext_noop("How the work stands: goal, to do, changes, context")),
        _command("preview", "globe", "g v", gettext_noop("The project's web server beside the conversation")),
        _command("search", "search", "g /", gettext_noop("Search in all that was said")),
        _action(
            "open-file",
            "file",
            "Mod+p",
            gettext_noop("Open a file: by letters, :12 for a line, @ or # for a symbol"),
        ),
        _action(
            "files",
            "folder",
            "Mod+Shift+e",
            gettext_noop("Show the files of the project, or the sessions again"),
        ),
        _action(
            "find", "search", "Mod+Shift+f", gettext_noop("Search in the files of the project, and replace")
        ),
        _action("fold-list", "fold", "Mod+b", gettext_noop("Fold the list of sessions, or show it")),
        _action(
            "reset-layout",
            "panel",
            "",
            gettext_noop("Put the panels of this project back to where they began"),
        ),
        _command("undo", "undo", "g u", gettext_noop("Undo the last message and what it changed")),
        _command("redo", "redo", "g r", gettext_noop("Bring back what was undone")),
        _command("rename", "edit", "g t", gettext_noop("Rename this session")),
        _command("pin", "pin", "", gettext_noop("Pin this session above the others, or no longer")),
        _action("new-folder", "folder", "", gettext_noop("Make a folder in the list of sessions")),
        _command("stop", "stop", "Escape Escape", gettext_noop("Stop the running turn")),
        _command(
            "compact", "layers", "", gettext_noop("Sum up the conversation to free the model's context")
        ),
        _command(
            "goal", "check", "", gettext_noop("A goal: work by itself until checks pass, within a budget")
        ),
        _action("schedules", "clock", "g e", gettext_noop("Schedules: what is done by itself, and when")),
        _command(
            "compare", "fork", "", gettext_noop("Compare: try it with several models, and take the best")
        ),
        _command("models", "think", "Ctrl+m", gettext_noop("Choose the model")),
        _command("agents", "spark", "", gettext_noop("Choose the agent")),
        _command("mode", "shield", "", gettext_noop("Choose how much is asked")),
        _command(
            "focus",
            "list",
            "g z",
            gettext_noop("Focus: fold what the agent does to a line a turn, or show it"),
        ),
        _command("changes", "panel", "g c", gettext_noop("Show or hide the changed files")),
        _command(
            "add-dir",
            "folder",
            "",
            gettext_noop("Add a folder beside the project, for the agent to read; PATH:rw, to write too"),
        ),
        _command("git", "fork", "g s", gettext_noop("Git: what is changed and staged, and committing it")),
        _command(
            "forge", "globe", "g h", gettext_noop("Issues and pull requests: at GitHub, GitLab, Forgejo")
        ),
        _command(
            "notes", "edit", "g m", gettext_noop("Notes, todos and actions of the project, new worktrees")
        ),
        _command("problems", "alert", "g d", gettext_noop("What language servers find wrong")),
        _command(
            "review-mode", "layers", "", gettext_noop("Hold edits back until you keep them, or no longer")
        ),
        _command("fork", "fork", "", gettext_noop("Go on from here in a new session")),
        _command(
            "move", "fork", "", gettext_noop("Move this session to a worktree, with what is in no commit")
        ),
        _command("timeline", "clock", "g l", gettext_noop("What happened, and the files at any point of it")),
        _command("permissions", "shield", "", gettext_noop("The saved permission rules of this project")),
        _command(
            "mcp",
            "plug",
            "",
            gettext_noop("MCP servers and language servers: how they stand, and setting them up"),
        ),
        _command("inbox", "bell", "g i | !", gettext_noop("What waits for your answer, in all sessions")),
        _by(
            "asked",
            "Mod+.",
            gettext_noop("Go to what the agent asks; at a question digits choose and Enter answers"),
        ),
        _command(
            "log", "list", "", gettext_noop("Every change made to the project, and how to take it back")
        ),
        _action("copy", "copy", "g y", gettext_noop("Copy the last answer")),
        _action("archive", "layers", "", gettext_noop("Archive this session")),
        _action("delete", "cross", "", gettext_noop("Delete this session")),
        _action("attach", "attach", "g a", gettext_noop("Attach a file")),
        _action(
            "large-prompt",
            "wide",
            "Mod+Shift+Enter",
            gettext_noop("A large editor; Ctrl+Enter sends from it"),
        ),
        _action("pin-note", "pin", "", gettext_noop("Pin a note: the agent has it before it all the time")),
        _action("save-snippet", "plus", "", gettext_noop("Save the text as a snippet")),
        replace(
            _action(
                "terminals",
                "terminal",
                "Ctrl+`",
                gettext_noop("Show or hide the terminals; what runs goes on"),
            ),
            single=True,
        ),
        _command("export", "file", "", gettext_noop("Download the conversation")),
        _command("share", "share", "", gettext_noop("Share the conversation by a secret address")),
        _by("settings", "g ,", gettext_noop("Settings")),
        _by("keys", "", gettext_noop("Change the keys")),
        _command("help", "ask", "?", gettext_noop("Keys and commands")),
        note=gettext_noop("Keys that type or move the caret are the text's while you write."),
    ),
    _at(
        "sessions",
        gettext_noop("In the list of sessions"),
        _by("session-next", "ArrowDown", gettext_noop("Next session")),
        _by("session-previous", "ArrowUp", gettext_noop("Previous session")),
        _by("session-pin", "p", gettext_noop("Pin it above the others, or no longer")),
        _by("session-folder", "m", gettext_noop("Put it into a folder, or out of it")),
        _by("session-up", "Alt+ArrowUp", gettext_noop("Move it up among what is pinned, or in its folder")),
        _by("session-down", "Alt+ArrowDown", gettext_noop("Move it down there")),
        _by("session-rename", "F2", gettext_noop("Rename it")),
        _by("session-delete", "Delete", gettext_noop("Delete it, with a way back")),
        _by("session-menu", "Shift+F10", gettext_noop("All that can be done with it"), fixed=True),
        _by(
            "session-choose",
            "Space",
            gettext_noop("Choose it, to do something with several at once"),
            fixed=True,
        ),
        _by(
            "session-range",
            "Shift+ArrowUp | Shift+ArrowDown",
            gettext_noop("Choose it and the one beside it"),
            fixed=True,
        ),
        note=gettext_noop("Enter opens a session, Esc chooses none."),
    ),
    _at(
        "inbox",
        gettext_noop("In what waits for your answer"),
        _by("inbox-next", "ArrowDown", gettext_noop("Next request")),
        _by("inbox-previous", "ArrowUp", gettext_noop("Previous request")),
        _by("inbox-allow", "a", gettext_noop("Allow once")),
        _by("inbox-reject", "x", gettext_noop("Reject, with words")),
        _by("inbox-open", "o", gettext_noop("Open the session")),
        note=gettext_noop("Enter shows a request whole."),
    ),
    _at(
        "problems",
        gettext_noop("In the problems"),
        _by("problem-next", "ArrowDown", gettext_noop("Next problem")),
        _by("problem-previous", "ArrowUp", gettext_noop("Previous problem")),
        _by("problem-fix", "f", gettext_noop("Put it into the prompt for the agent to fix")),
        note=gettext_noop("Enter shows the lines of a problem."),
    ),
    _at(
        "tree",
        gettext_noop("In the tree of files"),
        _by("tree-open", "Enter", gettext_noop("Open the file, or the folder"), fixed=True),
        _by("tree-rename", "F2", gettext_noop("Rename"), fixed=True),
        _by("tree-remove", "Delete", gettext_noop("Delete; the log can bring it back"), fixed=True),
        _by("tree-mention", "@", gettext_noop("Add to the prompt"), fixed=True),
        note=gettext_noop(
            "Arrow keys move as in any tree, and letters go to the name that begins with them. What is cut "
            "goes to the folder where it is pasted; what is copied is there once more."
        ),
    ),
    _at(
        "editor",
        gettext_noop("In an opened file"),
        _by("editor-save", "Mod+s", gettext_noop("Save it"), fixed=True),
        _by("editor-find", "Mod+f", gettext_noop("Find and replace"), fixed=True),
        _by("editor-line", "Ctrl+g", gettext_noop("Go to a line"), fixed=True),
        _by("editor-definition", "F12", gettext_noop("Where a name is defined"), fixed=True),
        _by("editor-uses", "Shift+F12", gettext_noop("Where it is used"), fixed=True),
        _by("editor-rename", "F2", gettext_noop("Give it another name in all files"), fixed=True),
        _by(
            "editor-comment",
            "Shift+F2",
            gettext_noop("Comment on the line, or on those that are selected"),
            fixed=True,
        ),
        _by("editor-form", "Shift+Alt+f", gettext_noop("Put the text in form"), fixed=True),
        _by(
            "editor-leave",
            "Escape Tab",
            gettext_noop("Leave it; Tab alone indents"),
            fixed=True,
        ),
    ),
    _at(
        "picker",
        gettext_noop("In the choice of a model"),
        _by("favourite", "Ctrl+d", gettext_noop("Mark a favourite"), single=True),
    ),
    _at(
        "terminal",
        gettext_noop("In a terminal"),
        _by("terminal-leave", "Shift+F6", gettext_noop("Leave it for its tab"), single=True),
        _by(
            "terminal-paths",
            "Ctrl+Shift+o",
            gettext_noop("List the paths on the screen, to open one"),
            single=True,
        ),
    ),
    _at(
        "tab",
        gettext_noop("At the tab of a terminal"),
        _by("terminal-left", "ArrowLeft", gettext_noop("The one before"), single=True),
        _by("terminal-right", "ArrowRight", gettext_noop("The one after"), single=True),
        _by("terminal-rename", "F2", gettext_noop("Rename"), single=True),
        _by("terminal-close", "Delete", gettext_noop("Close"), single=True),
    ),
    _at(
        "review",
        gettext_noop("In the review"),
        _by("hunk-next", "j", gettext_noop("Next hunk")),
        _by("hunk-previous", "k", gettext_noop("Previous hunk")),
        _by("file-next", "n", gettext_noop("Next file; in a tour the next stop")),
        _by("file-previous", "p", gettext_noop("Previous file; in a tour the stop before")),
        _by("hunk-undo", "u", gettext_noop("Undo the hunk, or the file whose name has the focus")),
        _by("hunk-redo", "r", gettext_noop("Redo what was undone")),
        _by("hunk-keep", "y", gettext_noop("Keep it; once more unmarks it")),
        _by("file-viewed", "v", gettext_noop("Viewed")),
        _by("hunk-comment", "c", gettext_noop("Comment")),
        _by("review-wide", "e", gettext_noop("Full review over the conversation; Esc goes back")),
        _by("review-split", "s", gettext_noop("Side by side, or one below the other")),
        _by("review-space", "w", gettext_noop("Ignore white space")),
        note=gettext_noop(
            "These keys work while the focus is in the review, and never while you type. What is undone "
            "stays in the operations log of the project, and can be redone at any time."
        ),
    ),
)

SHORTCUTS: Final = {one.name: one for group in GROUPS for one in group.shortcuts}
COMMANDS: Final = tuple(one for one in SHORTCUTS.values() if one.command)
LEADS: Final = {
    "add-dir": "add-folder",
    "agents": "choose",
    "archive": "archive-session",
    "attach": "prompt",
    "compact": "compact",
    "compare": "compare",
    "delete": "delete-session",
    "fork": "fork",
    "git": "git",
    "goal": "goal",
    "large-prompt": "prompt",
    "mcp": "servers",
    "mode": "choose",
    "models": "choose",
    "move": "move-session",
    "new": "new-session",
    "new-folder": "file-sessions",
    "pin": "pin-session",
    "pin-note": "add-pin",
    "preview": "open-preview",
    "prompt": "prompt",
    "redo": "redo",
    "rename": "rename-session",
    "review-mode": "staging-mode",
    "save-snippet": "save-snippet",
    "schedules": "schedules",
    "search": "search",
    "settings": "settings",
    "stop": "abort",
    "terminals": "shell",
    "undo": "undo",
}
"""What does something or goes somewhere, with the name of the URL that it leads to: who may not have that is
not offered it. The others show what is in the page."""
TITLES: Final = {one.name: group.title for group in GROUPS for one in group.shortcuts}
"""What a person calls the place of each."""


def offered(request: HttpRequest, shortcuts: Iterable[Shortcut]) -> Iterator[Shortcut]:
    """Those that lead to what is for who asks."""
    return (one for one in shortcuts if one.name not in LEADS or may(request, LEADS[one.name]))
