"""From the words of one command: the commands and scripts inside of it, and its "always" pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.permission import commands as known
from agents.permission import runners
from agents.permission.words import Word

_MAX_WRAPPERS = 10
_ASSIGNMENT = re.compile(r"[^=]*=")


def command_name(words: Sequence[Word]) -> str:
    """The name without its folder; empty when it is not known before running."""
    return "" if words[0].dynamic else _base(words[0])


def shown(words: Sequence[Word]) -> str:
    """The command as one line for rules and dialogs: one blank between words."""
    return " ".join(word.shown for word in words)


def inner_commands(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The command a wrapper runs (`sudo rm x`: `rm x`), the commands `find -exec` runs."""
    start = _inner_start(words)
    if start is not None and command_name(words) not in known.EVALUATE_ALL:
        yield words[start:]
    if command_name(words) == "find":
        yield from _find_commands(words)


def wraps_clearly(words: Sequence[Word]) -> bool:
    """Whether it is known which of the words of a wrapper are the command inside, and where that runs."""
    name = command_name(words)
    wrapper = known.WRAPPERS.get(name)
    front = words[1 : _inner_start(words)] if wrapper else []
    expected = known.WRAPPER_FLAGS.union(
        known.SCRIPT_OPTIONS.get(name, ()), wrapper.valued if wrapper else ()
    )
    return not any(
        (word.dynamic and word.raw != "{}")
        or word.text in ("-", "-C", "--chdir")
        or (name == "time" and word.text[:1] == "-" and word.text not in ("-p", "--"))
        or (word.text.startswith("--") and word.text.partition("=")[0] not in expected - {"--chdir"})
        for word in front
    )


def script_clear(words: Sequence[Word]) -> bool:
    """Whether it is known which word is the script of a shell: behind `-c` no option may take another one."""
    if command_name(words) not in known.SHELLS:
        return True
    texts = [word.text for word in words[1:]]
    start = next((at for at, text in enumerate(texts) if re.match(r"-\w*c", text)), len(texts))
    return not any(re.match(r"\+|--\w|-\w*[oO]", text) for text in texts[start:]) and not any(
        text.startswith(("--rcfile", "--init-file")) or text[:1] == "+" for text in texts[:start]
    )


def assignments(words: Sequence[Word]) -> list[str]:
    """The names that `env NAME=value …` and `sudo NAME=value …` put into the environment."""
    wrapper = known.WRAPPERS.get(command_name(words))
    if wrapper is None or not wrapper.assignments:
        return []
    start = _inner_start(words)
    return [word.text.split("=", 1)[0].rstrip("+") for word in words[1:start] if _ASSIGNMENT.match(word.text)]


def inner_scripts(words: Sequence[Word]) -> Iterator[str | None]:
    """Texts that a shell will read as a script: `bash -c`, `eval`, `env -S`, `trap`, `watch`; None for one
    that the shell makes when it gets there."""
    name = command_name(words)
    yield from (_script([word]) for word in _option_scripts(name, words))
    if name == "eval":
        yield _script(words[1:])
    elif name == "trap" and len(words) > 2:
        yield _script(words[1:2])
    elif name in known.EVALUATE_ALL:
        start = _inner_start(words)
        yield from [_script(words[start:])] if start is not None else []


def _script(words: Sequence[Word]) -> str | None:
    return None if any(word.dynamic for word in words) else " ".join(word.text for word in words)


def always_pattern(words: Sequence[Word]) -> str | None:
    """What "allow always" would allow; None when nothing safe can be said."""
    at = 0
    for _ in range(_MAX_WRAPPERS):
        script = any(True for _ in inner_scripts(words[at:]))
        start = _inner_start(words[at:])
        if start is None or script:
            pattern = _own_pattern(words[at:], exact=script)
            return " ".join([*(word.shown for word in words[:at]), pattern]) if pattern else None
        if not _fixed(words[at : at + start]):
            return None
        at += start
    return None


def _own_pattern(words: Sequence[Word], *, exact: bool) -> str | None:
    count = _arity(words)
    head = words[:count]
    name = words[0].text
    exact |= len(head) < count or any(word.text.startswith("-") for word in head[1:])
    if exact or not runners.widens(name, words) or runners.runs_by_option(name, words):
        return shown(words) if _fixed(words) else None
    plain = _fixed(head) and all(word.shown == word.text for word in head)
    return f"{shown(head)} *" if plain else None


def _base(word: Word) -> str:
    return word.text.rsplit("/", 1)[-1]


def _fixed(words: Sequence[Word]) -> bool:
    return not any(word.dynamic or "*" in word.text or "?" in word.text for word in words)


def _arity(words: Sequence[Word]) -> int:
    if " ".join(word.text for word in words[:2]) in known.THREE_WORDS:
        return 3
    return 2 if words[0].text in known.TWO_WORDS else 1


def _inner_start(words: Sequence[Word]) -> int | None:
    """Index of the first word of the wrapped command."""
    name = command_name(words)
    wrapper = known.WRAPPERS.get(name)
    if wrapper is None or (name == "command" and len(words) > 1 and words[1].text in ("-v", "-V")):
        return None
    start = _after_options(words, wrapper.valued)
    while wrapper.assignments and start < len(words) and _ASSIGNMENT.match(words[start].text):
        start += 1
    start += wrapper.operands
    return start if start < len(words) and not words[start].text.startswith("-") else None


def _after_options(words: Sequence[Word], valued: frozenset[str]) -> int:
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        text = words[index].text
        index += 1
        if text == "--":
            break
        index += _takes_next(text, valued)
    return index


def _takes_next(option: str, valued: frozenset[str]) -> bool:
    if option.startswith("--"):
        return option in valued
    # In a cluster such as -nu the last letter may take the next word; an earlier one takes the rest.
    taking = next((at for at, letter in enumerate(option[1:], 1) if f"-{letter}" in valued), None)
    return taking == len(option) - 1


def _find_commands(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    at = 0
    while at < len(words):
        at += 1
        if words[at - 1].text in known.FIND_RUNS:
            end = next((i for i in range(at, len(words)) if words[i].text in (";", "+")), len(words))
            if end > at:
                yield words[at:end]
            at = end


def _option_scripts(name: str, words: Sequence[Word]) -> Iterator[Word]:
    options = known.SCRIPT_OPTIONS.get(name, ())
    for at, word in enumerate(words[1:], 1):
        for option in options:
            attached = option.startswith("--") and word.text.startswith(option + "=")
            if attached:
                text = word.text.removeprefix(option + "=")
                yield replace(word, raw=text, text=text)
            elif name not in known.SHELLS and (text := _attached(word.text, option)):
                yield replace(word, raw=text, text=text)
            elif _is_option(word.text, option) and at + 1 < len(words):
                # Options may stand between -c and its script: bash -c -e 'script'.
                yield from [rest for rest in words[at + 1 :] if not rest.text.startswith("-")][:1]


def _attached(text: str, option: str) -> str:
    """The script in one word with a short option: `env -iS'ls -a'`."""
    cluster = _is_option(text, option) and len(option) == 2
    return text.partition(option[1])[2] if cluster else ""


def _is_option(text: str, option: str) -> bool:
    cluster = text.startswith("-") and not text.startswith("--") and len(option) == 2
    return text == option or (cluster and option[1] in text[1:])
