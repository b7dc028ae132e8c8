"""The lists of hostile lines (lines.toml) and of everyday ones (everyday.toml) against the whole gate:
analyser, rules, plan mode. What loosens one or tightens the other shows both numbers."""

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
from agents.toolkit.permission.rules import Ruleset, judge, narrowed
from agents.tools.bash import TOOL, BashInput
from sessions.core.models import Session
from tests.agents.tools.context import DirectContext, turn_in

LISTS = tomllib.loads(Path(__file__).with_name("lines.toml").read_text(encoding="utf-8"))
EVERYDAY = tomllib.loads(Path(__file__).with_name("everyday.toml").read_text(encoding="utf-8"))
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
        rules: Ruleset | None = None,
    ) -> Approval:
        rules = self.turn.rules if rules is None else rules
        self.says = judge(permission, patterns, rules, self.saved).action
        if self.says == "deny":
            raise PermissionDenied(self.turn.rules[0])
        if self.says == "ask" and not self.answers_always:
            raise PermissionRejected
        if self.answers_always:
            kept = narrowed(permission, patterns, always, rules)
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


def unconfigured(gate: Gate) -> Gate:
    """As where nothing is configured and no sandbox is to be had."""
    rules = effective_rules(choose(Config(), "build", careful=True), MODEL, Session(), Config())
    gate.turn = turn_in(gate.directory, gate.worktree, rules=rules)
    return gate


def ruled(gate: Gate, permission: dict[str, Any], agent: str = "build") -> Gate:
    config = Config.model_validate({"permission": permission})
    rules = effective_rules(choose(config, agent), MODEL, Session(), config)
    gate.turn = turn_in(gate.directory, gate.worktree, rules=rules)
    return gate


@pytest.mark.parametrize("group", LISTS["list"], ids=lambda group: group["name"])
async def test_lines(group: dict[str, Any], gate: Gate) -> None:
    ruled(gate, LISTS["rules"][group["rules"]], "plan" if group.get("plan") else "build")
    gate.answers_always = True
    for line in group.get("always", []):
        await verdict(gate, line)
    gate.answers_always = False
    said = {line: await verdict(gate, line) for line in group["lines"]}
    assert {line: one for line, one in said.items() if one != group["expect"]} == {}


@pytest.mark.parametrize(
    "group", [group for group in LISTS["list"] if group.get("plan")], ids=lambda it: it["name"]
)
async def test_without_a_sandbox_only_what_is_known_to_read_goes(group: dict[str, Any], gate: Gate) -> None:
    unconfigured(gate)
    said = {line: await verdict(gate, line) for line in group["lines"]}
    expected = "allow" if group["expect"] == "allow" else "ask"
    assert {line: one for line, one in said.items() if one != expected} == {}


async def test_a_command_that_was_always_allowed_is_asked_about_no_more(gate: Gate) -> None:
    unconfigured(gate)
    gate.answers_always = True
    await verdict(gate, "cargo test && ls")
    gate.answers_always = False
    assert await verdict(gate, "ls -la && cargo test --all") == "allow"
    assert await verdict(gate, "cargo publish") == "ask"
    assert await verdict(gate, "find . '#' -delete") == "ask"
    assert await verdict(gate, "cat x > y; rm x") == "ask"


@pytest.mark.parametrize("name", EVERYDAY["rules"])
async def test_everyday_lines_are_asked_about_by_no_rules_for_something_else(name: str, gate: Gate) -> None:
    ruled(gate, EVERYDAY["rules"][name])
    lines = [line for group in EVERYDAY["list"] for line in group["lines"]]
    needless = [line for line in lines if await verdict(gate, line) != "allow"]
    ruled(gate, LISTS["rules"]["denied"])
    hostile = [
        line
        for group in LISTS["list"]
        if group["rules"] == "denied" and group["expect"] == "ask"
        for line in group["lines"]
    ]
    passed = [line for line in hostile if await verdict(gate, line) == "allow"]
    counts = f"{len(needless)} of {len(lines)} everyday lines asked about, "
    counts += f"{len(passed)} of {len(hostile)} hostile ones not"
    assert not needless, f"{counts}: {needless}"
    assert not passed, f"{counts}: {passed}"
