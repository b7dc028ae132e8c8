"""What a Provider Turn samples when it starts and keeps until its last call is settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.config.schema import Config
from agents.llm.types import Model
from agents.toolkit.definitions import Agent
from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox.terms import Terms
from sessions.core.models import Session
from sessions.core.store.added_folders import AddedFolder


@dataclass(frozen=True, slots=True)
class Turn:
    """A change of agent, model, rules or configuration applies to the next turn, never to this one.

    `worktree` is the root of the project, `directory` where the session works; `variant` names one of the
    model's variants or is empty; `folders` are those beside the project that it may read.
    """

    session: Session
    directory: Path
    worktree: Path
    config: Config
    agent: Agent
    model: Model
    rules: Sequence[Rule]
    variant: str = ""
    terms: Terms = field(default_factory=Terms)
    folders: Sequence[AddedFolder] = ()
