"""What a project asks for, in words for people. The texts come from the repository and are hostile."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation.trans_null import gettext_noop

from agents.config.trust.covered import KeyPath
from agents.config.trust.store import hash_of

MAX_DETAIL = 2000
HOW = gettext_noop("in the page, or by `opencode-web trust`")
"""Where a person trusts something."""

_WORDS = {
    "provider": gettext_noop("Sends requests and keys to"),
    "mcp": gettext_noop("Uses an MCP server"),
    "lsp": gettext_noop("Uses a language server"),
    "formatter": gettext_noop("Formats files with"),
    "shell": gettext_noop("Runs commands in this shell"),
    "command": gettext_noop("Runs shell lines in a command"),
    "permission": gettext_noop("Allows without asking"),
    "restrictions": gettext_noop("Allows without asking"),
    "limits": gettext_noop("Raises a limit"),
    "ceilings": gettext_noop("Raises a limit"),
    "reviewer": gettext_noop("Chooses who says yes in your place"),
    "tools": gettext_noop("Switches on a tool"),
    "instructions": gettext_noop("Reads from outside of the project"),
    "folders": gettext_noop("Reads folders outside of the project, or writes in them"),
    "skills": gettext_noop("Takes skills from outside of the project"),
    "default_agent": gettext_noop("Chooses the agent"),
    "sandbox": gettext_noop("Changes how commands are confined"),
    "browser": gettext_noop("Gives agents a browser"),
    "sandbox_domains": gettext_noop("Lets confined commands reach"),
    "sandbox_write": gettext_noop("Lets confined commands write in"),
    "snapshot": gettext_noop("Changes what undo can bring back"),
    "share": gettext_noop("Changes what is shared"),
    "autoshare": gettext_noop("Changes what is shared"),
    "resume": gettext_noop("Changes whether a turn that was cut off goes on"),
    "subagent_depth": gettext_noop("Lets subagents send subagents"),
    "plugin": gettext_noop("Installs and runs plugins"),
}
_REFERENCES = ("{env:", "{file:")


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that is asked for. `key` is its place in the file, empty for code; `detail` is as written."""

    key: str
    words: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """One file as it is now; `name` is relative to the worktree."""

    name: str
    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class Want:
    """What one file of the project asks for. `contents` are the file and those it includes: the trust covers
    all of them."""

    contents: Sequence[Content]
    wishes: Sequence[Wish]
    trusted: bool

    @property
    def name(self) -> str:
        return self.contents[0].name

    @property
    def digests(self) -> dict[str, str]:
        return {content.name: content.digest for content in self.contents}

    @property
    def hash(self) -> str:
        """What the environment names it by."""
        return hash_of(self.digests)


def wish(document: Any, path: KeyPath) -> Wish:
    """The words for the value at `path` of a configuration as it is written, references not replaced."""
    value = _at(document, path)
    key = ".".join(map(str, path))
    if isinstance(value, str) and any(reference in value for reference in _REFERENCES):
        return Wish(key, gettext_noop("Reads your environment or a file"), value[:MAX_DETAIL])
    return Wish(key, _words(path, value), _detail(value)[:MAX_DETAIL])


def _at(document: Any, path: KeyPath) -> Any:
    """The value, or the one around it where a reference stands in for a part of the document."""
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return document
    return document


def _words(path: KeyPath, value: Any) -> str:
    if isinstance(value, Mapping) and value.get("command"):
        return gettext_noop("Starts a program")
    if isinstance(value, Mapping) and value.get("url"):
        return gettext_noop("Connects to an address")
    inner = path[2] if path[0] == "agent" and len(path) > 2 else path[0]
    unknown = (
        gettext_noop("Gives the model's provider options")
        if path[0] == "agent"
        else gettext_noop("Changes a setting")
    )
    return _WORDS.get(str(inner), unknown)


def _detail(value: Any) -> str:
    """The command line, the address, or the whole value."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        command, template = value.get("command"), value.get("template")
        if isinstance(command, list) and command:
            return shlex.join(map(str, command))
        if isinstance(template, str):
            return template
    return json.dumps(value, ensure_ascii=False)
