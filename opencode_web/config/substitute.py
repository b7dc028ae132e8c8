"""`{env:NAME}` and `{file:path}` inside the strings of a configuration file.

The replacement happens after parsing, so what a variable or file holds can never change the structure.
An unset variable is an empty string, as in OpenCode; a file that cannot be read is an error of its key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opencode_web import paths
from opencode_web.config import jsonc

MAX_FILE = 1024 * 1024
"""Bytes that an included file may have."""

_REFERENCE = re.compile(r"\{(env|file):([^}]+)\}")


class Substitution:
    """Replaces the references of one configuration file and records what they depended on.

    `names` are the variables read, `files` the files looked at, `failures` the key paths whose file could
    not be read; such a key is left out of the result.
    """

    def __init__(self, base: Path, environ: Mapping[str, str]) -> None:
        self._base = base
        self._environ = environ
        self.names: set[str] = set()
        self.files: set[Path] = set()
        self.failures: list[tuple[jsonc.Path, str]] = []

    def apply(self, value: Any, path: jsonc.Path = ()) -> Any:
        """The value with every reference replaced; the value given is not changed."""
        if isinstance(value, dict):
            return self._members(value, path)
        if isinstance(value, list):
            members = self._members(dict(enumerate(value)), path)
            return list(members.values())
        if isinstance(value, str) and "{" in value:
            return _REFERENCE.sub(self._replace, value)
        return value

    def _members(self, members: dict[Any, Any], path: jsonc.Path) -> dict[Any, Any]:
        done = {}
        for key, value in members.items():
            try:
                done[key] = self.apply(value, (*path, key))
            except OSError as error:
                self.failures.append(((*path, key), str(error)))
        return done

    def _replace(self, match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "env":
            self.names.add(name)
            return self._environ.get(name, "")
        return self._read(self._resolve(name))

    def _resolve(self, name: str) -> Path:
        if name == "~" or name.startswith("~/"):
            return paths.home(self._environ) / name[2:]
        return self._base / name

    def _read(self, file: Path) -> str:
        self.files.add(file)
        if not file.exists():
            raise OSError(f"the file {file} does not exist")
        if not file.is_file() or file.stat().st_size > MAX_FILE:
            raise OSError(f"{file} is not a file of at most 1 MiB")
        try:
            return file.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError as error:
            raise OSError(f"the file {file} is not UTF-8 text") from error
        except PermissionError as error:
            raise OSError(f"the file {file} cannot be read: permission denied") from error
