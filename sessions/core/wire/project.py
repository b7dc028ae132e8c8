"""Projects."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from .base import Wire

KNOWN = ConfigDict(extra="ignore")
"""Clients are strict about what a project holds: what the shape does not have is dropped."""


class ProjectIcon(Wire):
    """`override` is a data URL that a person chose; clients have names for colours."""

    model_config = KNOWN

    url: Annotated[str, Field(max_length=1_000_000)] | None = None
    override: Annotated[str, Field(max_length=1_000_000)] | None = None
    color: Annotated[str, Field(max_length=100)] | None = None


class ProjectCommands(Wire):
    """`start` is run in a new worktree."""

    model_config = KNOWN

    start: Annotated[str, Field(max_length=10_000)] | None = None


class ProjectTime(Wire):
    """Milliseconds since 1970."""

    created: int
    updated: int
    initialized: int | None = None


class ProjectInfo(Wire):
    """`sandboxes` are the folders of worktrees made from it."""

    id: str
    worktree: str
    vcs: Literal["git"] | None = None
    name: str | None = None
    icon: ProjectIcon | None = None
    commands: ProjectCommands | None = None
    time: ProjectTime
    sandboxes: list[str]


class ProjectChange(Wire):
    """What a client may set; what is not named stays."""

    name: Annotated[str, Field(max_length=1000)] | None = None
    icon: ProjectIcon | None = None
    commands: ProjectCommands | None = None


class ProjectDirectory(Wire):
    directory: str
    strategy: Literal["git_worktree"] | None = None


class Places(Wire):
    """Where things are on this machine."""

    home: str
    state: str
    config: str
    worktree: str
    directory: str
