"""A round of each fault of machines; more of them by `python -m bench.faults`."""

from __future__ import annotations

import pytest

from bench.faults import KINDS, Round, run
from tests import cable


@pytest.mark.long
@pytest.mark.proc
async def test_turns_outlive_their_machine_s_faults() -> None:
    if reason := cable.refusal():
        pytest.skip(reason)
    told: list[Round] = []
    await run(len(KINDS), KINDS, told.append)
    assert [done for done in told if done.faults] == []
    assert {done.ended for done in told if done.kind in ("kill", "pause", "cable-8", "cable-30")} == {"gone"}
    assert {done.ended for done in told if done.kind == "cable-3"} == {"in order"}
