"""The list of hostile and of benign lines (lines.toml) against the whole gate: analyser, rules, plan mode."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agents.agent.steps.sample import effective_rules
from agents.config.schema import Config
from agents.llm.types import Model
from agents.toolkit.base import Approval
from agents.toolkit.definitions import choose
from agents.toolkit.permission.errors import NotPermitted, PermissionDenied, PermissionRejected
from agents.toolkit.permission.rules import Approval as Saved
from agents.toolkit.permission.rules import judge, narrowed
from agents.tools.bash import TOOL, BashInput
from sessions.core.models import Session
from tests.agents.tools.context import DirectContext, turn_in

LISTS = tomllib.loads(Path(__file__).with_name("lines.toml").read_text(encoding="utf-8"))
MODEL = Model("fake", "fake", "Fake", "openai", "fake")


@dataclass(slots=True)
class Gate(DirectContext):
    """Decides by rules as the runtime does, and runs nothing. `says` is what came of the line."""

    saved: list[Saved] = field(default_factory=list)
    answers_always: bool = False
    says: str = ""

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
    ) -> Approval:
        self.says = judge(permission, patterns, self.turn.rules, self.saved).action
        if self.says == "deny":
            raise PermissionDenied(self.turn.rules[0])
        if self.says == "ask" and not self.answers_always:
            raise PermissionRejected
        if self.answers_always:
            kept = narrowed(permission, patterns, always, self.turn.rules)
            self.saved += [Saved(permission, pattern, "allow") for pattern in kept]
        return Approval()

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        pass


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """In a project with a few files and a link to one that is asked about."""
    project = tmp_path.resolve() / "project"
    outputs = tmp_path.resolve() / "outputs"
    (project / "sub").mkdir(parents=True)
    outputs.mkdir()
    for name in (".env", ".env.example", "sub/a.py", "a.lock", "sub/.env.local"):
        (project / name).write_text("x\n")
    (project / "link").symlink_to(".env")
    return Gate(project, project, outputs)


async def verdict(gate: Gate, line: str) -> str:
    with suppress(NotPermitted):
        await TOOL.execute(BashInput(command=line), gate)
    return gate.says


@pytest.mark.parametrize("group", LISTS["list"], ids=lambda group: group["name"])
async def test_lines(group: dict[str, Any], gate: Gate) -> None:
    config = Config.model_validate({"permission": LISTS["rules"][group["rules"]]})
    agent = choose(config, "plan" if group.get("plan") else "build")
    rules = effective_rules(agent, MODEL, Session(), config)
    gate.turn = turn_in(gate.directory, gate.worktree, rules=rules)
    gate.answers_always = True
    for line in group.get("always", []):
        await verdict(gate, line)
    gate.answers_always = False
    said = {line: await verdict(gate, line) for line in group["lines"]}
    assert {line: one for line, one in said.items() if one != group["expect"]} == {}
