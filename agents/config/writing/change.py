"""Merge a person's change into a configuration file: checked first, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.config import jsonc
from agents.config.check import wrong
from agents.config.problem import Refused, Unreadable
from agents.config.reader import MAX_FILE, Reading, patched, read_text
from agents.config.redaction import Lost, restored
from agents.config.substitute import Substitution
from agents.config.trusted import Gate
from agents.config.writing.edit import edited
from agents.config.writing.target import target
from sessions.core import paths
from sessions.core.files import PRIVATE, locked, replace_file

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
            raise Refused("The configuration is nested too deeply.") from error
        if new == text:
            return
        own = gate is not None and _is_own(text, file, environ, gate)
        _write(real, new, private=directory is None)
        if gate is not None and own:
            gate.trust(file, new, _read(new, file, environ, gate).want)


def preview(
    directory: Path | None, patch: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """What the file would say then, references replaced; nothing is written. Raises as `change`."""
    file, _ = target(directory, environ)
    try:
        text = _changed(_text(file), patch, file, environ)
    except RecursionError as error:
        raise Refused("The configuration is nested too deeply.") from error
    return read_text(text, file, file.parent, environ).values


def _changed(text: str, patch: Mapping[str, Any], file: Path, environ: Mapping[str, str]) -> str:
    try:
        document = jsonc.Document(text).value
    except jsonc.JsoncError as error:
        raise Unreadable(file, str(error)) from error
    if not isinstance(document, dict):
        raise Unreadable(file, "expected an object: { … }")
    try:
        wanted = patched(document, restored(patch, document))
    except Lost as error:
        raise Refused(str(error)) from error
    _check(wanted, patch, file, environ)
    try:
        new = edited(text, wanted)
        jsonc.Document(new)
        if len(new.encode()) > MAX_FILE:
            raise Refused("The configuration would have more than 1 MiB.")
    except jsonc.JsoncError as error:
        raise Refused(error.message) from error
    except UnicodeEncodeError as error:
        raise Refused("The configuration holds a character that is none.") from error
    return new


def _check(wanted: dict[str, Any], patch: Mapping[str, Any], file: Path, environ: Mapping[str, str]) -> None:
    """Raise Refused for what is wrong where the patch changed something; the rest was so before."""
    substitution = Substitution(file.parent, environ, origin=file)
    values = substitution.apply(wanted)
    found = [*substitution.failures, *wrong(values).items()]
    told = [f"{'.'.join(map(str, path))}: {message}" for path, message in found if _touches(patch, path)]
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
            raise Unreadable(file, "not a file of at most 1 MiB")
        text = file.read_bytes().decode("utf-8")
        return text if text.strip() else _NEW
    except FileNotFoundError:
        return _NEW
    except UnicodeDecodeError as error:
        raise Unreadable(file, f"not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise Unreadable(file, error.strerror or str(error)) from error


def _write(file: Path, text: str, private: bool) -> None:
    """Whole or not at all, with the mode it had; a new one of the user's own may hold keys."""
    try:
        file.parent.mkdir(mode=0o700 if private else 0o755, parents=True, exist_ok=True)
        mode = None if file.exists() else PRIVATE if private else 0o644
        replace_file(file, text.encode(), mode)
    except OSError as error:
        raise Refused(f"{file} cannot be written: {error.strerror or error}") from error
