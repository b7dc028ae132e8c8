"""A person's change of OpenCode's configuration files: checked first, written whole or not at all.

What is written by hand around it stays: comments, order and layout. A comment on the line of a removed key
goes with it; new keys follow the last one of their object, indented like it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext

from agents.config import jsonc
from agents.config.check import wrong
from agents.config.jsonc import Braces, Document, Member
from agents.config.loader import is_disabled
from agents.config.problem import Refused, Unreadable
from agents.config.reader import MAX_FILE, Reading, patched, read_text
from agents.config.redaction import Lost, restored
from agents.config.substitute import Substitution
from agents.config.trusted import Gate
from sessions.core import paths, variables
from sessions.core.files import PRIVATE, locked, replace_file
from sessions.core.repository import Repository
from sessions.core.sentences import Sentence, sentence_of, translate

_NAMES = ("opencode.jsonc", "opencode.json")
"""The nearest first: what is read last counts."""


class Target(NamedTuple):
    """A configuration file by the name it is found by, and the file that is written: links followed."""

    file: Path
    real: Path


def target(directory: Path | None, environ: Mapping[str, str]) -> Target:
    """The nearest file of a folder, or of the user's own for None; where there is none, a new one.

    Raises Refused for a project's link out of the project, and where a project's files do not count.
    """
    if directory is None:
        folder = paths.config_directory(environ)
        found = [folder / name for name in (*_NAMES, "config.json")]
        file = next(filter(os.path.lexists, found), found[0])
        return Target(file, _real(file))
    if is_disabled(environ):
        raise Refused(
            gettext("%(variable)s is set: files of a project do not count.")
            % {"variable": variables.DISABLE_PROJECT_CONFIG.name}
        )
    there = (file for file in _of_project(directory) if os.path.lexists(file))
    file = next(there, directory / "opencode.json")
    real = _real(file)
    if not real.is_relative_to(Repository.of(directory).worktree.resolve()):
        raise Refused(gettext("%(file)s leads out of the project; it is not written.") % {"file": file})
    return Target(file, real)


def _real(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError) as error:
        raise Refused(gettext("%(file)s is a link that leads nowhere.") % {"file": file}) from error


def _of_project(directory: Path) -> Iterator[Path]:
    for folder in (directory / ".opencode", directory):
        yield from (folder / name for name in _NAMES)


_INDENT = "  "
_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?")
"""What may stand between a value and the end of its line."""
_LINE_END = re.compile(r"[ \t]*\r?\n")

Edit = tuple[int, int, str]
"""The text between two offsets and what takes its place."""


def edited(text: str, wanted: dict[str, Any]) -> str:
    """The text of an object, changed so that it parses as `wanted`. Raises JsoncError."""
    document = Document(text)
    edits = sorted(_Edits(text, document).of((), document.value, wanted), key=lambda edit: edit[:2])
    pieces, at = [], 0
    for start, end, new in edits:
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


class _Edits:
    def __init__(self, text: str, document: Document) -> None:
        self._text = text
        self._objects = document.objects
        self._newline = "\r\n" if "\r\n" in text else "\n"
        root = document.objects[()]
        own = self._indent_of(root.members[0].start) if root.members else ""
        self._unit = own or _INDENT

    def of(self, path: jsonc.Path, now: dict[str, Any], wanted: dict[str, Any]) -> Iterator[Edit]:
        """The edits of one object and those below it; none overlap."""
        braces = self._objects[path]
        last = {member.key: member for member in braces.members}
        for key in now.keys() & wanted.keys():
            if isinstance(now[key], dict) and isinstance(wanted[key], dict):
                yield from self.of((*path, key), now[key], wanted[key])
            elif json.dumps(now[key]) != json.dumps(wanted[key]):  # as JSON: `1` is not `true`
                member = last[key]
                yield member.value, member.end, self._written(wanted[key], member.start)
        yield from self._membership(braces, wanted, {k: v for k, v in wanted.items() if k not in now})

    def _membership(self, braces: Braces, wanted: dict[str, Any], added: dict[str, Any]) -> Iterator[Edit]:
        """Members that leave and come."""
        stay = [member for member in braces.members if member.key in wanted]
        yield from (self._cut(member) for member in braces.members if member.key not in wanted)
        if added and stay:
            yield from self._after(stay[-1], braces, added)
        elif added:
            yield self._first(braces, added)
        elif stay and stay[-1].comma and braces.members[-1] is not stay[-1] and not braces.members[-1].comma:
            yield stay[-1].comma - 1, stay[-1].comma, ""

    def _after(self, member: Member, braces: Braces, added: dict[str, Any]) -> Iterator[Edit]:
        """New members behind one that stays, and behind the comment beside it."""
        inline = "\n" not in self._text[braces.start : braces.members[0].start]
        place = member.comma or member.end
        lead = " " if inline else self._newline + self._indent_of(member.start)
        lines = (self._line(key, value, member.start, inline) for key, value in added.items())
        if member.comma is None:
            yield member.end, member.end, ","
        if not inline:
            beside = _BESIDE.match(self._text, place)
            place = beside.end() if beside else place
        yield place, place, lead + f",{lead}".join(lines)

    def _first(self, braces: Braces, added: dict[str, Any]) -> Edit:
        """New members of an object in which nothing stays."""
        around = self._indent_of(braces.start - 1, whole=True)
        lead = self._newline + around + self._unit
        lines = (f"{json.dumps(k, ensure_ascii=False)}: {self._dump(v, lead)}" for k, v in added.items())
        open_end = "\n" not in self._text[braces.start : braces.end]
        close = self._newline + around if open_end else ""
        return braces.start, braces.start, lead + f",{lead}".join(lines) + close

    def _line(self, key: str, value: Any, beside: int, inline: bool) -> str:
        written = json.dumps(value, ensure_ascii=False) if inline else self._written(value, beside)
        return f"{json.dumps(key, ensure_ascii=False)}: {written}"

    def _written(self, value: Any, beside: int) -> str:
        """A value as it is written in the line of the offset."""
        return self._dump(value, self._newline + self._indent_of(beside, whole=True))

    def _dump(self, value: Any, lead: str) -> str:
        return json.dumps(value, ensure_ascii=False, indent=self._unit).replace("\n", lead)

    def _cut(self, member: Member) -> Edit:
        """Without its comma; with its line, where nothing else is on it."""
        start, end = member.start, member.comma or member.end
        first = self._text.rfind("\n", 0, start) + 1
        if not self._text[first:start].strip(" \t"):
            beside = _BESIDE.match(self._text, end)
            ended = _LINE_END.match(self._text, beside.end() if beside else end)
            if ended:
                return first, ended.end(), ""
        return start, end, ""

    def _indent_of(self, offset: int, whole: bool = False) -> str:
        """The blanks in front of an offset, if nothing else is; `whole`: those its line begins with."""
        before = self._text[self._text.rfind("\n", 0, offset) + 1 : offset]
        blanks = before[: len(before) - len(before.lstrip(" \t"))]
        return blanks if whole or blanks == before else ""


_NEW = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'


def change(directory: Path | None, patch: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> None:
    """Merge `patch` into the configuration file of a folder, or for None into the user's own.

    Null takes a key away; a secret that was not shown stays what it is. Raises Refused, naming the key, and
    Unreadable when the file cannot be read; then nothing is written.

    A project's file needs no trust for what the person wrote this way. One that had something waiting for
    trust, or rules that only restrict, goes on waiting: the rest of it is still the repository's.
    """
    file, real = target(directory, environ)
    gate = Gate(directory, environ) if directory is not None else None
    with locked(paths.data_directory(environ) / "config.lock"):
        text = _text(file)
        try:
            new = _changed(text, patch, file, environ)
        except RecursionError as error:
            raise Refused(gettext("The configuration is nested too deeply.")) from error
        if new == text:
            return
        own = gate is not None and _is_own(text, file, environ, gate)
        _write(real, new, private=directory is None)
        if gate is not None and own:
            gate.trust(file, new, _read(new, file, environ, gate).want)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a change would make of a file: its text `before`, empty where there is none, and `after`."""

    file: Path
    before: str
    after: str


