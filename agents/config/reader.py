"""Read one configuration text: parse, substitute, check. Nothing here raises for what a file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from django.utils.translation.trans_null import gettext_noop

from agents.config import jsonc
from agents.config.check import check, misspelt, unknown_keys
from agents.config.folders import Entry
from agents.config.plugins import entries, located, path_of
from agents.config.problem import Malformed, Problem
from agents.config.substitute import Substitution
from agents.config.trust.wants import HOW, Want
from agents.config.trusted import Gate
from agents.config.unused import of_entries
from sessions.core.confined import LeadsOut, read_whole
from sessions.core.sentences import Sentence

# How a nearer configuration file lies over a farther one.

_JOINED = frozenset({"instructions", "plugin"})
"""Lists that add up over the files; every other list is replaced."""


_RULES = ("permission", "restrictions")


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """A new dictionary: objects are merged key by key, anything else in `over` replaces what was there."""
    merged = _merge_objects(base, over)
    for key in _JOINED & base.keys() & over.keys():
        if isinstance(base[key], list) and isinstance(over[key], list):
            merged[key] = [*base[key], *(item for item in over[key] if item not in base[key])]
    return merged


def _merge_objects(base: dict[str, Any], over: dict[str, Any], rules: bool = False) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        merged[key] = _merge_value(base.get(key), value, rules or key in _RULES)
    return merged


def _merge_value(base: Any, over: Any, rules: bool) -> Any:
    if rules and isinstance(base, str) and isinstance(over, dict):
        # `"bash": "deny"` under `"bash": {"git *": "allow"}` must go on denying the rest.
        base = {"*": base}
    if isinstance(base, dict) and isinstance(over, dict):
        return _merge_objects(base, over, rules)
    return over


def patched(base: Any, patch: Mapping[str, Any], rules: bool = False) -> dict[str, Any]:
    """What a file says after a person's change of it: as `merge`, but every list is replaced, and null takes
    a key away."""
    if rules and isinstance(base, str):
        base = {"*": base}
    merged = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = patched(merged.get(key), value, rules or key in _RULES)
        else:
            merged[key] = value
    return merged


MAX_FILE = 1024 * 1024
"""Bytes that a configuration file may have."""


class Parsed(Protocol):
    """A text that was read: its value, what is to be said of its keys, and the line of each."""

    value: Any

    @property
    def warnings(self) -> Sequence[tuple[jsonc.Path, str]]: ...

    def line(self, path: jsonc.Path) -> int | None: ...


Parser = Callable[[str], Parsed]


@dataclass(slots=True)
class Reading:
    """What one source gave. `files` are those that it refers to; `want` is what a project's file asks for
    that takes trust, `plugins` the paths that it names, also without trust, `unused` what it has or names
    that only others read."""

    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    want: Want | None = None
    plugins: list[Path] = field(default_factory=list)
    unused: list[Problem] = field(default_factory=list)


def read_entry(entry: Entry, environ: Mapping[str, str], gate: Gate | None = None) -> Reading:
    """The same as `read_file` for a Markdown file that holds one entry."""
    from agents.config.frontmatter import Document

    def parse(text: str) -> Parsed:
        return Document(text, entry.section, entry.name)

    return read_file(entry.file, environ, gate, parse)


def read_file(
    file: Path, environ: Mapping[str, str], gate: Gate | None = None, parse: Parser = jsonc.Document
) -> Reading:
    """The values of a file that exists; an unreadable or malformed one has a problem and no values. Through
    a gate come only those that count."""
    try:
        raw = gate.reach.read(file, MAX_FILE) if gate is not None else read_whole(file, None, MAX_FILE)
        text = raw.decode("utf-8")
    except LeadsOut as error:
        return beyond(file, error, gate)
    except UnicodeDecodeError as error:
        return Reading(
            problems=[
                Problem(
                    file,
                    None,
                    "",
                    Sentence("not UTF-8 text (byte %(start)s)", start=error.start),
                )
            ]
        )
    except OSError as error:
        return Reading(problems=[Problem(file, None, "", error.strerror or str(error))])
    return read_text(text, file, file.parent, environ, gate, parse)


def beyond(path: Path, error: LeadsOut, gate: Gate | None) -> Reading:
    """For a file or a folder of the project that leads out of it: it waits for trust, where that can help."""
    want = gate.reach.want(path) if gate is not None else None
    words = (
        gettext_noop("leads out of the project, to %(path)s: it waits until you trust it %(how)s")
        if want is not None
        else gettext_noop("leads out of the project, to %(path)s and is not read")
    )
    message = Sentence(words, path=error.real, how=Sentence(HOW))
    return Reading(problems=[Problem(path, None, "", message)], want=want)


def read_text(
    text: str,
    file: Path,
    base: Path,
    environ: Mapping[str, str],
    gate: Gate | None = None,
    parse: Parser = jsonc.Document,
) -> Reading:
    """The same for a text; `file` is its name in problems, `base` where relative paths start."""
    try:
        document = parse(text)
    except Malformed as error:
        message = Sentence("%(problem)s (column %(column)s)", problem=error.message, column=error.column)
        return Reading(problems=[Problem(file, error.line, "", message)])
    if not isinstance(document.value, dict):
        return Reading(problems=[Problem(file, 1, "", Sentence("expected an object: { … }"))])
    written = _with_modes(document.value)
    substitution = Substitution(base, environ, origin=file)
    config, values, faults = check(substitution.apply(written))
    spelt = dict(misspelt(config))
    problems = [
        Problem(file, _line(document, path), _dotted(path), message)
        for path, message in [*substitution.failures, *faults, *spelt.items()]
    ]
    problems += [
        Problem(file, _line(document, path), _dotted(path), message, "warning")
        for path, message in document.warnings
    ]
    unknown = [path for path in unknown_keys(config) if path not in spelt]
    if unknown:
        names = ", ".join(map(_dotted, unknown))
        message = Sentence("not used by opencode-web and ignored: %(names)s", names=names)
        problems.append(Problem(file, document.line(unknown[0]), _dotted(unknown[0]), message, "warning"))
    named = [name for name, _ in entries(values.get("plugin"))]
    want = None
    if gate is not None:
        restrained, want = gate.look(written, text, file, substitution)
        values = values if want is not None and want.trusted else check(restrained)[1]
    if want is not None and not want.trusted:
        keys = ", ".join(wish.key for wish in want.wishes)
        words = gettext_noop("waits until you trust this file %(how)s: %(keys)s")
        message = Sentence(words, how=Sentence(HOW), keys=keys)
        problems.append(Problem(file, None, "", message, "warning"))
    line = document.line(("plugin",))
    idle = [Problem(file, line, "plugin", words, "warning") for words in of_entries(named, base, environ)]
    files = [path for path in (path_of(name, base, environ) for name in named) if path is not None]
    if "plugin" in values:
        values = {**values, "plugin": located(values["plugin"], base, environ)}
    looked = substitution.files | {*files}
    return Reading(values, problems, looked, want, files, idle)


def _dotted(path: jsonc.Path) -> str:
    return ".".join(map(str, path))


def _with_modes(values: dict[str, Any]) -> dict[str, Any]:
    """With the entries of the older key `mode` as primary agents, under those of `agent`."""
    modes = values.get("mode")
    if not isinstance(modes, dict) or not all(isinstance(mode, dict) for mode in modes.values()):
        return values
    agents = {name: {**mode, "mode": "primary"} for name, mode in modes.items()}
    rest = {key: value for key, value in values.items() if key != "mode"}
    return merge({"agent": agents}, rest)


def _line(document: Parsed, path: jsonc.Path) -> int | None:
    """The line of a key, which for an agent may stand under the older `mode`."""
    older = document.line(("mode", *path[1:])) if path[:1] == ("agent",) else None
    return older or document.line(path)
