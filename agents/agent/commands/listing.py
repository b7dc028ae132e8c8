"""The commands of a folder: built-in ones, those of the configuration, and skills called by name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from agents.agent.offered.prompts import Prompt, prompts_of
from agents.agent.trust import waiting_command
from agents.config.configuration import load
from agents.config.schema import CommandConfig, Config
from agents.toolkit.definitions import Agent, agents, prompt_text
from agents.toolkit.skills import BadSkill, Skill, body, discover
from agents.toolkit.template import Piece, check, expand, hints
from sessions.core.sentences import Sentence

ARGUMENTS = "$ARGUMENTS"
DEFAULT_SUBAGENT = "general"


class UnknownCommand(LookupError):
    """No command has this name; the text is for people."""


@dataclass(frozen=True, slots=True)
class Command:
    """`subtask` is None where nothing is said: then the mode of its agent decides. `model` is written
    `provider/model`. A skill has no template of its own: its body is read when it is called. Nor has a prompt
    of an MCP server: the server is asked."""

    name: str
    description: str = ""
    template: str = ""
    agent: str = ""
    model: str = ""
    variant: str = ""
    subtask: bool | None = None
    skill: Skill | None = None
    prompt: Prompt | None = None

    @property
    def source(self) -> str:
        if self.prompt:
            return "mcp"
        return "skill" if self.skill else "command"

    def hints(self) -> list[str]:
        if self.prompt:
            return self.prompt.hints()
        return [] if self.skill else hints(self.template)

    def check(self, arguments: str) -> None:
        """Raises MissingArgument."""
        if self.prompt:
            self.prompt.values(arguments)
        elif self.skill is None:
            check(self.template, arguments)

    def expand(self, arguments: str) -> list[Piece]:
        """Raises MissingArgument, and BadSkill. The text of a skill is no template: it may well show shell
        commands and `$1`; only `$ARGUMENTS` is replaced, and without it the arguments follow."""
        if self.skill is None:
            return expand(self.template, arguments)
        text = _text_of(self.skill)
        if ARGUMENTS in text:
            return [text.replace(ARGUMENTS, arguments)]
        return [f"{text}\n\n{arguments}".strip()]

    def text(self) -> str:
        """The template as OpenCode's API shows it; empty for a skill that cannot be read any more."""
        try:
            return body(self.skill) if self.skill else self.template
        except BadSkill:
            return ""

    def wire(self) -> dict[str, Any]:
        """As `GET /command` of OpenCode's API has it; reads the bodies of skills."""
        data = {
            "name": self.name,
            "description": self.description or None,
            "agent": self.agent or None,
            "model": self.model or None,
            "source": self.source,
            "template": self.text(),
            "subtask": self.subtask,
            "hints": self.hints(),
        }
        return {key: value for key, value in data.items() if value is not None}

    def is_errand(self, known: Mapping[str, Agent]) -> bool:
        """Whether a subagent does it, in a session of its own."""
        if self.subtask is not None:
            return self.subtask
        return self.agent in known and known[self.agent].mode == "subagent"


def _text_of(skill: Skill) -> str:
    """What it says, and where it lies, since it may name what lies beside it. Raises BadSkill."""
    return f"{body(skill)}\n\nPaths in this skill start in its folder: {skill.folder}"


def _builtin(name: str, description: str, **more: Any) -> Command:
    return Command(name, description, prompt_text(f"commands/{name}"), **more)


BUILTIN = (
    _builtin("init", Sentence("Look at the project and write or improve its AGENTS.md")),
    _builtin(
        "review", Sentence("Review the uncommitted changes, or what you name (a commit, a branch, files)")
    ),
    _builtin(
        "summary", Sentence("Describe what this session changed, as for a pull request"), agent="summary"
    ),
)


def commands(directory: Path, config: Config) -> dict[str, Command]:
    """By name. A configured command takes the place of a built-in one, and both that of a prompt of an MCP
    server and of a skill."""
    found = {command.name: command for command in BUILTIN}
    found |= {name: _configured(name, item) for name, item in config.command.items()}
    for name, prompt in prompts_of(directory).items():
        found.setdefault(name, Command(name, prompt.description, prompt=prompt))
    for name, skill in sorted(discover(directory, config).skills.items()):
        found.setdefault(name, Command(name, skill.description, skill=skill))
    return found


async def find(directory: Path, name: str) -> tuple[Command, dict[str, Agent]]:
    """The command of a name and the agents it may be for. Raises UnknownCommand."""
    return await asyncio.to_thread(_find, directory, name)


def _find(directory: Path, name: str) -> tuple[Command, dict[str, Agent]]:
    config = load(directory).config
    known = commands(directory, config)
    if name not in known:
        if file := waiting_command(directory, name):
            raise UnknownCommand(
                gettext("The command /%(name)s waits for trust: a person has to trust %(file)s first.")
                % {"name": name, "file": file}
            )
        raise UnknownCommand(
            gettext("There is no command /%(name)s. There are: %(known)s.")
            % {"name": name, "known": ", ".join(sorted(known))}
        )
    return known[name], agents(config)


def _configured(name: str, config: CommandConfig) -> Command:
    return Command(
        name,
        config.description or "",
        config.template,
        config.agent or "",
        config.model or "",
        config.variant or "",
        config.subtask if "subtask" in config.model_fields_set else None,
    )
