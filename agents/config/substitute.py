"""`{env:NAME}` and `{file:path}` inside the strings of a configuration file.

The replacement happens after parsing, so what a variable or file holds can never change the structure.
An unset variable is an empty string, as in OpenCode; a file that cannot be read is an error of its key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.config import jsonc
from sessions.core import paths
from sessions.core.confined import LeadsOut, read_whole
from sessions.core.sentences import Sentence, sentence_of
from sessions.core.text import wellformed

MAX_FILE = 1024 * 1024
"""Bytes that an included file may have."""

_REFERENCE = re.compile(r"\{(env|file):([^}]+)\}")


class Verbatim(str):
    """A text whose references stay as they are."""

    __slots__ = ()


class _Held(Exception):
    """A reference that has to wait until its file is trusted."""


class Substitution:
    """Replaces the references of one configuration file and records what they depended on.

    `files` are those looked at, `contents` what was read of them, `failures` the key paths whose file could
    not be read; such a key is left out of the result. With `within`, so is a key that refers to a variable or
    to a file outside of that folder: `held`. `origin` is the configuration file itself, where it is one.
    """

    def __init__(
        self, base: Path, environ: Mapping[str, str], within: Path | None = None, origin: Path | None = None
    ) -> None:
        self._base = base
        self._origin = origin
        self._environ = environ
        self._within = within
        self.files: set[Path] = set()
        self.contents: dict[Path, bytes] = {}
        self.failures: list[tuple[jsonc.Path, str]] = []
        self.held: list[jsonc.Path] = []

    def apply(self, value: Any, path: jsonc.Path = ()) -> Any:
        """The value with every reference replaced; the value given is not changed."""
        if isinstance(value, dict):
            return self._members(value, path)
        if isinstance(value, list):
            members = self._members(dict(enumerate(value)), path)
            return list(members.values())
        if isinstance(value, str) and "{" in value and not isinstance(value, Verbatim):
            return _REFERENCE.sub(self._replace, value)
        return value

    def _members(self, members: dict[Any, Any], path: jsonc.Path) -> dict[Any, Any]:
        done = {}
        for key, value in members.items():
            try:
                done[key] = self.apply(value, (*path, key))
            except _Held:
                if isinstance(key, int):
                    raise  # the list as a whole, so that no item changes its place
                self.held.append((*path, key))
            except OSError as error:
                self.failures.append(((*path, key), sentence_of(error)))
        return done

    def _replace(self, match: re.Match[str]) -> str:
        kind, name = match.groups()
        if self._within is not None and (kind == "env" or not self._is_inside(self._resolve(name))):
            raise _Held
        if kind == "env":
            value = self._environ.get(name, "")
            if value != wellformed(value):
                raise OSError(Sentence("the variable %(name)s is not UTF-8 text", name=name))
            return value
        file = self._resolve(name)
        text = self._read(file)
        self._refuse_circle(file, text)
        return text

    def _resolve(self, name: str, base: Path | None = None) -> Path:
        if name == "~" or name.startswith("~/"):
            return paths.home(self._environ) / name[2:]
        return (base or self._base) / name

    def _refuse_circle(self, file: Path, text: str) -> None:
        """Raise OSError when a file includes itself, or is included by the one that it includes.

        References in an included file are not replaced, so it would do no harm; but whoever wrote it expects
        something else.
        """
        real = file.resolve()
        if self._origin and real == self._origin.resolve():
            raise OSError(Sentence("%(file)s includes itself", file=file))
        around = (real, self._origin.resolve() if self._origin else None)
        for kind, name in _REFERENCE.findall(text):
            if kind == "file" and _real(self._resolve(name, file.parent)) in around:
                raise OSError(
                    Sentence(
                        "%(file)s includes %(name)s, which leads back to it",
                        file=file,
                        name=name,
                    )
                )

    def _is_inside(self, file: Path) -> bool:
        """Links followed."""
        real = _real(file)
        return real is not None and self._within is not None and real.is_relative_to(self._within.resolve())

    def _read(self, file: Path) -> str:
        if "\0" in str(file):
            raise OSError(Sentence("no file has a NUL in its name"))
        self.files.add(file)
        if not file.exists():
            raise OSError(Sentence("the file %(file)s does not exist", file=file))
        if not file.is_file() or file.stat().st_size > MAX_FILE:
            raise OSError(Sentence("%(file)s is not a file of at most 1 MiB", file=file))
        try:
            within = self._within.resolve() if self._within is not None else None
            content = self.contents[file] = read_whole(file, within, MAX_FILE)
            return content.decode("utf-8").replace("\r\n", "\n").strip()
        except UnicodeDecodeError as error:
            raise OSError(Sentence("the file %(file)s is not UTF-8 text", file=file)) from error
        except LeadsOut as error:
            raise OSError(error.strerror) from error
        except PermissionError as error:
            raise OSError(
                Sentence("the file %(file)s cannot be read: permission denied", file=file)
            ) from error


def _real(file: Path) -> Path | None:
    """Links followed; None where that cannot be: a name too long, a loop of links, a NUL."""
    try:
        return file.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
