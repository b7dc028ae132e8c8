"""The `task` tool: whom it names, what it hands over, how the answer is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from agents.config.schema import Config
from agents.toolkit.base import Errand
from agents.toolkit.permission.rules import from_config
from agents.toolkit.turn import Turn
from agents.tools import task
from tests.agents.tools.context import DirectContext, turn_in

CONFIG = Config.model_validate(
    {
        "agent": {
            "finder": {"mode": "subagent", "description": "Finds <things>."},
            "both": {"mode": "all"},
            "first": {"mode": "primary"},
            "secret": {"mode": "subagent", "hidden": True},
            "gone": {"mode": "subagent", "disable": True},
        }
    }
)


def a_turn(**changed: object) -> Turn:
    return turn_in(Path("/p"), Path("/p"), **{"config": CONFIG, **changed})


def test_it_names_the_subagents_of_the_turn() -> None:
    told = task.describe(a_turn())
    assert "- finder: Finds <things>." in told
    assert "- both: " in told
    for name in ("first", "secret", "gone", "build"):
        assert f"- {name}:" not in told
    rules = from_config({"task": {"*": "allow", "finder": "deny"}})
    assert "finder" not in task.describe(a_turn(rules=rules))


def test_it_is_not_offered_where_nobody_could_be_sent() -> None:
    assert task.offered(a_turn())
    assert not task.offered(a_turn(rules=from_config({"task": "deny"})))
    assert not task.offered(a_turn(config=CONFIG.model_copy(update={"subagent_depth": 0})))


async def test_it_hands_the_errand_over_and_tells_the_answer(context: DirectContext) -> None:
    given = {
        "description": "find it",
        "prompt": "Where is it?",
        "subagent_type": "finder",
        "task_id": "ses_1",
    }
    result = await task.execute(task.Input.model_validate(given), context)
    assert context.errands == [Errand("finder", "find it", "Where is it?", "ses_1")]
    assert result.title == "find it"
    assert result.output == "task_id: ses_child\n\n<task_result>\nDone.\n</task_result>"


def test_an_errand_without_words_is_none() -> None:
    with pytest.raises(ValidationError):
        task.Input.model_validate({"description": "x", "prompt": "", "subagent_type": "finder"})