def draft(directory: Path | None, patch: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Draft:
    """Nothing is written. Raises as `change`."""
    file, _ = target(directory, environ)
    try:
        text = _text(file)
        return Draft(file, text if file.exists() else "", _changed(text, patch, file, environ))
    except RecursionError as error:
        raise Refused(gettext("The configuration is nested too deeply.")) from error


def preview(
    directory: Path | None, patch: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """What the file would say then, references replaced; nothing is written. Raises as `change`."""
    drafted = draft(directory, patch, environ)
    return read_text(drafted.after, drafted.file, drafted.file.parent, environ).values


def _changed(text: str, patch: Mapping[str, Any], file: Path, environ: Mapping[str, str]) -> str:
    try:
        document = jsonc.Document(text).value
    except jsonc.JsoncError as error:
        raise Unreadable(file, sentence_of(error)) from error
    if not isinstance(document, dict):
        raise Unreadable(file, Sentence("expected an object: { … }"))
    try:
        wanted = patched(document, restored(patch, document))
    except Lost as error:
        raise Refused(str(error)) from error
    _check(wanted, patch, file, environ)
    try:
        new = edited(text, wanted)
        jsonc.Document(new)
        if len(new.encode()) > MAX_FILE:
            raise Refused(gettext("The configuration would have more than 1 MiB."))
    except jsonc.JsoncError as error:
        raise Refused(translate(error.message)) from error
    except UnicodeEncodeError as error:
        raise Refused(gettext("The configuration holds a character that is none.")) from error
    return new


def _check(wanted: dict[str, Any], patch: Mapping[str, Any], file: Path, environ: Mapping[str, str]) -> None:
    """Raise Refused for what is wrong where the patch changed something; the rest was so before."""
    substitution = Substitution(file.parent, environ, origin=file)
    values = substitution.apply(wanted)
    found = [*substitution.failures, *wrong(values).items()]
    told = [
        f"{'.'.join(map(str, path))}: {translate(message)}"
        for path, message in found
        if _touches(patch, path)
    ]
    if told:
        raise Refused("; ".join(told))


def _touches(patch: Any, path: jsonc.Path) -> bool:
    """Whether a patch says something at a place or around it."""
    for step in path:
        if not isinstance(patch, dict):
            return True
        if step not in patch:
            return False
        patch = patch[step]
    return True


def _is_own(text: str, file: Path, environ: Mapping[str, str], gate: Gate) -> bool:
    """Whether nothing of a file waits for trust. Rules that only restrict never do: a file with such is the
    person's when exactly this text was trusted, as after a change of theirs."""
    now = _read(text, file, environ, gate)
    if now.want is not None:
        return now.want.trusted
    return gate.holds(file, text) or now.values == _read(text, file, environ, None).values


def _read(text: str, file: Path, environ: Mapping[str, str], gate: Gate | None) -> Reading:
    return read_text(text, file, file.parent, environ, gate)


def _text(file: Path) -> str:
    """The text of a file; that of a new one where there is none or nothing in it."""
    try:
        if file.stat().st_size > MAX_FILE or not file.is_file():
            raise Unreadable(file, Sentence("not a file of at most 1 MiB"))
        text = file.read_bytes().decode("utf-8")
        return text if text.strip() else _NEW
    except FileNotFoundError:
        return _NEW
    except UnicodeDecodeError as error:
        raise Unreadable(file, Sentence("not UTF-8 text (byte %(start)s)", start=error.start)) from error
    except OSError as error:
        raise Unreadable(file, error.strerror or str(error)) from error


def _write(file: Path, text: str, private: bool) -> None:
    """Whole or not at all, with the mode it had; a new one of the user's own may hold keys."""
    try:
        file.parent.mkdir(mode=0o700 if private else 0o755, parents=True, exist_ok=True)
        mode = None if file.exists() else PRIVATE if private else 0o644
        replace_file(file, text.encode(), mode)
    except OSError as error:
        raise Refused(
            gettext("%(file)s cannot be written: %(error)s")
            % {"file": file, "error": error.strerror or error}
        ) from error
