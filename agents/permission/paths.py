"""Which paths a command touches, as far as that can be told before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Flag, auto
from itertools import pairwise
from pathlib import Path

from agents.permission import commands as known
from agents.permission.words import Word

_ATTACHED = re.compile(r"(?:--(?:\w[\w-]*)|if|of)=(.+)", re.DOTALL)
_STREAMS = re.compile(r"/dev/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd/\d+)")
_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[^/]+")


class Use(Flag):
    """What is done with a path: nothing but naming it, reading the file, writing it."""

    GO = 0
    READ = auto()
    WRITE = auto()


def touched(name: str, words: Sequence[Word]) -> Iterator[tuple[str, Use]]:
    """(path as known, what is done with it) for each argument of command `name` that is a path."""
    yield from _command_itself(words[0])
    yield from _options(words)
    operands = _operands(name, words)
    in_place = name == "sed" and any(re.match("-[nEsuz]*i|--in-place", word.text) for word in words)
    for index, word in enumerate(operands):
        last = index == len(operands) - 1 and name in known.WRITES_LAST
        writes = in_place or name in known.WRITES_ALL or last
        reads = name in known.READS and not last
        use = (Use.WRITE if writes else Use.GO) | (Use.READ if reads else Use.GO)
        for path in names(word):
            yield path, use


def names(word: Word) -> list[str]:
    """The paths that a word names, or the folder that its known beginning ends in."""
    return [path] if (path := beginning(word)) else []


def beginning(word: Word) -> str:
    """The path a word names, or the folder its known beginning ends in; empty when nothing is known."""
    if word.whole:
        return word.known
    return word.known[: word.known.rfind("/") + 1]


def resolve(base: Path, path: str) -> Path | None:
    """Where `path` leads from `base`, with `..` and links followed; None for a stream such as /dev/null."""
    if _STREAMS.fullmatch(path):
        return None
    try:
        return (base / path).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name the system cannot hold
        return Path(path) if path.startswith("/") else None


def is_system_command(path: str) -> bool:
    """Whether it is the full path of a command that goes by its last part: /usr/bin/rm."""
    return _SYSTEM.fullmatch(path) is not None


def _command_itself(word: Word) -> Iterator[tuple[str, Use]]:
    path = beginning(word)
    if "/" in path and not path.startswith(("/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/")):
        # Its folder, because the command itself is often a link to the system's: .venv/bin/python.
        yield path[: path.rfind("/") + 1], Use.GO


def _options(words: Sequence[Word]) -> Iterator[tuple[str, Use]]:
    for before, word in pairwise(words):
        attached = _ATTACHED.fullmatch(word.known)
        if attached:
            uses = {"of=": Use.WRITE, "if=": Use.READ}
            yield attached[1], uses.get(attached[0][:3], Use.GO)
        elif before.text in known.PATH_OPTIONS and beginning(word):
            yield beginning(word), Use.GO if before.text == "-C" else Use.WRITE


def _operands(name: str, words: Sequence[Word]) -> list[Word]:
    rest = list(words[1:])
    if name == "find":
        end = next((i for i, word in enumerate(rest) if word.text[:1] in ("-", "(", "!")), len(rest))
        return rest[:end]
    operands = [word for word in rest if not word.text.startswith("-")]
    options = {word.text for word in rest if word.text.startswith("-")}
    if name in known.INTERPRETERS:
        return [] if options & {"-c", "-e", "-m"} else operands[:1]
    if name in known.FIRST_ARGUMENT_IS_PROGRAM:
        given = any(option.startswith(("--regexp=", "--expression=", "--file=")) for option in options)
        return operands if given else operands[1:]
    if name == "git":
        return operands[1:] if operands and operands[0].text in known.GIT_WITH_PATHS else []
    return operands if name in known.PATH_COMMANDS else []
