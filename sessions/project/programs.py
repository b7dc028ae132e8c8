"""Programs of this machine that folders and files are opened in: a table, which of it there is, and starting
one as the person, outside of any sandbox."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.holding import OWN

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_TERMINALS = (
    *("x-terminal-emulator", "gnome-terminal", "konsole", "xfce4-terminal", "alacritty", "kitty", "foot"),
    "xterm",
)


@dataclass(frozen=True, slots=True)
class Program:
    """`executables` are alternatives; the first that is found is started with `at_line` for a line of a file,
    else with `arguments`. `{path}`, `{line}` and `{folder}` in them are what is opened. `within`: in a
    terminal."""

    name: str
    label: str
    executables: tuple[str, ...]
    arguments: tuple[str, ...] = ("{path}",)
    at_line: tuple[str, ...] = ()
    within: bool = False


_GOTO = ("--goto", "{path}:{line}")
_COLON = ("{path}:{line}",)
_PLUS = ("+{line}", "{path}")
_OPTION = ("--line", "{line}", "{path}")
PROGRAMS = (
    Program("files", gettext_noop("File manager"), ("xdg-open", "open"), ("{folder}",)),
    Program("terminal", gettext_noop("Terminal"), _TERMINALS, ()),
    Program("default", gettext_noop("What the system opens it in"), ("xdg-open", "open")),
    Program("code", "Visual Studio Code", ("code",), at_line=_GOTO),
    Program("codium", "VSCodium", ("codium",), at_line=_GOTO),
    Program("cursor", "Cursor", ("cursor",), at_line=_GOTO),
    Program("windsurf", "Windsurf", ("windsurf",), at_line=_GOTO),
    Program("zed", "Zed", ("zed", "zeditor"), at_line=_COLON),
    Program("subl", "Sublime Text", ("subl",), at_line=_COLON),
    Program("idea", "IntelliJ IDEA", ("idea",), at_line=_OPTION),
    Program("pycharm", "PyCharm", ("pycharm",), at_line=_OPTION),
    Program("kate", "Kate", ("kate",), at_line=_OPTION),
    Program("gedit", gettext_noop("Text Editor"), ("gnome-text-editor", "gedit"), at_line=_PLUS),
    Program("emacs", "Emacs", ("emacs",), at_line=_PLUS),
    Program("nvim", "Neovim", ("nvim",), at_line=_PLUS, within=True),
    Program("vim", "Vim", ("vim",), at_line=_PLUS, within=True),
)


class NotStarted(Exception):
    """The text says why, for people."""


def own(name: str, command: str) -> Program:
    """Of a line that a person wrote, as a shell splits it. Raises ValueError where it cannot be split."""
    first, *rest = shlex.split(command) or [""]
    if not first:
        raise ValueError(gettext("There is no program in it."))
    with_path = rest if any("{path}" in word or "{folder}" in word for word in rest) else [*rest, "{path}"]
    return Program(name, name, (first,), tuple(with_path), tuple(with_path))


def found(others: Iterable[Program] = (), environ: Mapping[str, str] = os.environ) -> list[Program]:
    """Those that can be started here, of the table and of the person's own; none without a screen."""
    if sys.platform != "darwin" and not any(environ.get(name) for name in DISPLAYS):
        return []
    return [program for program in (*others, *PROGRAMS) if _command(program, environ)]


def start(program: Program, path: Path, line: int, environ: Mapping[str, str] = os.environ) -> None:
    """At a line from 1; 0 for none. It goes on when this process ends. Raises NotStarted."""
    command = _command(program, environ)
    if not command:
        raise NotStarted(gettext("%(label)s is not there any more.") % {"label": gettext(program.label)})
    folder = path if path.is_dir() else path.parent
    words = program.at_line if line and program.at_line and path.is_file() else program.arguments
    given = {"{path}": str(path), "{folder}": str(folder), "{line}": str(line or 1)}
    argv = [*command, *(_filled(word, given) for word in words)]
    try:
        child = subprocess.Popen(
            argv,
            cwd=folder,
            env={name: value for name, value in environ.items() if name not in OWN},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NotStarted(
            gettext("%(label)s could not be started: %(strerror)s.")
            % {"label": gettext(program.label), "strerror": error.strerror}
        ) from error
    threading.Thread(target=child.wait, daemon=True).start()


def _command(program: Program, environ: Mapping[str, str]) -> list[str]:
    """What stands before the arguments; empty where something of it is missing."""
    executable = _which(program.executables, environ)
    if not executable or not program.within:
        return [executable] if executable else []
    terminal = _which(_TERMINALS, environ)
    runs = "--" if Path(terminal).name == "gnome-terminal" else "-e"
    return [terminal, runs, executable] if terminal else []


def _which(names: Iterable[str], environ: Mapping[str, str]) -> str:
    places = (shutil.which(name, path=environ.get("PATH")) for name in names)
    return next(filter(None, places), "")


def _filled(word: str, given: Mapping[str, str]) -> str:
    for name, value in given.items():
        head, found, tail = word.partition(name)
        if found:
            return f"{_filled(head, given)}{value}{_filled(tail, given)}"
    return word
