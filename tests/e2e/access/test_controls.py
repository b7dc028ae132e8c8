"""No control is lost unseen: what there is, and in which state and place of a page, stands in controls.json.
What is moved or taken away on purpose is changed there, and what is new is added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.access import (  # noqa: F401 - they fill STATES
    states,
    states_of_comparisons,
    states_of_forge,
    states_of_git,
    states_of_settings,
)
from tests.e2e.access.controls import controls
from tests.e2e.access.scan import WIDE
from tests.e2e.access.state import STATES, State
from tests.e2e.access.world import World

pytestmark = pytest.mark.e2e

LIST = Path(__file__).with_name("controls.json")
LISTED: dict[str, dict[str, list[str]]] = json.loads(LIST.read_text())
SHOWN = [state for state in STATES if state.name in LISTED]


def test_each_listed_state_is_there() -> None:
    assert {state.name for state in SHOWN} == LISTED.keys()


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("state", SHOWN, ids=lambda state: state.name)
async def test_no_control_is_lost(state: State, world: World) -> None:
    page = await state.reach(world)
    await page.set_viewport_size(WIDE)
    found = await controls(page)
    for each in {*world.context.pages, page}:
        await each.close()
    listed = {(place, name) for place, names in LISTED[state.name].items() for name in names}
    assert listed - {(place, name) for place, names in found.items() for name in names} == set()
