"""`opencode-web completion SHELL`: what a shell is told to complete the command line by.

The script of each shell asks the program, which walks its own parsers: no list of options is kept twice.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterable, Sequence

from opencode_web.cli.terminal import say
from opencode_web.itself import ITSELF

WORDS = "--words"
"""What a script puts between the command and the words of the line, the last of which is being written."""
FILES = ":files"
"""In place of candidates: the shell completes paths itself."""
_SECONDS = 10.0
_SESSIONS = 50
_PATHS = frozenset({"DIR", "FILE", "FOLDER", "PATH", "SOURCE", "TARGET"})

_SCRIPTS = {
    "bash": """\
# in ~/.bashrc: source <(opencode-web completion bash)
_opencode_web() {
  local IFS=$'\\n'
  COMPREPLY=($(opencode-web completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ ${COMPREPLY[0]-} == ":files" ]]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _opencode_web opencode-web
""",
    "zsh": """\
# in ~/.zshrc, after compinit: source <(opencode-web completion zsh)
_opencode_web() {
  local -a found
  found=("${(@f)$(opencode-web completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $found[1] == ":files" ]]; then
    _files
  else
    compadd -- $found
  fi
}
compdef _opencode_web opencode-web
""",
    "fish": """\
# in ~/.config/fish/completions/opencode-web.fish
function __opencode_web
  set -l found (opencode-web completion --words (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test "$found[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c opencode-web -f -a '(__opencode_web)'
""",
}
SHELLS = tuple(_SCRIPTS)


def script(arguments: argparse.Namespace) -> None:
    say(_SCRIPTS[arguments.shell].rstrip())


def answer(words: Sequence[str], bare: argparse.ArgumentParser, commands: argparse.ArgumentParser) -> None:
    """Print what the last of the words may become, one a line; `bare` is the parser of a line without a
    command."""
    *before, begun = words or [""]
    for candidate in _candidates(before, begun, bare, commands):
        if candidate == FILES or candidate.startswith(begun):
            say(candidate)


def _candidates(
    before: Sequence[str], begun: str, bare: argparse.ArgumentParser, commands: argparse.ArgumentParser
) -> Iterable[str]:
    parser, last = commands, ""
    for last in before:
        parser = _below(parser).get(last, parser)
    if parser is commands and before:
        parser = bare
    option = parser._option_string_actions.get(last)
    if option is not None and option.nargs != 0:
        return _values(option)
    if begun.startswith("-"):
        return sorted((bare if parser is commands else parser)._option_string_actions)
    below = _below(parser)
    if below:
        return sorted(below)
    places = (action for action in parser._actions if not action.option_strings)
    return _values(next(places, None))


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands behind one, by name."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= action.choices
    return found


def _values(action: argparse.Action | None) -> Iterable[str]:
    """What an option or an argument may be; nothing where that is free."""
    if action is None:
        return ()
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if action.metavar == "PROVIDER/MODEL":
        return _ask("models").splitlines()
    if action.metavar == "sessionID" or (action.dest, action.metavar) == ("session", "ID"):
        listed = _ask("session", "list", "--format", "json", "--max-count", str(_SESSIONS))
        return [entry["id"] for entry in json.loads(listed or "[]")]
    return (FILES,) if action.metavar in _PATHS else ()


def _ask(*command: str) -> str:
    """What the program prints; nothing when it fails or takes too long: a shell waits for it."""
    try:
        done = subprocess.run(
            [*ITSELF, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""
