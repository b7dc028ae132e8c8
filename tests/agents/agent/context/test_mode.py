"""The Context Source of plan mode: there while the agent plans, with the words for its end kept beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.agent.context.registry import plan_sources
from agents.agent.context.system_context import ReplacementReady, SystemContext, Unchanged, Updated
from agents.config.schema import Config
from agents.toolkit.definitions import Agent
from agents.toolkit.turn import Turn
from sessions.core.models import Project, Session
from tests.agents.tools.context import turn_in

PATH = ".opencode/plans/1700000000000-a1b2c3d4.md"


def turn(folder: Path, agent: str, **changed: Any) -> Turn:
    project = Project(id="p", worktree=str(folder), vcs="git")
    session = Session(id="ses_1", project=project, slug="a1b2c3d4", time_created=1_700_000_000_000)
    return turn_in(folder, folder, agent=Agent(agent), session=session, **changed)


async def context(turn: Turn) -> SystemContext:
    return SystemContext.combine(SystemContext.make(source) for source in await plan_sources(turn))


async def told(turn: Turn) -> Updated:
    """What a new epoch tells of the mode: nothing in its baseline, and then an update."""
    begun = await (await context(turn)).initialize()
    assert begun == ReplacementReady("", {})
    update = await (await context(turn)).reconcile({})
    assert isinstance(update, Updated)
    return update


async def test_it_comes_stays_and_goes(tmp_path: Path) -> None:
    begun = await told(turn(tmp_path, "plan"))
    assert PATH in begun.text
    for phase in ("Understanding", "Design", "Review", "Final plan", "Exit"):
        assert phase in begun.text
    assert await (await context(turn(tmp_path, "plan"))).reconcile(begun.snapshot) == Unchanged()
    ended = await (await context(turn(tmp_path, "build"))).reconcile(begun.snapshot)
    assert isinstance(ended, Updated)
    assert "from plan to build" in ended.text
    assert PATH in ended.text
    assert ended.snapshot == {}
    again = await (await context(turn(tmp_path, "plan"))).reconcile(ended.snapshot)
    assert isinstance(again, Updated)
    assert again.text == begun.text


@pytest.mark.parametrize(
    ("variable", "configured", "short"),
    [
        ("", {}, False),
        ("", {"plan_mode": "short"}, True),
        ("1", {"plan_mode": "short"}, False),
        ("false", {}, True),
    ],
)
async def test_the_short_form_by_configuration_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, configured: dict[str, Any], short: bool
) -> None:
    monkeypatch.setenv("OPENCODE_EXPERIMENTAL_PLAN_MODE", variable)
    begun = await told(turn(tmp_path, "plan", config=Config(experimental=configured)))
    assert (PATH not in begun.text) is short
    assert ("Understanding" not in begun.text) is short
