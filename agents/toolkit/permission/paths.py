"""Which paths a command touches, as far as that can be told before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Flag, auto
from glob import iglob
from itertools import islice, pairwise
from os.path import normpath
from pathlib import Path

from agents.toolkit.permission import commands as known
from agents.toolkit.permission.words import Word
from sessions.core.platform.names import as_listed

_ATTACHED = re.compile(r"(?:--(?:\w[\w-]*)|if|of)=(.+)", re.DOTALL)
_UPLOADS = re.compile(r"(?:-\w|.*=)?@(.+)", re.DOTALL)
_GLOB = re.compile(r"[^$`{<>('\"\\]*[*?\[][^$`{<>('\"\\]*")
_MAX_GLOB = 1000
_STREAMS = re.compile(r"/dev/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd/\d+)")
_PROGRAMS = ("/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/")
_INSTALLED = re.compile(r"(?:.*/)?(?:s?bin|\.bin|Scripts|libexec)/[^/]+", re.DOTALL)
"""What folders of programs are called, wherever they lie."""
_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[^/]+")


class Use(Flag):
    """What is done with a path: nothing but naming it, reading the file, writing it."""

    GO = 0
    READ = auto()
    WRITE = auto()
    GLOB = auto()
    """The path is a pattern of those that are meant."""
    INTO = auto()
    """It is meant only where what it lies in is a folder: `cp a b` may write `b/a`."""


def touched(name: str, words: Sequence[Word]) -> Iterator[tuple[str, Use]]:
    """(path as known, what is done with it) for each argument of command `name` that is a path."""
    yield from _command_itself(words[0])
    yield from _options(words)
    if name == "curl":
        yield from ((found[1], Use.READ) for word in words if (found := _UPLOADS.fullmatch(word.known)))
    operands = _operands(name, words)
    in_place = name == "sed" and any(re.match("-[nEsuz]*i|--in-place", word.text) for word in words)
    target = operands[-1] if name in known.WRITES_LAST or (name == "uniq" and operands[1:]) else None
    creates = name == "tar" and any(re.match(r"-?\w*[cruA]|--(?:c|ap|u)", word.text) for word in words[1:])
    for before, word in pairwise([words[0], *operands]):
        last = word is target
        archive = creates and before is operands[0] and before.text.endswith("f")
        writes = in_place or name in known.WRITES_ALL or last or archive
        reads = name in known.READS and not last and not archive
        use = (Use.WRITE if writes else Use.GO) | (Use.READ if reads else Use.GO)
        for path, how in _names(word):
            yield path, use | how
    for word in operands:
        if name in known.WRITES_LAST and operands[-1].whole and word.whole:
            yield f"{operands[-1].known}/{word.known.rsplit('/', 1)[-1]}", Use.WRITE | Use.INTO


def _names(word: Word) -> Iterator[tuple[str, Use]]:
    """The path that a word names, or the folder that its known beginning ends in; what a pattern fits."""
    if path := beginning(word):
        yield path, Use.GO
    if _GLOB.fullmatch(word.raw):
        yield word.text, Use.GLOB


def meant(base: Path, path: str, use: Use) -> Iterator[Path]:
    """The real paths that `path` stands for, seen from `base`."""
    names = [path]
    if Use.GLOB in use:
        names = list(islice(iglob(path, root_dir=base), _MAX_GLOB))
    elif Use.INTO in use and not (base / path).parent.is_dir():
        names = []
    yield from (found for name in names if (found := resolve(base, name)))


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
        return as_listed((base / path).resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name the system cannot hold
        return Path(path) if path.startswith("/") else None


def is_system_command(path: str) -> bool:
    """Whether it is the full path of a command that goes by its last part: /usr/bin/rm."""
    return path.startswith("/") and _SYSTEM.fullmatch("/" + normpath(path).lstrip("/")) is not None


def _command_itself(word: Word) -> Iterator[tuple[str, Use]]:
    """Nothing for an installed program, such as the `python` of a virtual environment: to run it is the
    matter of the `bash` rules."""
    path = beginning(word)
    installed = word.whole and _INSTALLED.fullmatch(path)
    if "/" in path and not installed and not path.startswith(_PROGRAMS):
        # Its folder, because the command itself may be a link to the system's.
        yield path[: path.rfind("/") + 1], Use.GO


def _options(words: Sequence[Word]) -> Iterator[tuple[str, Use]]:
    for before, word in pairwise(words):
        attached = _ATTACHED.fullmatch(word.known)
        if attached:
            writes = attached[0].startswith(("of=", "--o", "--target"))
            yield attached[1], Use.WRITE if writes else Use.READ if attached[0].startswith("if=") else Use.GO
        elif before.text in ("-T", "--upload-file") and beginning(word):
            yield beginning(word), Use.READ
        elif before.text.startswith(("-fprint", "-fls")) and beginning(word):
            yield beginning(word), Use.WRITE
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
        takes = operands and (operands[0].text in known.GIT_WITH_PATHS or "--no-index" in options)
        return operands[1:] if takes else []
    return operands if name in known.PATH_COMMANDS else []
