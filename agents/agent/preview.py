"""What a model is told before the first prompt of a session: the parts of its request, in their order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.agent.compaction.estimate import budget, size, tokens
from agents.agent.context.registry import system_context
from agents.agent.context.sources.files import Document
from agents.agent.context.system_context import Part
from agents.agent.steps.request import SCRATCH, base_prompt
from agents.agent.steps.sample import Choice, turn_of
from agents.llm.types import ToolSpec
from agents.toolkit.catalog import default_ref
from agents.toolkit.skills import Skill, discover, files_beside, permitted
from agents.toolkit.turn import Turn
from agents.tools.registry import toolset
from sessions.core.models import Project, Session
from sessions.core.sentences import Sentence

_TITLES = {
    "core/date": Sentence("Date"),
    "core/environment": Sentence("Surroundings"),
    "core/folders": Sentence("Folders beside the project"),
    "core/instructions": Sentence("Instructions"),
    "core/skills": Sentence("Skills"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """One text. `origin` is the file or address it comes from, or empty."""

    title: str
    text: str
    origin: str = ""

    @property
    def tokens(self) -> int:
        return tokens(size(self.text))


@dataclass(frozen=True, slots=True)
class SkillSeen:
    """`told`: its agent may know of it. `beside` are the other files of its folder."""

    skill: Skill
    told: bool
    beside: Sequence[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """`window` is the model's, in tokens; 0 where nobody knows it."""

    agent: str
    model: str
    window: int
    texts: Sequence[Told]
    tools: Sequence[Told]
    skills: Sequence[SkillSeen]

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in (*self.texts, *self.tools))


async def preview(project: Project, directory: Path, agent: str) -> Preview:
    """Of the `agent`, or the default one for an empty name. Raises UnknownAgent or UnknownModel."""
    session = Session(project=project, directory=str(directory))
    ref = await default_ref(directory, None, agent)
    turn = await turn_of(session, Choice(agent, ref), directory, Path(project.worktree))
    specs = (await toolset(turn)).specs(turn, {}) if turn.model.tool_call else []
    parts = await (await system_context(turn)).parts()
    base = Told(Sentence("Prompt of the agent"), base_prompt(turn, [spec.name for spec in specs]))
    scratch = Told(Sentence("Scratch files"), SCRATCH.format("(the session's own folder)"))
    return Preview(
        agent=turn.agent.name,
        model=turn.model.ref,
        window=budget(turn.model, turn.config.compaction).window,
        texts=[base, *(told for part in parts for told in _told(part)), scratch],
        tools=[_tool(spec) for spec in specs],
        skills=await asyncio.to_thread(_skills, turn),
    )


def _told(part: Part) -> Iterator[Told]:
    if part.key == "core/instructions" and isinstance(part.value, tuple):
        yield from (_instructions(document) for document in part.value)
        return
    yield Told(_TITLES.get(part.key) or part.key.rpartition("/")[2], part.text)


def _instructions(document: Document) -> Told:
    return Told(Sentence("Instructions"), document.text, document.origin)


def _tool(spec: ToolSpec) -> Told:
    schema = json.dumps(spec.parameters, ensure_ascii=False, indent=2)
    return Told(spec.name, f"{spec.description}\n\n{schema}")


def _skills(turn: Turn) -> list[SkillSeen]:
    found = discover(turn.directory, turn.config)
    known = {skill.name for skill in permitted(found, turn.rules)}
    listed = (skill for _, skill in sorted(found.skills.items()))
    return [SkillSeen(skill, skill.name in known, files_beside(skill)[0]) for skill in listed]
