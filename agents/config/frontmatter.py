"""Markdown files that hold one entry of the configuration: YAML between two lines of `---`, then a text.

The YAML is a plain tree of JSON's types: no aliases, no tags, no dates, so that it can neither grow without
bound nor become what JSON cannot say. People write texts in it without quotes, which YAML often takes for
something else (`description: Use this: when needed`); such a line is mended, and said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml
from django.utils.translation.trans_null import gettext_noop

from agents.config.jsonc import Path
from agents.config.problem import Malformed
from agents.config.substitute import Verbatim
from sessions.core.sentences import Sentence

MAX_FRONTMATTER = 64 * 1024
MAX_DEPTH = 20

_TAG = "tag:yaml.org,2002:"
_MAP, _SEQUENCE, _DATE = f"{_TAG}map", f"{_TAG}seq", f"{_TAG}timestamp"
_FENCE = re.compile(r"---[ \t]*\n")
_END = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_VALUE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:[ \t]+([^\s\[{|>!&].*)")
"""A key and a value that could be a plain text, as far as one line can tell."""
MENDED = gettext_noop("taken as a text, as it is no YAML; put it in quotes")
_TEXTS = {"agent": "prompt", "mode": "prompt", "command": "template", "schedule": "prompt"}
"""The key that the text below the frontmatter is the value of, by section."""


class FrontmatterError(Malformed):
    """The frontmatter cannot be read; `line` and `column` are those in the file."""

    def __init__(self, message: str, line: int, column: int = 1) -> None:
        self.message = message
        self.line = line
        self.column = column
        super().__init__(Sentence("line %(line)s: %(message)s", line=line, message=message))


class Document:
    """A file read as `{section: {name: entry}}`, and the lines of its keys."""

    def __init__(self, text: str, section: str, name: str) -> None:
        """Raise FrontmatterError when the frontmatter is no YAML mapping of plain values."""
        front, body = _split(text.removeprefix("\ufeff").replace("\r\n", "\n"))
        self._around: Path = (section, name)
        self._lines: dict[Path, int] = {}
        self._seen: set[int] = set()
        self.warnings: list[tuple[Path, str]] = []
        """The keys whose values were taken as texts, as they were no YAML."""
        entry = self._parsed(front)
        if body.strip():
            entry[_TEXTS[section]] = Verbatim(body.strip())
        self.value: Any = {section: {name: entry}}

    def line(self, path: Path) -> int | None:
        """The line of the key at `path`, or of the nearest key around it."""
        inner = path[len(self._around) :]
        while inner and inner not in self._lines:
            inner = inner[:-1]
        return self._lines.get(inner, 1)

    def _parsed(self, front: str) -> dict[str, Any]:
        try:
            root, mended = compose(front)
            self.warnings = [((*self._around, key), Sentence(MENDED)) for key in mended]
            if root is None:
                return {}
            if not isinstance(root, yaml.MappingNode):
                raise FrontmatterError(Sentence("expected keys and values between the lines of ---"), 2)
            entry: dict[str, Any] = self._plain(root, ())
            return entry
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 2, mark.column + 1) if mark else (2, 1)
            raise FrontmatterError(error.problem or Sentence("no YAML"), line, column) from error
        except yaml.YAMLError as error:
            raise FrontmatterError(Sentence("a character that YAML does not allow"), 2) from error
        except RecursionError as error:
            raise FrontmatterError(Sentence("nested too deeply"), 2) from error

    def _plain(self, node: yaml.Node, path: Path) -> Any:
        """The value of a node, as JSON could say it."""
        line = node.start_mark.line + 2
        if len(path) > MAX_DEPTH:
            raise FrontmatterError(Sentence("nested too deeply"), line)
        if id(node) in self._seen:
            raise FrontmatterError(Sentence("aliases (*name) are not used here"), line)
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            return {key: self._plain(value, (*path, key)) for key, value in self._members(node, path)}
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQUENCE:
            return [self._plain(item, (*path, index)) for index, item in enumerate(node.value)]
        if node.tag == _DATE:
            return node.value
        value = _scalar(node) if isinstance(node, yaml.ScalarNode) else math.nan
        if value is None or isinstance(value, str | bool | int) or _is_finite(value):
            return value
        raise FrontmatterError(Sentence("a value of the kind %(tag)s is not used here", tag=node.tag), line)

    def _members(self, node: yaml.MappingNode, path: Path) -> list[tuple[str, yaml.Node]]:
        members = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise FrontmatterError(Sentence("a key has to be a text"), key.start_mark.line + 2)
            self._lines[(*path, key.value)] = key.start_mark.line + 2
            members.append((key.value, value))
        return members


def compose(front: str) -> tuple[yaml.Node | None, dict[str, int]]:
    """The nodes of a frontmatter, and the keys of lines that were mended for it, with their lines from 0.
    Raises YAMLError, RecursionError."""
    try:
        return yaml.compose(front, Loader=yaml.SafeLoader), {}
    except yaml.MarkedYAMLError:
        lines = front.split("\n")
        mended = dict(_mended(lines))
        for number, line in mended.values():
            lines[number] = line
        return yaml.compose("\n".join(lines), Loader=yaml.SafeLoader), {k: n for k, (n, _) in mended.items()}


def _mended(lines: list[str]) -> Iterator[tuple[str, tuple[int, str]]]:
    """The lines of a key and a value that are no YAML by themselves, with what they were meant to be. One
    that an indented line goes on with is left as it is."""
    for number, line in enumerate(lines):
        found = _VALUE.fullmatch(line.rstrip())
        follows = lines[number + 1 : number + 2]
        if found is None or _is_yaml(line) or (follows and follows[0][:1] in (" ", "\t")):
            continue
        key, value = found.groups()
        plain = f"{key}: {value}"
        quoted = value.replace("'", "''")
        yield key, (number, plain if _is_yaml(plain) else f"{key}: '{quoted}'")


def _is_yaml(line: str) -> bool:
    try:
        yaml.compose(line, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return False
    return True


def _split(text: str) -> tuple[str, str]:
    """Frontmatter and text. A file that does not begin with a line of `---` is all text."""
    opened = _FENCE.match(text)
    if opened is None:
        return "", text
    closed = _END.search(text, opened.end())
    if closed is None:
        raise FrontmatterError(Sentence("the line of --- that ends the frontmatter is missing"), 1)
    front = text[opened.end() : closed.start()]
    if len(front) > MAX_FRONTMATTER:
        raise FrontmatterError(
            Sentence("the frontmatter has more than %(most)s KiB", most=MAX_FRONTMATTER // 1024),
            1,
        )
    return front, text[closed.end() :]


def _scalar(node: yaml.Node) -> Any:
    """NaN, which is not used here, for a number that cannot be read."""
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except ValueError:
        return math.nan


def _is_finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)
