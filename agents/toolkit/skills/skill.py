"""What a skill is and what its file must say. Reads as little as it can: a body stays on the disk.

Source: OpenCode's documentation of `SKILL.md` (frontmatter with name and description).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agents.toolkit.file_names import printable
from sessions.core.confined import opened

FILE_NAME = "SKILL.md"
MAX_BYTES = 1024 * 1024
"""Of a whole file; a larger one is refused before it is read."""
MAX_HEAD = 64 * 1024
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_FILES = 50
"""Names of files beside a skill that are listed."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)


class BadSkill(Exception):
    """The file breaks a rule; the text says which one, `line` where if that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Skill:
    """`location` is its file; the folder around it may hold others that the body speaks of. Links of it must
    not lead out of `within`; None for the user's own."""

    name: str
    description: str
    location: Path
    within: Path | None = None

    @property
    def folder(self) -> Path:
        return self.location.parent


def read_skill(file: Path, within: Path | None = None) -> Skill:
    """The skill of a file, from its frontmatter alone. Raises BadSkill."""
    fields = _fields(_read(file, within, MAX_HEAD))
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not name:
        raise BadSkill("`name` is missing")
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise BadSkill(
            f"`name` is {printable(name[:80])!r}: it may have lower-case letters, digits and single hyphens "
            f"between them, {MAX_NAME} characters at most"
        )
    if name != file.parent.name:
        raise BadSkill(f"`name` is {name!r}, but the folder is {printable(file.parent.name)!r}")
    if not isinstance(description, str) or not description.strip():
        raise BadSkill("`description` is missing")
    if len(description) > MAX_DESCRIPTION:
        raise BadSkill(f"`description` has {len(description)} characters; the limit is {MAX_DESCRIPTION}")
    return Skill(name, " ".join(description.split()), file, within)


def body(skill: Skill) -> str:
    """What the file says below its frontmatter. Raises BadSkill when it is gone or has become too large."""
    text = _read(skill.location, skill.within, MAX_BYTES)
    return text[_end_of_head(text) :].decode("utf-8", "replace").strip()


def files_beside(skill: Skill) -> tuple[list[str], bool]:
    """Names of the other files of its folder, relative to it and sorted, and whether some are left out."""
    names: list[str] = []
    for folder, folders, files in os.walk(skill.folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if path != skill.location:
                names.append(printable(str(path.relative_to(skill.folder))))
            if len(names) > MAX_FILES:
                return names[:MAX_FILES], True
    return names, False


def _read(file: Path, within: Path | None, limit: int) -> bytes:
    """The beginning of a regular file. Raises BadSkill."""
    try:
        with opened(file, within) as content:
            size = os.fstat(content.fileno()).st_size
            if size > MAX_BYTES:
                raise BadSkill(
                    f"it has {size / 1024**2:.1f} MB, the limit is {MAX_BYTES // 1024**2} MB: "
                    "put what is needed now and then into files beside it"
                )
            return content.read(limit).removeprefix(_BOM)
    except OSError as error:
        raise BadSkill(error.strerror or str(error)) from error


def _fields(head: bytes) -> dict[str, Any]:
    end = _end_of_head(head)
    if not end:
        raise BadSkill("it does not begin with a frontmatter: `---`, name and description, `---`", 1)
    try:
        fields = yaml.safe_load(head[:end].decode("utf-8").strip().removesuffix("---"))
    except UnicodeDecodeError as error:
        raise BadSkill(f"the frontmatter is not UTF-8 text (byte {error.start})") from error
    except RecursionError as error:
        raise BadSkill("the frontmatter is nested too deeply") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it cannot be read"
        raise BadSkill(f"the frontmatter is not YAML: {reason}", mark.line + 1 if mark else None) from error
    if not isinstance(fields, dict):
        raise BadSkill("the frontmatter has no keys: it needs name and description")
    return fields


def _end_of_head(text: bytes) -> int:
    """Where the line that closes the frontmatter ends; 0 where there is none."""
    fences = _FENCE.finditer(text)
    first, second = next(fences, None), next(fences, None)
    return second.end() if first is not None and first.start() == 0 and second is not None else 0
