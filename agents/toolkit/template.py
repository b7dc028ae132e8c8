"""The language of a command's template. Pure: nothing is run and nothing is read here.

Source: OpenCode's documentation of commands.

- `$ARGUMENTS` is all that was written after the command's name.
- `$1`, `$2` … are its words; quotes keep words together. The highest number takes all words from there on.
- Without any of these the arguments follow the template.
- !`command` is run in a shell, and its output stands in its place. An argument in it is always data: it is
  quoted as the shell wants it where it stands. Within '…' nothing is replaced, as in a shell.
- `\\$` is a plain dollar sign.
- `@name` names a file of the project or an agent; it stays in the text.

A number is required: a command that uses `$2` is refused when there is one word only. `$ARGUMENTS` may be
empty. What an argument says is never read as template: a !`…` in it is text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SHELL = re.compile(r"!`([^`]+)`")
_PLACE = re.compile(r"\\\$|\$(ARGUMENTS\b|[1-9]\d?(?!\d))")
_SHELL_STEP = re.compile(r"\\.|['\")]|\$\(|\$(ARGUMENTS\b|[1-9]\d?(?!\d))", re.DOTALL)
_WORD = re.compile(r"""(?:(?<=\w)'(?=\w)|"[^"]*"|'[^']*'|\S)+""")
_QUOTED = re.compile(r"""(?<=\w)'(?=\w)|"([^"]*)"|'([^']*)'""")
_MENTION = re.compile(r"(?<![\w`@])@((?:[^\s`,.;:!?)\]}\"'@]|[.:](?=[^\s`,;)\]}\"'])|@(?=\w))+)")


class MissingArgument(ValueError):
    """A numbered placeholder has no word; the text is for the person who wrote the command."""


@dataclass(frozen=True, slots=True)
class Shell:
    """A command line whose output belongs in its place."""

    command: str


Piece = str | Shell


def words(arguments: str) -> list[str]:
    """As a shell would split them, except that an apostrophe within a word and a quote without its partner
    are characters like any other."""
    return [_unquoted(found[0]) for found in _WORD.finditer(arguments)]


def hints(template: str) -> list[str]:
    """The placeholders of a template: the numbers in order, then `$ARGUMENTS`."""
    used = set(_places(template))
    numbers = sorted(int(place) for place in used - {"ARGUMENTS"})
    return [f"${number}" for number in numbers] + (["$ARGUMENTS"] if "ARGUMENTS" in used else [])


def check(template: str, arguments: str) -> None:
    """Raises MissingArgument that names the first number without a word."""
    given = len(words(arguments))
    for hint in hints(template):
        if hint != "$ARGUMENTS" and int(hint[1:]) > given:
            count = f"{given or 'no'} word{'' if given == 1 else 's'}"
            raise MissingArgument(
                f"Argument {hint} is missing: {count} given. Quotes keep several words together."
            )


def expand(template: str, arguments: str) -> list[Piece]:
    """The text with its arguments, and the command lines in it. Raises MissingArgument."""
    check(template, arguments)
    values = _Values.of(template, arguments)
    pieces: list[Piece] = []
    end = 0
    for found in _SHELL.finditer(template):
        pieces += [values.in_text(template[end : found.start()]), Shell(values.in_shell(found[1]))]
        end = found.end()
    rest = values.in_text(template[end:])
    if not hints(template) and arguments.strip():
        rest = f"{rest.rstrip()}\n\n{arguments.strip()}"
    return [piece for piece in [*pieces, rest] if piece]


def mentions(text: str) -> list[str]:
    """The names after `@` in a text, each once. An address (`a@b`) and code in backticks are none."""
    return list(dict.fromkeys(found[1] for found in _MENTION.finditer(text)))


@dataclass(frozen=True, slots=True)
class _Values:
    arguments: str
    words: Sequence[str]
    highest: int

    @classmethod
    def of(cls, template: str, arguments: str) -> _Values:
        numbers = [int(place) for place in _places(template) if place != "ARGUMENTS"]
        return cls(arguments.strip(), words(arguments), max(numbers, default=0))

    def in_text(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            if not found[1]:
                return "$"
            return self.arguments if found[1] == "ARGUMENTS" else " ".join(self._words(found[1]))

        return _PLACE.sub(value, text)

    def in_shell(self, command: str) -> str:
        done, end = "", 0
        for found, in_double_quotes in _shell_places(command):
            chosen = self._words(found[1])
            if in_double_quotes:
                value = re.sub(r'([\\"$`])', r"\\\1", " ".join(chosen))
            else:
                value = " ".join(map(shlex.quote, chosen))
            done += command[end : found.start()] + value
            end = found.end()
        return done + command[end:]

    def _words(self, place: str) -> Sequence[str]:
        if place == "ARGUMENTS":
            return self.words
        number = int(place)
        return self.words[number - 1 :] if number == self.highest else self.words[number - 1 : number]


def _places(template: str) -> Iterator[str]:
    """`ARGUMENTS` or a number for each placeholder."""
    for found in _PLACE.finditer(_SHELL.sub("", template)):
        if found[1]:
            yield found[1]
    for command in _SHELL.findall(template):
        yield from (found[1] for found, _ in _shell_places(command))


def _shell_places(command: str) -> Iterator[tuple[re.Match[str], bool]]:
    """The placeholders of a command line outside of '…', and whether each stands within "…"."""
    quoted = [False]
    at = 0
    while step := _SHELL_STEP.search(command, at):
        at = step.end()
        if step[1]:
            yield step, quoted[-1]
        elif step[0] == '"':
            quoted[-1] = not quoted[-1]
        elif step[0] == "$(":
            quoted.append(False)
        elif step[0] == ")" and len(quoted) > 1 and not quoted[-1]:
            quoted.pop()
        elif step[0] == "'" and not quoted[-1]:
            at = command.find("'", at) + 1 or len(command)


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda found: next((part for part in found.groups() if part is not None), "'"), word)
