"""What `sessions` asks of this room (`sessions.core.above`).

The first page asks for little of it, and does not wait for models and the sandbox to be imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.config.configuration import load
from agents.config.keybinds import keybinds
from agents.config.written import written
from agents.toolkit.folders import folders_of
from sessions.core import variables
from sessions.core.above import Agents, Keybind, Port, ResumeMode, ShareMode
from sessions.core.models import Project, Session
from sessions.core.store.added_folders import AddedFolder


class Answers:
    def share_mode(self, directory: str) -> ShareMode:
        return mode(directory)

    def resume_mode(self, directory: str) -> ResumeMode:
        return load(Path(directory)).config.resume

    def folders(self, project: Project, session: Session | None) -> Sequence[AddedFolder]:
        directory = Path(session.directory if session else project.worktree)
        return folders_of(session, load(directory).config, directory, Path(project.worktree)).every

    def secrets(self, directory: str) -> list[str]:
        return values(directory)

    def model_name(self, directory: str, provider_id: str, model_id: str) -> str:
        from agents.toolkit import catalog

        return catalog.model_name(directory, provider_id, model_id)

    def other_models(
        self, directory: str, agent: str, provider_id: str, model_id: str
    ) -> list[tuple[str, str]]:
        from agents.toolkit import catalog

        return [(model.ref, model.label) for model in catalog.others(directory, agent, provider_id, model_id)]

    def ports(self, session_id: str) -> Sequence[Port]:
        from agents.toolkit.sandbox import door

        return door.ports(session_id)

    def keybinds(self) -> tuple[Keybind, ...]:
        return keybinds()

    def context_window(self, provider_id: str, model_id: str) -> int | None:
        from agents.toolkit import catalog

        return catalog.context_window(provider_id, model_id)


answers: Agents = Answers()


# The secrets that the configuration of a folder holds, so that what is given away can be freed of them.

_GROUPS = frozenset(("headers", "environment", "env"))
"""Keys below which every value counts: what a server is sent or started with."""
_NAME = re.compile(
    r"(?i).*(?:api[_-]?key|access[_-]?key|secret|token|passw|credential|auth|private[_-]?key|cookie|dsn|[_-]key$)"
)
_ORDINARY = re.compile(
    r"[A-Za-z]{1,12}|\d{1,12}(?:\.\d+)*|(?:application|text|image|audio|video|\*)/[\w.+*-]+|[.~]?(?:/[\w.-]+)+/?"
)
"""Words, numbers, versions, media types, paths: black, they would hide what is no secret. Under a telling
name it is one all the same."""
_REFERENCES = re.compile(r"(?:\{(?:env|file):[^}]*\})+")


def values(directory: str) -> list[str]:
    """Of what counts in a folder, references replaced, and of its files as they are written: what waits for
    trust is a secret as well. Reads files when they have changed."""
    place = Path(directory)
    loaded = load(place).config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    found = [*_values(loaded), *(value for file in written(place) for value in _values(file.values))]
    return list(dict.fromkeys(found))


def _values(data: Any, grouped: bool = False, named: bool = False) -> Iterator[str]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from _values(value, grouped or name in _GROUPS, named or bool(_NAME.match(str(name))))
    elif isinstance(data, list):
        for item in data:
            yield from _values(item, grouped, named)
    elif isinstance(data, str) and (grouped or named) and not _REFERENCES.fullmatch(data):
        # `Bearer …` is printed without its scheme as well.
        parts = dict.fromkeys((data.strip(), *data.split()))
        yield from (part for part in parts if named or not _ORDINARY.fullmatch(part))


# `share` of the configuration: whether sessions may be shared, and whether new ones are.


def mode(directory: str) -> ShareMode:
    """Of a project's folder. As in OpenCode, OPENCODE_DISABLE_SHARE and OPENCODE_AUTO_SHARE come first."""
    if variables.DISABLE_SHARE.is_true():
        return "disabled"
    chosen = load(Path(directory)).config.share or "manual"
    return "auto" if chosen == "manual" and variables.AUTO_SHARE.is_true() else chosen
